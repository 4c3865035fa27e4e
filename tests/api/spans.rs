//! With the feature `tracing`, timers emit what Tokio's own timers emit: the same program produces the same tree of spans
//! and events on both. Tokio emits them only with `tokio_unstable`. Without it, the test compares this crate's spans with
//! those that Tokio emitted when `spans.txt` was written.

use std::fmt::{self, Write as _};
use std::future::{pending, poll_fn, ready};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use futures::FutureExt;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// What a program has emitted: a line for each new span, and for each event.
#[derive(Clone, Default)]
struct Record(Arc<Mutex<Vec<String>>>);

/// A span's name in the lines: its number, in the order in which spans were made.
struct Number(usize);

/// Fields in the order in which they were recorded. The location is separate.
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
            // Lines and columns differ, and so does a duration, which is truncated to milliseconds.
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
        lines.push(format!(
            "span {number} in {parent:?}: {target} {name}{text}"
        ));
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
    span.extensions()
        .get::<Number>()
        .map_or(usize::MAX, |number| number.0)
}

/// Runs a program on a current-thread runtime whose clock is paused, and returns what it emitted.
fn record(program: impl Future<Output = ()>) -> Vec<String> {
    let runtime = support::paused();
    // The driver starts before the subscriber listens.
    runtime.block_on(async { wheel::sleep(wheel::Duration::from_millis(1)).await });
    let record = Record::default();
    let subscriber = tracing_subscriber::registry().with(record.clone());
    tracing::subscriber::with_default(subscriber, || runtime.block_on(program));
    record.0.lock().unwrap().clone()
}

/// The program, on one of two modules of timers.
macro_rules! program {
    ($time:path) => {{
        use $time::{self as time, Duration, Instant};
        let ms = Duration::from_millis;
        async move {
            time::sleep(ms(5)).await;
            time::timeout(ms(5), ready(())).await.unwrap();
            time::timeout(ms(5), pending::<()>()).await.unwrap_err();
            let mut sleep = Box::pin(time::sleep_until(Instant::now() + ms(5)));
            assert!(sleep.as_mut().now_or_never().is_none());
            sleep.as_mut().reset(Instant::now() + ms(7));
            sleep.as_mut().await;
            let mut interval = time::interval(ms(3));
            interval.tick().await;
            interval.tick().await;
            interval.reset();
            poll_fn(|cx| interval.poll_tick(cx)).await;
            // Poll until the task's budget is exhausted.
            poll_fn(|cx| {
                while sleep.as_mut().poll(cx).is_ready() {}
                Poll::Ready(())
            })
            .await;
        }
    }};
}

/// What Tokio emitted for the program when this list was made. With `tokio_unstable`, the test compares it with Tokio
/// again.
const TREE: &str = include_str!("spans.txt");

/// This runs in a process of its own, because `tracing` may decide that nobody listens to an event if another test emits it
/// while the subscriber is being installed.
#[test]
fn timers_emit_the_spans_and_events_of_tokios_timers() {
    support::in_a_process_of_its_own(|| {
        #[cfg(tokio_unstable)]
        same_lines(&record(program!(tokio::time)), TREE);
        same_lines(&record(program!(wheel::time)), TREE);
    });
}

#[track_caller]
fn same_lines(lines: &[String], expected: &str) {
    // The polls that use up the budget emit the same lines.
    let lines: Vec<_> = lines.chunk_by(|a, b| a == b).map(|same| &same[0]).collect();
    for (number, (line, expected)) in lines.iter().zip(expected.lines()).enumerate() {
        assert_eq!(*line, expected, "line {}", number + 1);
    }
    assert_eq!(lines.len(), expected.lines().count());
}

/// Arms a timer whenever a program emits an event of its own.
struct ArmsTimers;

impl<S: Subscriber> Layer<S> for ArmsTimers {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "program" {
            let slept = wheel::sleep(wheel::Duration::from_secs(1)).now_or_never();
            assert!(slept.is_none());
        }
    }
}

/// `tracing` panics if a library sets another subscriber while a scoped one handles an event.
#[test]
fn a_scoped_subscriber_may_use_timers() {
    let runtime = support::current_thread();
    let subscriber = tracing_subscriber::registry().with(ArmsTimers);
    tracing::subscriber::with_default(subscriber, || {
        let program = async { tracing::info!(target: "program", "starts the driver") };
        runtime.block_on(program);
    });
}
