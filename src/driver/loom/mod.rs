//! The races of a driver, in every order that they can happen in.
//!
//! Driver, shards, alarm, timers and passes are real; tokio's interval and clock, and the kernel's
//! timer, are `sync/model/fake.rs`. A model sets something up, lets two threads race, then lets the
//! [`Model`]'s runtime run by itself, with nothing else to do, until nothing is armed. Lost wake-ups
//! show there. Entries freed twice panic in the wheel. Stale keys hit a neighbour, which is then late
//! or gone.
//!
//! Run all with `.ci/run loom`, a single model with
//! `RUSTFLAGS="--cfg loom" cargo test --release --lib loom_arm_and_arm`.
//!
//! # Seen to fail
//!
//! A change that breaks the code, and a model or test that fails then, often among others:
//!
//! | in | change | fails |
//! | --- | --- | --- |
//! | `alarm/mod.rs` | `settle` returns without a second look | `loom_reset_to_earlier_while_the_driver_plans` |
//! | `alarm/mod.rs` | `note_ring` records nothing | `loom_an_early_alarm_and_rearm` |
//! | `alarm/mod.rs` | `rearm` does not take the ring | `loom_an_early_alarm_and_rearm` |
//! | `alarm/mod.rs` | `note_ring` does not look at `is_arming` | `loom_drop_and_arm_where_the_clock_may_be_paused`, `loom_the_alarm_fires_while_it_is_armed` |
//! | `alarm/mod.rs` | `earliest_ring` allows no early ring of a timerfd | `loom_an_old_wakeup_of_the_descriptor_does_not_disarm_it` |
//! | `alarm/interval.rs` | `forget_all` leaves `armed` | `loom_precise_arm_and_arm`, `loom_tokio_fires_and_the_descriptor_is_set` |
//! | `alarm/timerfd.rs` | `note_ring` leaves `set_to` | `loom_an_old_wakeup_of_the_descriptor_does_not_disarm_it` |
//! | `driver.rs` | `rearm` does not ask for a turn when tokio rang on the spot | `loom_the_alarm_fires_while_it_is_armed` |
//! | `turns.rs` | `alarm_rings` returns when early, and asks for no turn | `loom_an_early_alarm_and_rearm` |
//! | `turns.rs` | `alarm_rings` does not re-arm | `loom_a_late_alarm_and_rearm` |
//! | `driver.rs` | `close` leaves the alarm | `loom_insert_and_shutdown`, `loom_fire_and_shutdown`, `loom_reset_and_shutdown` |
//! | `driver.rs` | `close` drops the wakers that are pending | `loom_reset_and_shutdown` |
//! | `driver.rs` | `retract` does not re-arm | `loom_drop_and_arm_where_the_clock_may_be_paused` |
//! | `driver.rs` | `begin` does not retract | `a_paused_clock_does_not_stop_at_a_timer_that_a_hook_has_cancelled`, in `tests/twins/paused.rs` |
//! | `turns.rs` | `alarm_rings` re-arms only if the turn left nothing over | `loom_what_a_turn_leaves_over_waits_for_no_task` |
//! | `turns.rs` | `alarm_rings` does not call `end_turn` | `tokios_own_timers_fire_during_a_mass_expiry`, in `tests/driver/busy.rs` |
//! | `turns.rs` | a turn in tokio's that left something over asks for no other | `loom_what_a_turn_leaves_over_waits_for_no_alarm` |
//! | `turns.rs` | `poll_task` that left something over asks for no other | `loom_a_pass_and_arm` |
//! | `turns.rs` | `turn` does not `raise_fast_path_from` | `a_timer_for_now_that_a_late_turn_makes_waits_for_tokios_millisecond`, in `timer/tests.rs` |
//! | `request.rs` | `ask` leaves no mark, or `end_turn` does not look for the mark | `loom_an_early_alarm_and_rearm` |
//! | `driver.rs` | `arm_for` does not re-arm | `loom_arm_and_arm` |
//! | `timer/register.rs` | `arm` calls `have_alarm_ring` for a shard's earliest deadline only | `loom_arm_behind_a_thread_that_has_not_set_the_alarm` |
//! | `timer/register.rs` | `fast_path_from` is read before `arm` has the entry, and not after | `loom_a_late_alarm_and_rearm` |
//! | `shard.rs` | `check` reads the clock after the generation | `loom_a_relic_is_not_elapsed_by_the_clock_of_the_next_driver` |
//! | `shard.rs` | `put_again` does not compare wakers | `loom_use_again_what_another_thread_has_cached` |
//! | `shard.rs` | `leave` does not look at `fast_path_from` | `loom_cache_and_arm_where_the_clock_may_be_paused` |
//! | `shard.rs` | `leave` does not check the entry | `loom_drop_and_fire`, `loom_what_one_driver_cached_is_not_used_in_the_next` |
//! | `wheel/core.rs` | `put_off_if` takes an earlier deadline | `loom_reset_to_earlier_while_the_driver_plans`, `loom_use_again_to_an_earlier_deadline_than_the_shards_and_fire` |
//! | `shard.rs` | `cancel` does not check the clock | `loom_drop_and_fire`, `loom_drop_and_fire_and_the_next_tenant_of_the_place` |
//! | `shard.rs` | `check` does not compare generations | `loom_a_relic_is_dropped_while_the_next_driver_opens`, `loom_apply_and_the_next_driver_opens` |
//! | `shard.rs` | `put_off` compares clocks only | `loom_a_relic_is_extended_while_the_next_driver_opens` |
//! | `shard.rs` | `replace_waker` compares generations only | `loom_poll_with_another_waker_and_fire` |
//! | `shard.rs` | `replace_waker` leaves the old waker | `loom_poll_with_another_waker_and_shutdown` |
//! | `shard.rs` | `reschedule` compares generations only | `loom_extend_and_fire` |
//! | `shard.rs` | `reschedule` does not announce | `loom_reset_to_earlier_while_the_driver_plans` |
//! | `shard.rs` | `arm` does not check the generation | `loom_insert_and_shutdown`, `loom_a_binding_that_comes_late` |
//! | `shard/turn.rs` | `close` counts the generation after the unlock | `loom_cancels_and_shutdown`, `loom_a_relic_is_polled_while_the_next_driver_opens` |
//! | `shard/turn.rs` | `expire` does not check the generation | `loom_a_pass_of_the_last_driver_and_arm` |
//! | `shard/turn.rs` | an unfinished `expire` publishes that nothing is due | `loom_what_a_turn_leaves_over_waits_for_no_task` |
//! | `shard/turn.rs` | `move_clock` carries out no changes | `loom_cancel_and_fire`, `loom_cancel_and_the_owner_arms` |
//! | `shard/turn.rs` | `expire` leaves the spare | `loom_use_again_to_an_earlier_deadline_and_plan` |
//! | `shard/turn.rs` | `refresh` leaves the spare | `loom_cache_and_arm_where_the_clock_may_be_paused` |
//! | `shard.rs` | `wait` does not carry out changes | `loom_cancel_and_count`, `loom_apply_and_cache` |
//! | `fire.rs` | `visit` does not look for cancels | `loom_fire_and_a_cancel_waits_elsewhere` |
//! | `timer/cancel.rs` | `reset_otherwise` keeps the waker's number while changes wait | `loom_extend_and_drop_and_the_next_tenant_of_the_place` |
//! | `shard.rs` | `try_often` or `drained` does not carry out changes first | `loom_extend_and_reset_to_earlier_and_fire` |
//! | `shard.rs` | `reschedule` does not wait where the queue refuses, or `push` checks the old deadline only | `loom_move_earlier_and_fire` |
//! | `shard.rs` | `push` does not announce | `loom_extend_and_reset_to_earlier_and_fire` |
//! | `shard.rs` | `announce` stores, and does not compare | `loom_reset_to_earlier_and_arm_on_one_shard` |
//! | `shard/turn.rs` | `publish_next` publishes without the queue's lock | `loom_reset_to_earlier_and_fire_the_last` |
//! | `change_queue.rs` | `take` stores `waiting` after the unlock | `loom_cancels_fill_the_queue` |
//! | `timer.rs` | `poll_registered` in a busy shard does not cancel | `loom_extend_and_poll_with_another_waker_and_fire` |
//! | `timer/cancel.rs` | `cancel_later` does not retract | `loom_poll_with_another_waker_and_drop_where_the_clock_may_be_paused` |
//! | `change_queue.rs` | `push` does not store `waiting` | `loom_cancel_and_fire` |
//! | `change_queue.rs` | `push` does not check | `loom_poll_with_another_waker_and_fire` |
//! | `change_queue.rs` | `take` does `then` after the unlock | `loom_drop_and_fire`, `loom_poll_with_another_waker_and_fire` |
//! | `shard/turn.rs` | `close` leaves the changes that wait | `loom_a_cancel_waits_while_the_next_driver_opens` |
//! | `wheel/advance.rs` | on the lowest level the start of a slot passes for a deadline | `loom_drop_and_arm_where_the_clock_may_be_paused` |

mod model;

mod alarm;
mod cached;
mod changes;
mod fire;
mod plan;
mod shutdown;
mod timerfd;

use self::model::{Armed, Model, check};
use crate::sync::fake;
