//! The public wheel does what a naive model does (`model/pair.rs`), and keeps every invariant after
//! each step.

mod pair;

use arbitrary::Unstructured;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};

use super::{Key, Progress, Rescheduled, TimingWheel};

use self::pair::{CLOCKS, SLOTS};

/// Returns random bytes, the same ones for the same seed. One step of the model takes about ten.
fn bytes(seed: u64, steps: usize) -> Vec<u8> {
    let mut bytes = vec![0; 12 * steps];
    StdRng::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}

#[test]
fn every_invariant_holds_after_each_step() {
    for seed in 0..400 {
        pair::run_chosen(&mut Unstructured::new(&bytes(seed, 60)), 60);
    }
}

/// Tries every number of slots with every first tick.
#[test]
fn does_as_the_model_does_from_every_clock() {
    for (round, slots) in (0..4).flat_map(|_| SLOTS).enumerate() {
        for (first, now) in CLOCKS.into_iter().enumerate() {
            let seed = 1_000 + (round * CLOCKS.len() + first) as u64;
            pair::run(slots, now, &mut Unstructured::new(&bytes(seed, 50)), 50);
        }
    }
}

/// Short runs never hold thousands of entries, so they do not reach pages that give their memory
/// back, nor long lists of keys.
#[test]
fn a_long_run_does_as_the_model_does() {
    for seed in 2_000..2_010 {
        pair::run_chosen(&mut Unstructured::new(&bytes(seed, 600)), 600);
    }
}
