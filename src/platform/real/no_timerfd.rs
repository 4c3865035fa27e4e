//! Without the feature `high-resolution`, and on systems other than Linux, there is no timerfd. The type
//! then has no values, so code that would use one compiles to nothing.

use std::task::Waker;

use tokio::time::Instant;

use crate::build_error::BuildError;

pub(crate) enum Descriptor {}

impl Descriptor {
    pub(crate) fn open() -> Result<Self, BuildError> {
        Err(BuildError::NoHighResolution)
    }

    pub(crate) fn set(&mut self, _: Instant, _: &Waker) -> bool {
        match *self {}
    }
}
