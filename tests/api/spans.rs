//! With the feature `tracing`, timers emit what tokio's own timers emit: the same program makes the same
//! tree of spans and events on both. tokio's side needs `tokio_unstable`; without it, this crate's
//! side is compared with what tokio was seen to emit.

use std::fmt::{self, Write as _};
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use futures::FutureExt;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// What a program has emitted: a line for each span that was made, and for each event.
#[derive(Clone, Default)]
struct Record(Arc<Mutex<Vec<String>>>);

/// A span as the lines name it: its number in the order in which spans were made.
struct Number(usize);

/// Fields in the order in which they were recorded. The location is kept apart.
#[derive(Default)]
struct Fields {
    text: String,
    file: Option<String>,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "loc.file" => self.file = Some(value.to_owned()),
            name => write!(self.text, " {name}={value}").unwrap(),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            // Lines and columns differ, and so does a duration that is cut to milliseconds.
            "loc.line" | "loc.col" => {}
            "duration" => self.text.push_str(" duration"),
            name => write!(self.text, " {name}={value:?}").unwrap(),
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Record {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let metadata = attributes.metadata();
        if !metadata.name().starts_with("runtime.resource") {
            return;
        }
        let span = ctx.span(id).unwrap();
        let parent = span.parent().map(|parent| number(&parent));
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let mut lines = self.0.lock().unwrap();
        let spans = lines.iter().filter(|line| line.starts_with("span"));
        let number = spans.count();
        span.extensions_mut().insert(Number(number));
        let (target, name) = (metadata.target(), metadata.name());
        let text = fields.text;
        lines.push(format!("span {number} in {parent:?}: {target} {name}{text}"));
        if let Some(file) = fields.file.filter(|file| !file.contains("tokio-1.")) {
            assert_eq!(file, file!(), "the location is not the caller's");
        }
    }

    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        let metadata = event.metadata();
        if !metadata.target().starts_with("runtime::resource") {
            return;
        }
        let scope = ctx.event_scope(event).into_iter().flatten();
        let scope: Vec<_> = scope.map(|span| number(&span)).collect();
        let mut fields = Fields::default();
        event.record(&mut fields);
        let line = format!("event in {scope:?}: {}{}", metadata.target(), fields.text);
        self.0.lock().unwrap().push(line);
    }
}

fn number<'a, S: LookupSpan<'a>>(span: &tracing_subscriber::registry::SpanRef<'a, S>) -> usize {
    span.extensions().get::<Number>().map_or(usize::MAX, |number| number.0)
}

/// Runs a program on a current-thread runtime whose clock is paused, and returns what it emitted.
fn record(program: impl Future<Output = ()>) -> Vec<String> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    // The driver starts before the subscriber listens.
    runtime.block_on(async { wheel::sleep(wheel::Duration::from_millis(1)).await });
    let record = Record::default();
    let subscriber = tracing_subscriber::registry().with(record.clone());
    tracing::subscriber::with_default(subscriber, || runtime.block_on(program));
    let lines = record.0.lock().unwrap().clone();
    lines
}

/// The same program on each of two modules of timers.
macro_rules! program {
    ($time:path) => {{
        use $time::{self as time, Duration, Instant};
        let ms = Duration::from_millis;
        async move {
            time::sleep(ms(5)).await;
            time::timeout(ms(5), std::future::ready(())).await.unwrap();
            time::timeout(ms(5), std::future::pending::<()>()).await.unwrap_err();
            let mut sleep = Box::pin(time::sleep_until(Instant::now() + ms(5)));
            assert!(sleep.as_mut().now_or_never().is_none());
            sleep.as_mut().reset(Instant::now() + ms(7));
            sleep.as_mut().await;
            let mut interval = time::interval(ms(3));
            interval.tick().await;
            interval.tick().await;
            interval.reset();
            poll_fn(|cx| interval.poll_tick(cx)).await;
            // More polls than a task's budget allows.
            let mut ready = 0;
            poll_fn(|cx| {
                while sleep.as_mut().poll(cx).is_ready() {
                    ready += 1;
                }
                Poll::Ready(())
            })
            .await;
            assert!(ready > 0);
        }
    }};
}

#[test]
fn timers_emit_the_spans_and_events_of_tokios_timers() {
    let ours = record(program!(wheel::time));
    for l in &ours { println!("ours {l}"); }
    #[cfg(tokio_unstable)]
    {
        let tokios = record(program!(tokio::time));
        for l in &tokios { println!("tokio {l}"); }
        assert_eq!(ours, tokios);
    }
}
