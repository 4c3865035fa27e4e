//! The races of a driver, in every order that they can happen in.
//!
//! Driver, shards, plan, alarm, timers and turns are the real ones; tokio's
//! interval and clock are `fake.rs`. A model sets something up, lets two threads
//! race, then lets the [`Model`]'s runtime do what it would do by itself, and no
//! more, until nothing is armed. Lost wake-ups show there. Entries freed twice
//! panic in the wheel; stale keys hit a neighbour, which is then late or gone.
//!
//! Run with `.ci/run loom`, one of them with
//! `RUSTFLAGS="--cfg loom" cargo test --release --lib loom_arm_and_arm`.
//!
//! # Seen to fail
//!
//! What to break, and a model that fails then, often among others:
//!
//! | in | change | fails |
//! | --- | --- | --- |
//! | `plan.rs` | `settle` returns without a second look at `earliest` | `loom_reset_to_earlier_while_the_driver_plans` |
//! | `plan.rs` | `rearm` forgets who asked meanwhile: stores 0 instead of comparing | `loom_arm_and_arm`, `loom_arm_earlier_while_the_driver_plans` |
//! | `plan.rs` | `ring` records nothing | `loom_a_spurious_ring_and_ring` |
//! | `mod.rs` | `arm_once` does not take the ring | `loom_a_spurious_ring_and_rearm` |
//! | `mod.rs` | `arm_with` gives up without asking for a turn | `loom_a_ring_while_the_alarm_is_set`, `loom_arm_outside_the_runtime_while_the_driver_plans` |
//! | `mod.rs` | `rung` returns when early, and asks for no turn | `loom_an_early_ring_and_rearm` |
//! | `mod.rs` | `rung` does not ask `is_arming` | `loom_a_ring_while_the_alarm_is_set` |
//! | `mod.rs` | `rung` does not re-arm | `loom_a_late_ring_and_rearm` |
//! | `mod.rs` | `close` leaves the alarm | `loom_insert_and_shutdown`, `loom_fire_and_shutdown`, `loom_reset_and_shutdown` |
//! | `mod.rs` | `close` drops the wakers that are pending | `loom_reset_and_shutdown` |
//! | `mod.rs` | `take_back` does not re-arm | `loom_drop_and_arm_where_the_clock_may_be_paused` |
//! | `alarm.rs` | `set` believes that it is armed though it rang | `loom_ring_and_rearm` |
//! | `turn.rs` | no backstop | `loom_what_a_turn_leaves_over_waits_for_no_task` |
//! | `turn.rs` | a turn that left something over asks for no other | `loom_fire_and_fire`, `loom_put_forward_and_fire` |
//! | `turn.rs` | a poll of the task that left something over asks for no other | `loom_two_letters_and_a_holder` |
//! | `mod.rs` | `listen` never says that a turn was asked for | `loom_an_early_ring_and_rearm`, `loom_mailbox_and_holder` |
//! | `mod.rs` | `arm_once` keeps an alarm that is overdue | `loom_a_look_and_a_late_ring` |
//! | `turn.rs` | a turn does not look for mail | `loom_mailbox_and_holder` |
//! | `timer.rs` | a cancel in the mail asks for no turn | `loom_mailbox_and_holder`, `loom_mailbox_and_a_holder_that_arms`, `loom_drop_of_a_neighbour_and_fire` |
//! | `timer.rs` | `see_to_alarm` does not re-arm | `loom_a_spurious_ring_and_rearm` |
//! | `timer.rs` | `register_at` reads `planned` before it inserts | `loom_a_late_ring_and_rearm` |
//! | `timer.rs` | `poll_registered` reads the clock after it asks whether the driver runs | `loom_a_relic_is_not_elapsed_by_the_clock_of_the_next_driver` |
//! | `mail.rs` | `collect` says that nothing is left | `loom_two_letters_and_a_holder` |
//! | `kept.rs` | `keep` or `release` does not ask whether the shard serves | `loom_keep_and_shutdown` |
//! | `shard.rs` | `take` does not compare `when` with the clock | `loom_drop_and_fire`, `loom_drop_and_fire_and_the_next_tenant_of_the_place` |
//! | `shard.rs` | `take`, or `refusal`, does not compare generations | `loom_a_relic_is_dropped_while_the_next_driver_opens` (aborts) |
//! | `shard.rs` | `replace_waker` compares generations only | `loom_poll_with_another_waker_and_fire` |
//! | `shard.rs` | `replace_waker` leaves the old one | `loom_poll_with_another_waker_and_shutdown` |
//! | `shard.rs` | `reschedule` compares generations only | `loom_put_off_and_fire` |
//! | `shard.rs` | `reschedule` does not announce | `loom_reset_to_earlier_while_the_driver_plans` |
//! | `shard.rs` | `register` announces after it unlocks | `loom_arm_and_arm_on_one_shard` |
//! | `shard.rs` | `register` does not ask whether the shard serves | `loom_insert_and_shutdown` |
//! | `shard.rs` | `close` counts the generation after it unlocks | `loom_a_relic_is_polled_while_the_next_driver_opens` |
//! | `shard.rs` | `tidy` drops its letters unread | `loom_mailbox_and_holder` |
//! | `shard.rs` | `reuse` does not ask whose the entry is | `loom_use_again_and_fire_what_was_left` |
//! | `shard.rs` | `reuse` does not announce | `loom_use_again_to_an_earlier_deadline_than_the_shards_and_fire` |
//! | `shard.rs` | `snapshot` does not clear the spares | `loom_leave_and_fire` |
//! | `spare.rs` | `take` does not empty it | `loom_leave_and_fire` |
//! | `spare.rs` | `leave` overwrites what is there | `loom_leave_two_and_fire` |
//! | `shard.rs` | an unfinished `expire` publishes that nothing is due | `loom_what_a_turn_leaves_over_waits_for_no_task` |

pub(crate) mod fake;
pub(crate) mod lock;
mod model;

mod alarm;
mod fire;
mod mail;
mod plan;
mod shutdown;
mod spare;

use self::model::{Armed, Model, check};
