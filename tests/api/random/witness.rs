//! A waker that notes when it is woken, by the runtime's clock.

use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};

use wheel::Instant;

#[derive(Default)]
pub(super) struct Witness {
    wakes: Mutex<Vec<Instant>>,
    /// Somebody who wants to know at once.
    listener: Mutex<Option<Waker>>,
}

impl Witness {
    pub(super) fn wakes(&self) -> Vec<Instant> {
        self.wakes.lock().unwrap().clone()
    }

    pub(super) fn listen(&self, listener: &Waker) {
        *self.listener.lock().unwrap() = Some(listener.clone());
    }
}

impl Wake for Witness {
    fn wake(self: Arc<Self>) {
        self.wakes.lock().unwrap().push(Instant::now());
        let listener = self.listener.lock().unwrap().take();
        if let Some(listener) = listener {
            listener.wake();
        }
    }
}

/// Those who are not to be woken any more, with how often they have been.
#[derive(Default)]
pub(super) struct Retired(Vec<(Arc<Witness>, usize)>);

impl Retired {
    pub(super) fn push(&mut self, witness: Arc<Witness>) {
        let wakes = witness.wakes().len();
        self.0.push((witness, wakes));
    }

    /// They are silent, and nobody has kept their wakers.
    pub(super) fn check(&mut self) {
        for (witness, wakes) in self.0.drain(..) {
            assert_eq!(witness.wakes().len(), wakes, "woken by a timer it left");
            assert_eq!(Arc::strong_count(&witness), 1, "its waker is kept");
        }
    }
}
