//! Spans and events of timers for tokio-console, with the feature `tracing`.
//!
//! If tokio is built with `tokio_unstable`, its timers emit spans and events to a `tracing` subscriber.
//! This module emits the same ones, with the same names, targets and fields, so that
//! console-subscriber's view of timers works unchanged:
//!
//! | when | spans or events |
//! | --- | --- |
//! | a `Sleep` or an `Interval` is made | span `runtime.resource`, with the caller's location |
//! | a `Sleep` is made or reset, `tick` is called | spans `runtime.resource.async_op` and `runtime.resource.async_op.poll` |
//! | a `Sleep` is registered or reset | event `runtime::resource::state_update`, with the duration |
//! | a `Sleep` or a tick is polled | events `runtime::resource::poll_op` |
//!
//! Spans live in a box, which is allocated only if a subscriber wants them. Without the feature, each
//! type here is empty and each function does nothing.

#![cfg_attr(wheel_counts, allow(dead_code))]

#[cfg(not(feature = "tracing"))]
use off as chosen;
#[cfg(feature = "tracing")]
use on as chosen;

pub(crate) use chosen::{Resource, unseen};

#[cfg(not(wheel_counts))]
pub(crate) use chosen::{Operation, spawn};

// Private to `cargo wheel`: the build script of its copy of this crate sets `wheel_counts`.
#[cfg(wheel_counts)]
mod counts;
#[cfg(wheel_counts)]
pub(crate) use counts::{Operation, spawn};

#[cfg(feature = "tracing")]
mod on {
    use std::panic::Location;
    use std::task::Poll;

    use tokio::task::coop;
    use tracing::dispatcher::{DefaultGuard, Dispatch, get_default, set_default};
    use tracing::level_filters::LevelFilter;
    use tracing::span::Entered;
    use tracing::subscriber::NoSubscriber;
    use tracing::{Span, trace, trace_span};

    use crate::clock::Tick;
    use crate::platform::runtime::Handle;

    /// The resource of an `Interval`, whose operations are the calls of `tick`.
    #[derive(Debug)]
    pub(crate) struct Resource(Span);

    /// The last operation on a resource: making or resetting a `Sleep`, or a call of `tick`.
    #[derive(Debug)]
    pub(crate) struct Operation(Option<Box<Spans>>);

    #[derive(Debug)]
    struct Spans {
        resource: Span,
        operation: Span,
        poll: Span,
    }

    /// A poll whose spans have been entered.
    pub(crate) struct Polling<'a>(Option<(bool, [Entered<'a>; 3])>);

    macro_rules! resource_span {
        ($target:literal, $type:literal) => {{
            let location = Location::caller();
            trace_span!(
                target: $target,
                parent: None,
                "runtime.resource",
                concrete_type = $type,
                kind = "timer",
                loc.file = location.file(),
                loc.line = location.line(),
                loc.col = location.column(),
            )
        }};
    }

    macro_rules! poll_span {
        ($target:literal, $operation:expr) => {
            trace_span!(target: $target, parent: &$operation, "runtime.resource.async_op.poll")
        };
    }

    /// Creates the spans of an operation on a `Sleep`'s resource, and of the operation's polls.
    fn sleep_spans(resource: &Span, source: &str) -> (Span, Span) {
        let operation = trace_span!(
            target: "tokio::time::sleep",
            parent: resource,
            "runtime.resource.async_op",
            source,
        );
        let poll = poll_span!("tokio::time::sleep", operation);
        (operation, poll)
    }

    impl Resource {
        #[track_caller]
        pub(crate) fn interval() -> Self {
            Resource(resource_span!("tokio::time::interval", "Interval"))
        }

        /// Begins a call of `tick`.
        pub(crate) fn tick(&self) -> Operation {
            Operation::on(&self.0, |resource| {
                let operation = trace_span!(
                    target: "tokio::util::trace",
                    parent: resource,
                    "runtime.resource.async_op",
                    source = "Interval::tick",
                    inherits_child_attrs = false,
                );
                let poll = poll_span!("tokio::util::trace", operation);
                (operation, poll)
            })
        }
    }

    impl Operation {
        /// Creates the resource of a new `Sleep`, and begins its first operation.
        #[track_caller]
        pub(crate) fn new_sleep() -> Self {
            let resource = resource_span!("tokio::time::sleep", "Sleep");
            Operation::on(&resource, |resource| {
                sleep_spans(resource, "Sleep::new_timeout")
            })
        }

        /// Begins an operation on a resource. Allocates nothing if no subscriber wants the resource.
        fn on(resource: &Span, begin: impl FnOnce(&Span) -> (Span, Span)) -> Self {
            if resource.is_disabled() {
                return Operation(None);
            }
            let (operation, poll) = begin(resource);
            Operation(Some(Box::new(Spans {
                resource: resource.clone(),
                operation,
                poll,
            })))
        }

        /// Begins another operation on the same resource: a `Sleep` is reset to `deadline`.
        #[inline]
        pub(crate) fn reset(&mut self, deadline: Tick) {
            if let Some(spans) = &mut self.0 {
                spans.reset(deadline);
            }
        }

        /// Enters the spans of a poll of a `Sleep`, which is about to be registered for `deadline`
        /// if there is one. A poll within the task's budget reports first whether there is a budget.
        #[inline]
        pub(crate) fn poll(&self, in_budget: bool, deadline: Option<Tick>) -> Polling<'_> {
            let spans = self.0.as_ref();
            Polling(spans.map(|spans| spans.begin(in_budget, deadline)))
        }

        /// Polls a call of `tick`.
        pub(crate) fn poll_tick<T>(&self, poll: impl FnOnce() -> Poll<T>) -> Poll<T> {
            let _entered = self.0.as_ref().map(|spans| spans.enter());
            let polled = poll();
            if self.0.is_some() {
                note_poll("poll_tick", polled.is_ready());
            }
            polled
        }
    }

    impl Spans {
        fn enter(&self) -> [Entered<'_>; 3] {
            [
                self.resource.enter(),
                self.operation.enter(),
                self.poll.enter(),
            ]
        }

        #[cold]
        fn reset(&mut self, deadline: Tick) {
            (self.operation, self.poll) = sleep_spans(&self.resource, "Sleep::reset");
            let _resource = self.resource.enter();
            let _operation = self.operation.enter();
            note_deadline(deadline);
        }

        #[cold]
        fn begin(&self, in_budget: bool, deadline: Option<Tick>) -> (bool, [Entered<'_>; 3]) {
            let entered = self.enter();
            let may_proceed = !in_budget || coop::has_budget_remaining();
            note_poll("poll_elapsed", may_proceed);
            if let Some(deadline) = deadline.filter(|_| may_proceed) {
                note_deadline(deadline);
            }
            (may_proceed, entered)
        }
    }

    impl Polling<'_> {
        /// Emits the result of the poll. Emits nothing if there was no budget, because tokio's timer is not
        /// polled then.
        #[inline]
        pub(crate) fn end(self, polled: Poll<()>) -> Poll<()> {
            if let Polling(Some((true, _entered))) = &self {
                note_poll("poll_elapsed", polled.is_ready());
            }
            polled
        }
    }

    /// Hides what this thread does from the subscriber, until the guard is dropped.
    ///
    /// A driver holds a mutex while it arms a timer of tokio's. The spans of that timer are of no use to
    /// the user, and a subscriber that uses timers itself would deadlock. Inside a scoped subscriber,
    /// `tracing` hides everything already, and would panic in `set_default`. Without `tokio_unstable`,
    /// tokio's timers emit nothing.
    pub(crate) fn unseen() -> Option<DefaultGuard> {
        let is_watched = cfg!(tokio_unstable)
            && LevelFilter::current() == LevelFilter::TRACE
            && get_default(|subscriber| !subscriber.is::<NoSubscriber>());
        is_watched.then(|| set_default(&Dispatch::none()))
    }

    /// Spawns the driver task, under a name if tokio can give it one.
    #[track_caller]
    pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static, handle: &Handle) {
        #[cfg(tokio_unstable)]
        {
            let named = tokio::task::Builder::new().name("tokio-wheel driver");
            drop(named.spawn_on(task, handle));
        }
        #[cfg(not(tokio_unstable))]
        handle.spawn(task);
    }

    #[cold]
    fn note_poll(name: &'static str, is_ready: bool) {
        trace!(target: "runtime::resource::poll_op", op_name = name, is_ready);
    }

    fn note_deadline(deadline: Tick) {
        let duration = deadline.saturating_since(Tick::now());
        trace!(
            target: "runtime::resource::state_update",
            duration = u64::try_from(duration.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX),
            duration.unit = "ms",
            duration.op = "override",
        );
    }
}

#[cfg(not(feature = "tracing"))]
mod off {
    use std::task::Poll;

    use crate::clock::Tick;
    use crate::platform::runtime::Handle;

    #[derive(Debug)]
    pub(crate) struct Resource;

    #[derive(Debug)]
    pub(crate) struct Operation;

    pub(crate) struct Polling;

    pub(crate) struct Unseen;

    impl Resource {
        #[inline]
        pub(crate) fn interval() -> Self {
            Resource
        }

        #[inline]
        pub(crate) fn tick(&self) -> Operation {
            Operation
        }
    }

    impl Operation {
        #[inline]
        pub(crate) fn new_sleep() -> Self {
            Operation
        }

        #[inline]
        pub(crate) fn reset(&mut self, _deadline: Tick) {}

        #[inline]
        pub(crate) fn poll(&self, _in_budget: bool, _deadline: Option<Tick>) -> Polling {
            Polling
        }

        #[inline]
        pub(crate) fn poll_tick<T>(&self, poll: impl FnOnce() -> Poll<T>) -> Poll<T> {
            poll()
        }
    }

    impl Polling {
        #[inline]
        pub(crate) fn end(self, polled: Poll<()>) -> Poll<()> {
            polled
        }
    }

    pub(crate) fn unseen() -> Unseen {
        Unseen
    }

    #[track_caller]
    pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static, handle: &Handle) {
        handle.spawn(task);
    }
}
