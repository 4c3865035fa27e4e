//! A driver with a tick of its own, beside the default driver, as programs compare both.

use support::prelude::*;

use support::time::{Time, by_handle};

/// The tick.
pub(crate) const COARSE: Duration = Duration::from_millis(7);

/// The driver. On tokio's side its rule only: deadlines are rounded up.
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

    /// Timers that the function makes belong to this driver.
    pub(crate) fn make<R>(&self, make: impl FnOnce() -> R) -> R {
        MADE_BY.set(Some(self.clone()));
        let made = by_handle::with(&self.wheel, make);
        MADE_BY.set(None);
        made
    }

    /// The driver whose timers are being made, if not the default driver.
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
