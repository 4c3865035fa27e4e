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
//! | `alarm.rs` | `settle` returns without a second look | `loom_reset_to_earlier_while_the_driver_plans` |
//! | `alarm.rs` | `one_at_a_time` forgets who asked meanwhile: stores 0 instead of comparing | `loom_arm_and_arm`, `loom_arm_earlier_while_the_driver_plans` |
//! | `alarm.rs` | `ring` records nothing | `loom_a_spurious_ring_and_ring` |
//! | `alarm.rs` | `arm_earliest` does not take the ring | `loom_a_spurious_ring_and_rearm` |
//! | `alarm.rs` | `arm_earliest` keeps an alarm that is overdue | `loom_a_look_and_a_late_ring` |
//! | `alarm.rs` | `arm` believes that it is armed though it rang | `loom_ring_and_rearm` |
//! | `alarm.rs` | `ring` does not ask `is_arming` | `loom_a_ring_while_the_alarm_is_set` |
//! | `mod.rs` | `rearm` does not ask for a turn when tokio rang on the spot | `loom_a_ring_while_the_alarm_is_set` |
//! | `mod.rs` | `rung` returns when early, and asks for no turn | `loom_an_early_ring_and_rearm` |
//! | `mod.rs` | `rung` does not re-arm | `loom_a_late_ring_and_rearm` |
//! | `mod.rs` | `close` leaves the alarm | `loom_insert_and_shutdown`, `loom_fire_and_shutdown`, `loom_reset_and_shutdown` |
//! | `mod.rs` | `close` drops the wakers that are pending | `loom_reset_and_shutdown` |
//! | `mod.rs` | `retract` does not re-arm | `loom_drop_and_arm_where_the_clock_may_be_paused` |
//! | `mod.rs` | no backstop | `loom_what_a_turn_leaves_over_waits_for_no_task` |
//! | `mod.rs` | a turn that left something over asks for no other | `loom_fire_and_fire`, `loom_put_forward_and_fire` |
//! | `mod.rs` | `ring_by` does not re-arm | `loom_a_spurious_ring_and_rearm` |
//! | `timer.rs` | `register_at` reads `armed_for` before it inserts | `loom_a_late_ring_and_rearm` |
//! | `timer.rs` | `waits` and `poll_registered` read the clock after they ask whether the driver runs | `loom_a_relic_is_not_elapsed_by_the_clock_of_the_next_driver` |
//! | `shard.rs` | `take` does not ask whose the entry is | `loom_drop_and_fire`, `loom_drop_and_fire_and_the_next_tenant_of_the_place` |
//! | `shard.rs` | `refusal` does not compare generations | `loom_a_relic_is_dropped_while_the_next_driver_opens` (aborts) |
//! | `shard.rs` | `replace_waker` compares generations only | `loom_poll_with_another_waker_and_fire` |
//! | `shard.rs` | `replace_waker` leaves the old one | `loom_poll_with_another_waker_and_shutdown` |
//! | `shard.rs` | `reschedule` compares generations only | `loom_put_off_and_fire` |
//! | `shard.rs` | `reschedule` does not announce | `loom_reset_to_earlier_while_the_driver_plans` |
//! | `shard.rs` | `register` announces after it unlocks | `loom_arm_and_arm_on_one_shard` |
//! | `shard.rs` | `register` does not ask whether the shard serves | `loom_insert_and_shutdown` |
//! | `shard.rs` | `close` counts the generation after it unlocks | `loom_a_relic_is_polled_while_the_next_driver_opens` |
//! | `shard.rs` | `reuse` does not ask whose the entry is | `loom_use_again_and_fire_what_was_left` |
//! | `shard.rs` | `reuse` does not announce | `loom_use_again_to_an_earlier_deadline_than_the_shards_and_fire` |
//! | `shard.rs` | an unfinished `expire` publishes that nothing is due | `loom_what_a_turn_leaves_over_waits_for_no_task` |
//! | `cancel_queue.rs` | `Spare::take` does not empty it | `loom_leave_and_fire` |
//! | `cancel_queue.rs` | `leave` overwrites what is there | `loom_leave_two_and_fire` |

pub(crate) mod fake;
pub(crate) mod lock;
mod model;

mod alarm;
mod cancels;
mod fire;
mod plan;
mod shutdown;
mod spare;

use self::model::{Armed, Model, check};
