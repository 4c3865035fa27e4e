//! Keeping watch: how timers are on time while their runtime is busy.
//!
//! tokio rounds the alarm up to its next whole millisecond, and looks at its own
//! timers only where a worker has run out of tasks, or has polled 61. The driver
//! task is the finer clock of a busy runtime: while it keeps *watch*, it stays in
//! the run queue, and looks at the time whenever it is polled. One more poll per
//! round of the queue is nothing there. In a quiet runtime it would be all that a
//! worker does, and keep it from sleeping.
//!
//! Which of the two it is shows in how soon the task is polled again. There are two
//! ways to be: through the *queue*, behind all that waits there, and past the *event
//! loop*, when the worker has run out of tasks, or polled 61, and looks at tokio's
//! I/O and timers. Neither will do alone. Tasks that `yield_now` take the second, so
//! the queue is empty meanwhile, and the driver task would spin in it. Where tasks
//! wake one another the queue is never empty, and the event loop is reached after 61
//! polls, however long they take. So the queue is joined for as long as that takes
//! time, then the event loop is tried; and only where what follows it, and then the
//! queue which it has filled, take no time either, has nobody else anything to do.
//! The event loop's own time says nothing: a kernel, or a tracer, may take as long
//! as it likes to say that nothing has happened. So the way past it counts from its
//! end, which a waker of its own notes.
//!
//! # Ground rules
//!
//! * **Nothing depends on it.** The alarm is armed as if nobody kept watch: the
//!   driver task may sit in the queue of a worker that blocks.
//! * **No worker is kept from sleeping.** A watch ends as soon as the runtime is
//!   found quiet. After one that did not find much else, it is left alone for a
//!   time, twice as long after each, up to [`SELDOM`].
//! * **Nothing runs without timers.** Only who sets the alarm begins a watch, and
//!   it ends when nothing is due [`SOON`].
//! * On a multi-thread runtime alone. The other kind may have a paused clock, which
//!   moves when nothing is left to run.
//! * Turns of a watch are [`APART`]: punctual to a quarter of a millisecond, and no
//!   finer. What is asked for, by a ring or by a cancel, does not wait for that.
//! * `from` orders nothing, and may be missed: that costs a millisecond once.

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use super::Driver;
use super::clock::Tick;
use super::sync::{AtomicU64, Ordering};

/// Watch is kept for what is due within this time.
const SOON: Duration = Duration::from_millis(64);
/// Who is polled again within this time has found nothing else to run.
const AT_ONCE: Duration = Duration::from_micros(20);
/// Who has been kept waiting so often in one watch has seen a busy runtime.
const OFTEN: u32 = 4;
/// Turns of a watch are so far apart at least. Each wakes workers and sets the alarm anew,
/// which is better done for a hundred timers than for ten.
const APART: Duration = Duration::from_micros(250);
/// How long a quiet runtime is left alone: at first, and at most.
const AWHILE: Duration = Duration::from_millis(2);
const SELDOM: Duration = Duration::from_millis(256);

/// Whether the driver task keeps watch: all of it that threads share.
pub(super) struct Watch {
    /// When the next one may begin; [`Tick::NEVER`] while one is kept.
    from: AtomicU64,
    /// When the event loop that the driver task waited for was over; 0 if it is not.
    passed: AtomicU64,
}

impl Watch {
    pub(super) fn new() -> Self {
        Watch {
            from: AtomicU64::new(Tick::LAST.0),
            passed: AtomicU64::new(0),
        }
    }

    /// For a driver that begins to serve a runtime.
    pub(super) fn open(&self, now: Tick, is_current_thread: bool) {
        self.end(if is_current_thread { Tick::LAST } else { now });
    }

    pub(super) fn is_kept(&self) -> bool {
        self.from.load(Ordering::Relaxed) == Tick::NEVER.0
    }

    /// Begins one if something is due soon: `true` if the driver task is to be woken
    /// for it.
    pub(super) fn begins(&self, now: Tick, earliest: Tick) -> bool {
        let may = self.from.load(Ordering::Relaxed) <= now.0;
        may && is_soon(now, earliest)
            && self.from.swap(Tick::NEVER.0, Ordering::Relaxed) != Tick::NEVER.0
    }

    /// The event loop is over.
    fn pass(&self, now: Tick) {
        self.passed.store(now.0, Ordering::Relaxed);
    }

    /// When the event loop was over, since last asked.
    pub(super) fn take_pass(&self) -> Tick {
        Tick(self.passed.swap(0, Ordering::Relaxed))
    }

    /// Ends it. The next one may begin at `from`.
    pub(super) fn end(&self, from: Tick) {
        self.from.store(from.0, Ordering::Relaxed);
    }
}

fn is_soon(now: Tick, earliest: Tick) -> bool {
    earliest <= now.saturating_add(SOON)
}

/// The driver task's waker for the way past the event loop.
pub(super) fn past(driver: &'static Driver, generation: u32) -> Waker {
    Waker::from(Arc::new(Past { driver, generation }))
}

struct Past {
    driver: &'static Driver,
    generation: u32,
}

impl Wake for Past {
    fn wake(self: Arc<Self>) {
        if self.driver.generation() == self.generation {
            self.driver.watch.pass(Tick::now());
            self.driver.wake_to_watch();
        }
    }
}

/// The driver task's side of it: what the last looks have shown.
#[derive(Default)]
pub(super) struct Lookout {
    /// The way that the task is on, and since when.
    way: Option<(Way, Tick)>,
    /// When it last turned what it saw into a turn.
    turned: Option<Tick>,
    /// How often this watch was kept waiting.
    waited: u32,
    /// Watches in a row that have found the runtime quiet.
    quiet: u32,
}

/// How the driver task is to be polled again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// After what waits in the worker's queue.
    Queue,
    /// After tokio has looked at its events.
    EventLoop,
    /// After the queue, right after the event loop, which has filled it with what
    /// had yielded, behind the driver task too.
    Both,
}

/// What follows a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Look(Way),
    /// The watch is over. The next one may begin then.
    Rest(Tick),
}

impl Lookout {
    /// Whether what is due is worth a turn `now`, which counts as the last one then.
    pub(super) fn may_turn(&mut self, now: Tick) -> bool {
        let may = self
            .turned
            .is_none_or(|last| last.saturating_add(APART) <= now);
        if may {
            self.turned = Some(now);
        }
        may
    }

    /// The event loop was over then, if it was.
    pub(super) fn pass(&mut self, at: Tick) {
        if let Some((Way::EventLoop, since)) = &mut self.way {
            *since = at.max(*since);
        }
    }

    /// Decides on what follows a look: the task was `polled`, and is done `now` with
    /// what was due.
    pub(super) fn look(&mut self, polled: Tick, now: Tick, earliest: Tick) -> Next {
        if !is_soon(now, earliest) {
            return self.relax(now);
        }
        let Some((way, since)) = self.way else {
            return self.start(now);
        };
        if polled > since.saturating_add(AT_ONCE) {
            self.waited += 1;
            return self.go(Way::Queue, now);
        }
        match way {
            Way::Queue => self.go(Way::EventLoop, now),
            Way::EventLoop => self.go(Way::Both, since),
            Way::Both => self.retire(now),
        }
    }

    /// Where the last watch found nobody, this one had better wake no worker: a task
    /// in the queue does, one in the event loop does not.
    fn start(&mut self, now: Tick) -> Next {
        let way = if self.quiet == 0 {
            Way::Queue
        } else {
            Way::EventLoop
        };
        self.go(way, now)
    }

    fn go(&mut self, way: Way, since: Tick) -> Next {
        self.way = Some((way, since));
        Next::Look(way)
    }

    /// Nothing is due soon.
    fn relax(&mut self, now: Tick) -> Next {
        if self.has_been_busy() {
            self.quiet = 0;
        }
        Next::Rest(now)
    }

    /// The runtime has nothing to run, for the moment or for longer.
    fn retire(&mut self, now: Tick) -> Next {
        if self.has_been_busy() {
            self.quiet = 0;
            return Next::Rest(now);
        }
        let rest = AWHILE * (1 << self.quiet);
        self.quiet += u32::from(rest < SELDOM);
        Next::Rest(now.saturating_add(rest))
    }

    /// Looks back on the watch, which is over.
    fn has_been_busy(&mut self) -> bool {
        self.way = None;
        std::mem::take(&mut self.waited) >= OFTEN
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
