//! From a fuzzer's bytes to a run of a model.
//!
//! The corpus depends on how bytes are read: after a change of this file, or of the choices in the
//! models, the fuzzer has to find another corpus.

use super::choices::Choices;
use super::wheel_model;

/// More operations than that find nothing new, and take long.
pub const MOST: usize = 300;

/// Each choice takes as many bytes as its range needs; when there are none left, all choices are 0.
pub struct Bytes<'a>(pub &'a [u8]);

impl Choices for Bytes<'_> {
    fn below(&mut self, end: u64) -> u64 {
        let wanted = match end {
            0..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 8,
        };
        let (taken, rest) = self.0.split_at(wanted.min(self.0.len()));
        self.0 = rest;
        let number = |number, &byte| number << 8 | u64::from(byte);
        taken.iter().fold(0, number) % end
    }

    fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

pub fn timing_wheel(bytes: &[u8]) {
    wheel_model::run_chosen(&mut Bytes(bytes), MOST);
}

/// An input from the corpus file: two hexadecimal digits for each byte.
pub fn decoded(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2).map(std::str::from_utf8);
    digits
        .map(|pair| u8::from_str_radix(pair.expect("ASCII"), 16).expect("two digits"))
        .collect()
}
