//! `DelayQueue` agrees with a naive list under random operations; see `support/queue_model.rs`.
#![cfg(feature = "test-util")]

use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use support::queue_model::run;

#[test]
fn the_queue_does_what_a_list_does() {
    for seed in 1..=100 {
        let mut bytes = [0; 2_000];
        StdRng::seed_from_u64(seed).fill_bytes(&mut bytes);
        run(&bytes, 400);
    }
}
