//! `DelayQueue` agrees with a naive list under random operations: see `support/queue_model.rs`.
#![cfg(feature = "test-util")]

use support::Random;
use support::queue_model::run;

#[test]
fn the_queue_does_what_a_list_does() {
    for seed in 1..=60 {
        run(Random::new(seed), 400);
    }
}
