//! A driver with a configured tick beside the default driver. Programs use the timers of both.

use support::prelude::*;

use support::time::{Time, by_handle};

/// The tick of that driver.
pub(crate) const COARSE: Duration = Duration::from_millis(7);

/// The driver. In a run with Tokio's timers there is only its rule: deadlines are rounded up.
#[derive(Clone)]
pub(crate) struct Coarse {
    since: Instant,
    pub(crate) wheel: Option<wheel::Handle>,
}

thread_local! {
    static MADE_BY: RefCell<Option<Coarse>> = const { RefCell::new(None) };
}

impl Coarse {
    pub(crate) fn new<T: Time>() -> Self {
        let build = || wheel::Builder::new().tick(COARSE).build().unwrap();
        Coarse {
            since: Instant::now(),
            wheel: T::OURS.then(build),
        }
    }

    /// Calls a function whose timers belong to this driver.
    pub(crate) fn make<R>(&self, make: impl FnOnce() -> R) -> R {
        MADE_BY.set(Some(self.clone()));
        let made = by_handle::with(&self.wheel, make);
        MADE_BY.set(None);
        made
    }

    /// Returns the driver whose timers are being made, unless it is the default driver.
    pub(crate) fn current() -> Option<Coarse> {
        MADE_BY.with_borrow(Option::clone)
    }

    pub(crate) fn rounded_up(&self, deadline: Instant) -> Instant {
        let Some(since) = deadline.checked_duration_since(self.since) else {
            return deadline;
        };
        let rounded = since.as_nanos().div_ceil(COARSE.as_nanos()) * COARSE.as_nanos();
        self.since + Duration::from_nanos(rounded as u64)
    }
}
