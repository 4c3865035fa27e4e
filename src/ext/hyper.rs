//! hyper's timers from the wheel: [`WheelTimer`].
//!
//! hyper has no timers of its own, and takes them from its builder's `timer`:
//! for a server's `header_read_timeout`, once per request and counted from the end of the request
//! before, so that it also ends idle connections; for HTTP/2's
//! `keep_alive_interval`, once per connection and reset from then on; and, in
//! hyper-util's client, for the `pool_idle_timeout`. Without a timer they do
//! nothing, or panic. `axum::serve` sets none, so that a client which sends half
//! a head holds its connection for ever; the example serves a router with a
//! timer.
//!
//! hyper-util's `auto::Builder` reads the first bytes of a connection under no
//! timer, to tell HTTP/1 from HTTP/2. Against clients that send nothing at all,
//! name the version: `http1_only` or `http2_only`.
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
//! An axum router whose connections have five seconds for a request's head:
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

use crate::handle::Wheel;

/// hyper's `Timer` on the driver of the current runtime.
///
/// Takes the place of hyper-util's `TokioTimer`. `now` is tokio's clock, so
/// paused clocks hold for hyper too.
///
/// [`Wheel`] is a `Timer` as well: put a handle there for a driver of your own,
/// say with a coarse [`tick`](crate::Builder::tick) for idle connections.
///
/// # Panics
///
/// As [`sleep`](crate::sleep()): hyper makes timers in the task that serves the
/// connection, so that has to be a task of a Tokio runtime with time enabled.
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
/// `TokioTimer` ignores the `reset` of a `Sleep` that another timer has made.
/// `WheelTimer` replaces the `Sleep` by its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct WheelTimer;

impl WheelTimer {
    /// The same as `WheelTimer`; hyper-util's `TokioTimer` is made so.
    ///
    /// ```
    /// hyper::server::conn::http1::Builder::new().timer(wheel::ext::hyper::WheelTimer::new());
    /// ```
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

    fn now(&self) -> Instant {
        now()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        reset(self, sleep, deadline);
    }
}

impl Timer for Wheel {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Wheel::sleep(self, duration))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Wheel::sleep_until(self, deadline.into()))
    }

    fn now(&self) -> Instant {
        now()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        reset(self, sleep, deadline);
    }
}

impl Sleep for crate::Sleep {}

/// tokio's clock, which `pause` stops, and not std's.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// In place where the `Sleep` is ours: its waker stays, and nothing is allocated.
fn reset(timer: &impl Timer, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
    match sleep.as_mut().downcast_mut_pin::<crate::Sleep>() {
        Some(ours) => ours.reset(deadline.into()),
        None => *sleep = timer.sleep_until(deadline),
    }
}

/// The bounds of builders and pools.
const _: () = {
    const fn shared<T: Timer + Clone + Send + Sync + 'static>() {}
    shared::<WheelTimer>();
    shared::<Wheel>();
};
