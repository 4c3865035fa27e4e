//! Whose timers a program runs on, where it runs on three.

use clap::ValueEnum;
use plotters::style::RGBColor;
use serde::{Deserialize, Serialize};

use crate::picture;

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
pub enum Side {
    /// `tokio::time`.
    Tokio,
    /// This crate.
    Wheel,
    /// This crate with high resolution.
    Precise,
}

impl Side {
    /// All that there are on this system.
    pub const ALL: &[Side] = match cfg!(target_os = "linux") {
        true => &[Side::Tokio, Side::Wheel, Side::Precise],
        false => &[Side::Tokio, Side::Wheel],
    };

    /// As tables and pictures say it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Side::Tokio => "tokio::time",
            Side::Wheel => "wheel",
            Side::Precise => "wheel, high resolution",
        }
    }

    /// A place in a picture's legend.
    #[must_use]
    pub fn legend(self) -> (&'static str, RGBColor) {
        (self.name(), self.color())
    }

    /// In pictures.
    #[must_use]
    pub fn color(self) -> RGBColor {
        match self {
            Side::Tokio => picture::TOKIO,
            Side::Wheel => picture::WHEEL,
            Side::Precise => picture::PRECISE,
        }
    }
}
