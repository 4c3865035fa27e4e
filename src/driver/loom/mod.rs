//! The races of a driver, in every order that they can happen in.
//!
//! Driver, shards, alarm, timers and passes are real; tokio's interval and clock, and the kernel's
//! timer, are `platform/model/fake.rs`. A model sets something up, lets two threads race, then lets the
//! [`Model`]'s runtime run by itself, with nothing else to do, until nothing is armed. Lost wake-ups
//! show there. Entries freed twice panic in the wheel. Stale keys hit a neighbour, which is then late
//! or gone.
//!
//! Run all with `.ci/run loom`, a single model with
//! `RUSTFLAGS="--cfg loom" cargo test --release --lib loom_arm_and_arm`.
//!
//! # Seen to fail
//!
//! A change that breaks the code, and a model or test that fails then, often among others. Each row
//! was tried on 2026-11-25 at commit b4ff21c:
//!
//! | in | change | fails |
//! | --- | --- | --- |
//! | `alarm/mod.rs` | `settle` returns without looking at the shards again | `loom_reset_to_earlier_while_the_driver_plans` |
//! | `alarm/mod.rs` | `note_fired` records nothing | `loom_an_early_alarm_and_rearm` |
//! | `alarm/mod.rs` | `rearm` does not take the record | `loom_an_early_alarm_and_rearm` |
//! | `alarm/mod.rs` | `note_fired` does not look at `ARMING` | `loom_drop_and_arm_where_the_clock_may_be_paused`, `loom_the_alarm_fires_while_it_is_armed` |
//! | `alarm/mod.rs` | `is_early` allows no early wake-up of a timerfd | `loom_an_old_wakeup_of_the_descriptor_does_not_disarm_it` |
//! | `alarm/interval.rs` | `forget_all` leaves `armed` | `loom_tokio_fires_and_the_descriptor_is_set`, `loom_precise_arm_and_arm` |
//! | `alarm/interval.rs` | `forget_timerfd` leaves `set_to` | `loom_an_old_wakeup_of_the_descriptor_does_not_disarm_it` |
//! | `lifecycle.rs` | `rearm` requests no pass if the interval has fired immediately | `loom_the_alarm_fires_while_it_is_armed` |
//! | `lifecycle.rs` | `close` leaves the alarm | `loom_insert_and_shutdown`, `loom_reset_and_shutdown` |
//! | `lifecycle.rs` | `close` drops the wakers that are pending | `loom_reset_and_shutdown` |
//! | `lifecycle.rs` | `retract` does not re-arm | `loom_drop_and_arm_where_the_clock_may_be_paused` |
//! | `pass.rs` | an early alarm requests no pass | `loom_an_early_alarm_and_rearm` |
//! | `pass.rs` | `run_pass` does not re-arm | `loom_a_late_alarm_and_rearm` |
//! | `timer/changes.rs` | `ensure_alarm` does not re-arm | `loom_arm_and_arm_on_one_shard`, `loom_arm_and_arm` |
//! | `timer/changes.rs` | `arm` calls `ensure_alarm` only for a shard's earliest deadline | `loom_arm_behind_a_thread_that_has_not_set_the_alarm` |
//! | `timer/changes.rs` | `fast_path_from` is read before `arm` has the entry, and not after | `loom_a_late_alarm_and_rearm` |
//! | `timer/changes.rs` | `unregister` does not retract | `loom_poll_with_another_waker_and_drop_where_the_clock_may_be_paused`, `loom_cache_and_arm_where_the_clock_may_be_paused` |
//! | `shard.rs` | `check` reads the clock after the generation | `loom_a_relic_is_not_elapsed_by_the_clock_of_the_next_driver` |
//! | `shard.rs` | `check` does not compare generations | `loom_a_relic_is_dropped_while_the_next_driver_opens` |
//! | `shard.rs` | `wait` does not apply late cancels | `loom_cancel_and_count`, `loom_apply_and_cache` |
//! | `shard.rs` | `unlock_and_tidy` does not check the entries | `loom_poll_with_another_waker_and_fire`, `loom_cancel_and_fire` |
//! | `shard.rs` | `lower_next` stores without comparing | `loom_reset_to_earlier_and_arm_on_one_shard` |
//! | `shard.rs` | `cancel_later` does not store the length of the list | `loom_cancel_and_fire` |
//! | `shard.rs` | `unlock_and_tidy` does not store the length of the list | `loom_cancel_and_fire`, `loom_cancel_and_fire_what_waits_already` |
//! | `shard.rs` | `unlock_and_tidy` stores the length after it has released the list | `loom_cancel_and_cancel` |
//! | `shard/operations.rs` | `cancel` does not check the clock | `loom_drop_and_fire`, `loom_drop_and_fire_and_the_next_tenant_of_the_place` |
//! | `shard/operations.rs` | `extend` compares clocks only | `loom_a_relic_is_extended_while_the_next_driver_opens` |
//! | `shard/operations.rs` | `replace_waker` compares generations only | `loom_poll_with_another_waker_and_fire` |
//! | `shard/operations.rs` | `replace_waker` leaves the old waker | `loom_poll_with_another_waker_and_shutdown` |
//! | `shard/operations.rs` | `reset` compares generations only | `loom_extend_and_fire` |
//! | `shard/operations.rs` | `reset` does not lower `next` | `loom_reset_to_earlier_while_the_driver_plans` |
//! | `shard/operations.rs` | `arm` does not check the generation | `loom_insert_and_shutdown`, `loom_a_binding_that_comes_late` |
//! | `shard/operations.rs` | `arm` does not lower `next` | `loom_arm_and_arm`, `loom_arm_and_arm_on_one_shard` |
//! | `shard/expiry.rs` | `close` counts the generation after the unlock | `loom_cancels_and_shutdown`, `loom_a_relic_is_polled_while_the_next_driver_opens` |
//! | `shard/expiry.rs` | `expire` does not check the generation | `loom_a_pass_of_the_last_driver_and_arm` |
//! | `shard/expiry.rs` | an unfinished `expire` publishes that nothing is due | `loom_fire_and_fire`, `loom_arm_for_the_alarms_millisecond_and_fire` |
//! | `pass.rs` | `run_pass` applies no late cancels | `loom_cancel_and_fire`, `loom_drop_of_a_neighbour_and_fire` |
//! | `shard/expiry.rs` | `expire` leaves the cached entry | `loom_use_again_to_an_earlier_deadline_and_plan` |
//! | `shard/expiry.rs` | `refresh` leaves the cached entry | `loom_cache_and_arm_where_the_clock_may_be_paused` |
//! | `shard/expiry.rs` | `expire` publishes that nothing is left | `loom_arm_behind_a_thread_that_has_not_set_the_alarm`, `loom_arm_for_the_alarms_millisecond_and_fire` |
//! | `wheel/core.rs` | `extend_if` takes an earlier deadline | `loom_reset_to_earlier_while_the_driver_plans`, `loom_use_again_to_an_earlier_deadline_than_the_shards_and_fire` |

mod model;

mod alarm;
mod cached;
mod changes;
mod fire;
mod plan;
mod shutdown;
mod timerfd;

use self::model::{Armed, Model, check};
use crate::platform::fake;
