//! Which orders come when, and which are confirmed: known before anything runs.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// In milliseconds, as all times here, from the start of the sale.
pub(crate) const SALE: u32 = 10 * 60 * 1000;
/// How long an order waits to be confirmed.
pub(crate) const PATIENCE: u32 = 30 * 60 * 1000;

/// Something that happens to an order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) at: u32,
    pub(crate) order: u32,
    pub(crate) is_confirmation: bool,
}

pub(crate) struct Plan {
    /// In the order of time.
    pub(crate) events: Vec<Event>,
    /// When each order comes.
    pub(crate) placed: Vec<u32>,
}

/// What has become of the orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) confirmed: u64,
    pub(crate) undone: u64,
    /// The sum of the numbers of the undone orders.
    pub(crate) checksum: u64,
}

impl Plan {
    pub(crate) fn new(orders: u32, confirmed: u8, seed: u64) -> Self {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut events = Vec::with_capacity(2 * orders as usize);
        let mut placed = Vec::with_capacity(orders as usize);
        for order in 0..orders {
            let at = random.random_range(0..SALE);
            placed.push(at);
            events.push(Event {
                at,
                order,
                is_confirmation: false,
            });
            if random.random_range(0..100) < confirmed {
                // At the latest a second before it is too late, and after it was placed.
                let at = at + random.random_range(1000..PATIENCE - 1000);
                events.push(Event {
                    at,
                    order,
                    is_confirmation: true,
                });
            }
        }
        events.sort_unstable_by_key(|event| (event.at, event.order));
        Plan { events, placed }
    }

    /// What has to become of the orders.
    pub(crate) fn outcome(&self) -> Outcome {
        let mut outcome = Outcome::default();
        for event in &self.events {
            if event.is_confirmation {
                outcome.confirmed += 1;
                outcome.checksum -= u64::from(event.order);
            } else {
                outcome.checksum += u64::from(event.order);
            }
        }
        outcome.undone = self.placed.len() as u64 - outcome.confirmed;
        outcome
    }
}
