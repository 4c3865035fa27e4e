//! Scales: from a value to a place, and which values to write beside an axis.

/// Values from 0 on, evenly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    pub(crate) most: f64,
}

impl Linear {
    /// A scale that ends with a round number.
    pub(crate) fn up_to(most: f64) -> Self {
        let step = step_of(most);
        Linear {
            most: (most / step).ceil().max(1.0) * step,
        }
    }

    /// From 0 to 1.
    pub(crate) fn place(self, value: f64) -> f64 {
        (value / self.most).clamp(0.0, 1.0)
    }

    pub(crate) fn marks(self) -> Vec<f64> {
        let step = step_of(self.most);
        let count = (self.most / step).round() as u32;
        (0..=count).map(|mark| f64::from(mark) * step).collect()
    }
}

/// A distance of marks that leaves two to five: 1, 2 or 5 times a power of ten.
fn step_of(most: f64) -> f64 {
    let rough = (most / 4.0).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    nice.into_iter()
        .find(|&step| step >= rough)
        .unwrap_or(rough)
}

/// Powers of ten.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decades {
    first: i32,
    last: i32,
}

impl Decades {
    pub(crate) fn around(values: impl Iterator<Item = f64> + Clone) -> Self {
        let exponents = values.map(|value| value.max(1.0).log10());
        let lowest = exponents.clone().fold(f64::INFINITY, f64::min);
        let highest = exponents.fold(0.0, f64::max);
        let first = lowest.min(highest).floor() as i32;
        Decades {
            first,
            last: (highest.ceil() as i32).max(first + 1),
        }
    }

    /// From 0 to 1.
    pub(crate) fn place(self, value: f64) -> f64 {
        let above = value.max(1.0).log10() - f64::from(self.first);
        (above / f64::from(self.last - self.first)).clamp(0.0, 1.0)
    }

    pub(crate) fn marks(self) -> Vec<f64> {
        (self.first..=self.last)
            .map(|power| 10_f64.powi(power))
            .collect()
    }
}
