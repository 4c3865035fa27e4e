//! Elsewhere than on Linux, and without the feature, there is no timerfd: the type has no value, and
//! code that would use a value is compiled to nothing.

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
