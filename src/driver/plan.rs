//! What the alarm is armed for, and who may re-arm it.
//!
//! # Ground rules
//!
//! * **Never lost.** Whoever registers a deadline stores it in its shard's
//!   `next` and then loads `planned`; whoever re-arms stores `planned` and then
//!   loads every `next` again. All four are sequentially consistent, so at least
//!   one of the two sees the other.
//! * `planned` is never later than what is really armed.
//! * **One re-armer.** The first to ask does the work; all others, the re-armer's
//!   own re-entrant calls among them, only make it look again.
//! * **A ring is recorded before any lock is taken**, and consumed by the
//!   re-armer before it compares. What is armed is never inferred: otherwise a
//!   ring that comes while somebody else re-arms leaves an alarm believed to be
//!   armed that has gone off.

use super::clock::Tick;
use super::sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The protocol between registering, ringing and re-arming.
pub(crate) struct Plan {
    planned: AtomicU64,
    /// How often somebody asked for a re-arm since the re-armer began.
    asked: AtomicUsize,
    rung: AtomicBool,
}

impl Plan {
    pub(crate) fn new() -> Self {
        Plan {
            planned: AtomicU64::new(Tick::NEVER.0),
            asked: AtomicUsize::new(0),
            rung: AtomicBool::new(false),
        }
    }

    /// When the alarm rings at the latest; [`Tick::NEVER`] when it does not.
    #[inline]
    pub(crate) fn planned(&self) -> Tick {
        Tick(self.planned.load(Ordering::SeqCst))
    }

    /// Records that the alarm went off.
    pub(crate) fn ring(&self) {
        self.rung.store(true, Ordering::SeqCst);
    }

    /// Whether the alarm went off since this was last asked.
    pub(crate) fn take_ring(&self) -> bool {
        self.rung.swap(false, Ordering::SeqCst)
    }

    /// Settles on the earliest deadline, which `earliest` finds, or on `armed`
    /// where that comes first and is to be left alone.
    pub(crate) fn settle(&self, armed: Option<Tick>, earliest: impl Fn() -> Tick) -> Tick {
        loop {
            let target = armed.map_or_else(&earliest, |armed| armed.min(earliest()));
            self.planned.store(target.0, Ordering::SeqCst);
            if earliest() >= target {
                return target;
            }
        }
    }

    /// Runs `arm` until nobody has asked for it since it last began; at once
    /// returns if another thread, or a caller further up the stack, is at it.
    pub(crate) fn rearm(&self, mut arm: impl FnMut()) {
        if self.asked.fetch_add(1, Ordering::SeqCst) > 0 {
            return;
        }
        let working = Working(&self.asked);
        loop {
            let seen = self.asked.load(Ordering::SeqCst);
            arm();
            let done = self
                .asked
                .compare_exchange(seen, 0, Ordering::SeqCst, Ordering::SeqCst);
            if done.is_ok() {
                break std::mem::forget(working);
            }
        }
    }

    /// Nothing is armed, and no ring is remembered: for a driver that begins.
    pub(crate) fn clear(&self) {
        self.planned.store(Tick::NEVER.0, Ordering::SeqCst);
        self.rung.store(false, Ordering::SeqCst);
    }
}

/// Lets others re-arm should the re-armer panic.
struct Working<'a>(&'a AtomicUsize);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::SeqCst);
    }
}
