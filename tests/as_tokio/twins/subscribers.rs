//! Subscribers of Tokio's own spans (`tokio_unstable` and tokio's feature `tracing`). They are user code, which Tokio
//! calls in the middle of its timers' operations.

use super::prelude::*;

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

trait Act: Fn() + Send + Sync + 'static {}

impl<F: Fn() + Send + Sync + 'static> Act for F {}

/// A subscriber that calls a function when a Tokio timer reports its deadline, and another when a span is closed.
struct Listener<D, C>(D, C);

/// Installs the subscriber for all threads of this process, which runs one body.
fn listen(on_deadline: impl Act, on_close: impl Act) {
    let listener = Listener(on_deadline, on_close);
    tracing::subscriber::set_global_default(listener).unwrap();
}

impl<D: Act, C: Act> Subscriber for Listener<D, C> {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        if event.metadata().target() == "runtime::resource::state_update" {
            (self.0)();
        }
    }

    fn try_close(&self, _: Id) -> bool {
        (self.1)();
        true
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The task in which the subscriber panics may end. All later timers fire.
#[test]
fn a_subscriber_that_panics_once_stops_no_other_timer() {
    fn body<T: Time>(kind: Kind) {
        let runtime = kind.build();
        runtime.block_on(async { T::sleep(ms(2)).await });
        let armed = Arc::new(AtomicBool::new(false));
        let fuse = armed.clone();
        let act = move || assert!(!fuse.swap(false, Ordering::SeqCst), "by a subscriber");
        listen(act, || ());
        runtime.block_on(async {
            armed.store(true, Ordering::SeqCst);
            let _panics = joined(tokio::spawn(async { T::sleep(ms(5)).await })).await;
            armed.store(false, Ordering::SeqCst);
            for task in (0..10).map(|_| tokio::spawn(async { T::sleep(ms(5)).await })) {
                task.await.unwrap();
            }
        });
    }
    let finished = |_, theirs: &Outcome, ours: &Outcome| {
        theirs.end == "finished: ()" && ours.end == theirs.end
    };
    compare(KINDS, body::<Tokio>, body::<Ours>, finished);
}

/// Without this crate's feature `tracing`, the subscriber would be called under the alarm's mutex.
#[cfg(feature = "tracing")]
#[test]
fn a_subscriber_may_use_timers() {
    thread_local! {
        static IS_INSIDE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    }

    fn body<T: Time>((kind, after): (Kind, u64)) {
        let act = move || {
            if !IS_INSIDE.replace(true) {
                let _ = poll_quietly(&mut T::boxed(ms(after)));
                IS_INSIDE.set(false);
            }
        };
        listen(act, || ());
        kind.build().block_on(async {
            for after in [0, 1, 5] {
                T::sleep(ms(after)).await;
            }
        });
    }
    same(cross(KINDS, [0, 5]), body::<Tokio>, body::<Ours>);
}

/// A driver closes its spans when its runtime ends. Even if the subscriber panics then, the driver wakes all timers.
#[test]
fn a_subscriber_that_panics_while_a_runtime_ends_leaves_no_timer_asleep() {
    fn body<T: Time>(kind: Kind) -> usize {
        let runtime = kind.build();
        let (waker, count) = new_count_waker();
        let timers = [(); 3].map(|()| inside(runtime.handle(), || T::boxed(HOUR)));
        let timers = timers.map(|timer| armed_with(timer, &waker));
        // The subscriber panics only once, because a second panic while the first unwinds would abort the process.
        let fuse = AtomicBool::new(true);
        let act = move || assert!(!fuse.swap(false, Ordering::SeqCst), "by a subscriber");
        listen(|| (), act);
        let _ = catch_unwind(AssertUnwindSafe(|| drop(runtime)));
        let woken = count.get();
        // Dropping the timers would close their own spans, and so call the subscriber again.
        std::mem::forget(timers);
        woken
    }
    let all_woken =
        |_, theirs: &Outcome, ours: &Outcome| theirs.end == "finished: 3" && ours.end == theirs.end;
    compare(KINDS, body::<Tokio>, body::<Ours>, all_woken);
}
