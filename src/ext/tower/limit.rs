//! [`By`]: a timeout that depends on the request.

use std::fmt;
use std::time::Duration;

/// Marks a [`Timeout`](super::Timeout) or a [`TimeoutLayer`](super::TimeoutLayer) whose timeout is
/// computed from each request, by the function `F`.
///
/// [`TimeoutLayer::by`](super::TimeoutLayer::by) and
/// [`TimeoutLayer::with_status_code_by`](super::TimeoutLayer::with_status_code_by) make it.
#[derive(Clone, Copy)]
pub struct By<F>(pub(super) F);

/// Functions cannot be printed.
impl<F> fmt::Debug for By<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("By(..)")
    }
}

/// A timeout for requests. The trait cannot be named outside of this crate.
pub trait Limit<Request> {
    /// Returns the timeout for a request. [`Duration::MAX`] never elapses, and uses no timer.
    fn of(&self, request: &Request) -> Duration;
}

impl<Request> Limit<Request> for Duration {
    fn of(&self, _: &Request) -> Duration {
        *self
    }
}

impl<Request, F: Fn(&Request) -> Option<Duration>> Limit<Request> for By<F> {
    fn of(&self, request: &Request) -> Duration {
        self.0(request).unwrap_or(Duration::MAX)
    }
}
