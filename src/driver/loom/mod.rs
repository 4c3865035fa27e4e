//! The races of a driver, in every order that they can happen in.
//!
//! Driver, shards, plan, alarm, timers and turns are the real ones; tokio's
//! interval and clock are `fake.rs`. A model sets something up, lets two threads
//! (seldom three) race, then lets the [`Model`]'s runtime do what it would do by
//! itself, and no more, until nothing is armed. Lost wake-ups show there.
pub(crate) mod fake;
pub(crate) mod lock;
mod model;

mod alarm;
mod fire;
mod mail;
mod plan;
mod shutdown;

use self::model::{Armed, Model, check};
