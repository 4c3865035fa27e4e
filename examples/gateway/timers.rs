//! The two sets of timers, behind one trait so that the service is compiled once for each.

use std::future::Future;
use std::time::Duration;

use ::wheel::ext::metrics::Reporter;
use axum::Router;
use axum::http::StatusCode;

/// The clock is tokio's on both sides, so instants need no abstraction.
pub(crate) use tokio::time::Instant;

/// What the service uses of a timer library.
pub(crate) trait Timers: 'static {
    /// What the table calls this side.
    const NAME: &'static str;

    /// For hyper's servers, and for the pool of its client.
    type Hyper: hyper::rt::Timer + Clone + Default + Send + Sync + 'static;
    type Elapsed: Send;

    fn sleep(delay: Duration) -> impl Future<Output = ()> + Send;

    fn timeout<F>(
        limit: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send
    where
        F: Future + Send;

    /// What publishes the timers' own counts; tokio's have none.
    fn reporter() -> Option<Reporter>;

    /// Answers requests that take longer than that with 504.
    fn limit(routes: Router, limit: Duration) -> Router;
}

/// One text for both sides: what differs is what the names stand for.
macro_rules! timers {
    ($side:ident, $name:literal, $time:path, $hyper:path, $layer:path, $reporter:expr) => {
        #[derive(Debug)]
        pub(crate) enum $side {}

        const _: () = {
            use $hyper as HyperTimer;
            use $layer as TimeoutLayer;
            use $time as time;

            impl Timers for $side {
                const NAME: &'static str = $name;

                type Hyper = HyperTimer;
                type Elapsed = time::error::Elapsed;

                fn sleep(delay: Duration) -> impl Future<Output = ()> + Send {
                    time::sleep(delay)
                }

                fn timeout<F>(
                    limit: Duration,
                    future: F,
                ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send
                where
                    F: Future + Send,
                {
                    time::timeout(limit, future)
                }

                fn reporter() -> Option<Reporter> {
                    $reporter
                }

                fn limit(routes: Router, limit: Duration) -> Router {
                    let status = StatusCode::GATEWAY_TIMEOUT;
                    routes.layer(TimeoutLayer::with_status_code(status, limit))
                }
            }
        };
    };
}

timers!(
    Tokio,
    "tokio::time",
    tokio::time,
    hyper_util::rt::TokioTimer,
    tower_http::timeout::TimeoutLayer,
    None
);
timers!(
    Wheel,
    "wheel",
    ::wheel,
    ::wheel::ext::hyper::WheelTimer,
    ::wheel::ext::tower::TimeoutLayer,
    Some(Reporter::new(::wheel::metrics()).label("timers", Wheel::NAME))
);
