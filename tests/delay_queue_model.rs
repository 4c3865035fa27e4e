//! The queue beside a naive model, under random operations: see `support/delay_queue_model.rs`.
#![cfg(feature = "test-util")]

#[path = "support/delay_queue_model.rs"]
mod delay_queue_model;
mod support;

use delay_queue_model::run;
use support::Random;

#[test]
fn the_queue_does_what_a_list_does() {
    for seed in 1..=60 {
        run(Random::new(seed), 400);
    }
}
