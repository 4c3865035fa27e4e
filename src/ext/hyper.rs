//! [`WheelTimer`]: timers for hyper and hyper-util.
//!
//! hyper has no timers of its own. It uses the one that is passed to its builder's `timer` method,
//! for these settings:
//!
//! * `header_read_timeout` of a server arms a timer once per request. The time counts from the end
//!   of the previous request, so the timeout closes idle connections, too.
//! * `keep_alive_interval` of HTTP/2 arms a timer once per connection, and then resets it.
//! * `pool_idle_timeout` of hyper-util's client closes idle connections of the pool. Its timer is
//!   passed to the method `pool_timer`.
//!
//! Without a timer, these settings have no effect, or hyper panics. `serve` of axum 0.8 sets no
//! timer, so a client that sends only half of a request's head can keep its connection open
//! forever. The example below serves an axum router with a timer.
//!
//! hyper-util's `auto::Builder` reads the first bytes of a connection to tell HTTP/1 from HTTP/2, and
//! no timeout limits that. To defend against clients that send nothing at all, choose the version with
//! `http1_only` or `http2_only`.
//!
//! ```toml
//! [dependencies]
//! axum = { version = "0.8", default-features = false, features = ["http1", "tokio"] }
//! hyper-util = { version = "0.1.20", features = ["http1", "server-auto", "service", "tokio"] }
//! tokio = { version = "1.54", features = ["macros", "net", "rt-multi-thread"] }
//! tokio-wheel = { path = "../tokio-wheel", features = ["hyper"] } # a clone beside this package
//! ```
//!
//! # Examples
//!
//! An axum router that closes a connection if a request's head does not arrive within five seconds:
//!
//! ```no_run
//! use axum::Router;
//! use axum::routing::get;
//! use hyper_util::rt::{TokioExecutor, TokioIo};
//! use hyper_util::server::conn::auto::Builder;
//! use hyper_util::service::TowerToHyperService;
//! use wheel::{Duration, ext::hyper::WheelTimer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let app = Router::new().route("/", get(async || "hello"));
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! let mut server = Builder::new(TokioExecutor::new()).http1_only();
//! server
//!     .http1()
//!     .timer(WheelTimer)
//!     .header_read_timeout(Duration::from_secs(5));
//!
//! loop {
//!     let (socket, _) = listener.accept().await?;
//!     let (server, app) = (server.clone(), TowerToHyperService::new(app.clone()));
//!     tokio::spawn(async move {
//!         if let Err(error) = server.serve_connection(TokioIo::new(socket), app).await {
//!             eprintln!("connection: {error}");
//!         }
//!     });
//! }
//! # }
//! ```

use std::pin::Pin;
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

use crate::handle::Handle;

/// A hyper [`Timer`] that uses the current runtime's driver.
///
/// Use it in place of hyper-util's `TokioTimer`. Its `now` reads Tokio's clock, so hyper follows a
/// paused clock, too.
///
/// A [`Handle`] is a `Timer` as well. Pass one to use a custom driver, for example a driver with
/// a coarse [`tick`](crate::Builder::tick) for the timeouts of idle connections.
///
/// # Panics
///
/// Panics under the same conditions as [`sleep`](crate::sleep()). hyper makes its timers in the task
/// that serves the connection, so this must be a task of a Tokio runtime with time enabled.
///
/// # Examples
///
/// ```
/// use hyper::server::conn::http1;
/// use wheel::{Duration, ext::hyper::WheelTimer};
///
/// let mut server = http1::Builder::new();
/// server.timer(WheelTimer).header_read_timeout(Duration::from_secs(5));
/// ```
///
/// # Differences from hyper-util
///
/// If `reset` gets a `Sleep` that another `Timer` has made, `TokioTimer` ignores the call, whereas
/// `WheelTimer` replaces that `Sleep` with one of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct WheelTimer;

impl WheelTimer {
    /// Returns a `WheelTimer`.
    ///
    /// You can also write `WheelTimer`. hyper-util's `TokioTimer` has the same function.
    pub const fn new() -> Self {
        WheelTimer
    }
}

impl Timer for WheelTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(crate::sleep(duration))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(crate::sleep_until(deadline.into()))
    }

    /// Reads Tokio's clock, which `pause` stops, instead of the standard library's.
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        reset(self, sleep, deadline);
    }
}

impl Timer for Handle {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Handle::sleep(self, duration))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Handle::sleep_until(self, deadline.into()))
    }

    fn now(&self) -> Instant {
        WheelTimer.now()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        reset(self, sleep, deadline);
    }
}

impl Sleep for crate::Sleep {}

/// Resets a `Sleep` of this crate in place, which keeps its waker and allocates nothing. Replaces any
/// other `Sleep`.
fn reset(timer: &impl Timer, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
    match sleep.as_mut().downcast_mut_pin::<crate::Sleep>() {
        Some(ours) => ours.reset(deadline.into()),
        None => *sleep = timer.sleep_until(deadline),
    }
}
