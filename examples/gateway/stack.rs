//! What the service's stack, hyper and tower, takes of each side's timers.

use std::time::Duration;

use ::timers::Timers;
use axum::Router;
use axum::http::StatusCode;
use wheel::ext::hyper::WheelTimer;

pub use ::timers::{Tokio, Wheel};

const TOO_LATE: StatusCode = StatusCode::GATEWAY_TIMEOUT;

/// Timers that hyper and tower know, too.
pub trait Stack: Timers {
    /// For hyper's servers, and for the pool of its client.
    type Hyper: hyper::rt::Timer + Clone + Default + Send + Sync + 'static;

    /// Answers requests that take longer than that with 504.
    fn limit(routes: Router, limit: Duration) -> Router;
}

impl Stack for Tokio {
    type Hyper = hyper_util::rt::TokioTimer;

    fn limit(routes: Router, limit: Duration) -> Router {
        use tower_http::timeout::TimeoutLayer;
        routes.layer(TimeoutLayer::with_status_code(TOO_LATE, limit))
    }
}

impl Stack for Wheel {
    type Hyper = WheelTimer;

    fn limit(routes: Router, limit: Duration) -> Router {
        use wheel::ext::tower::TimeoutLayer;
        routes.layer(TimeoutLayer::with_status_code(TOO_LATE, limit))
    }
}
