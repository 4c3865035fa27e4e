//! Finding the driver again without touching anything shared.
//!
//! `Handle::current()` writes a counter that all workers of a runtime share, so
//! it is asked once or twice per task, never per timer. After that a task finds
//! its shard in a small table of its thread, by its task id.
//!
//! # What the task id does not say
//!
//! Inside `block_in_place(|| other.block_on(..))` the task id is still that of
//! the task outside, though the timer belongs to the runtime inside. Such a
//! timer is polled with another waker than the task's own. So a shard found by
//! task id is *assumed* until the timer is first polled: a waker with which the
//! assumption has been checked before vouches for it, any other has it checked,
//! and a timer that turns out to be another runtime's moves there.
//!
//! What remains: inside `let _guard = other.enter();` within a task of this
//! runtime, which has armed a timer before, the timer goes to the task's own
//! runtime. An explicit [`Wheel`](crate::Wheel) is exact everywhere.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::task::Waker;

use tokio::runtime::{self, Handle};
use tokio::task;

use super::registry::{self, Serving};
use super::{Driver, Home};

/// Tasks that a thread remembers; direct-mapped by task id.
const TASKS: usize = 1024;

/// A shard for a timer to be created.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub(crate) home: &'static Home,
    pub(crate) generation: u32,
    pub(crate) certainty: Certainty,
}

/// Whether a shard is one of the current runtime.
#[derive(Clone, Copy)]
pub(crate) enum Certainty {
    /// It is.
    Known,
    /// It was found by task id alone. The task's waker, by its data pointer,
    /// vouches for it if there is one; see above.
    Assumed { voucher: usize },
}

#[derive(Clone, Copy)]
struct Task {
    id: task::Id,
    home: &'static Home,
    generation: u32,
    /// The data pointer of a waker that the task was polled with while its
    /// runtime was known to be the current one; 0 before that.
    waker: usize,
}

#[derive(Clone, Copy)]
struct Thread {
    runtime: runtime::Id,
    home: &'static Home,
    generation: u32,
}

thread_local! {
    static THREAD: Cell<Option<Thread>> = const { Cell::new(None) };
    static TABLE: [Cell<Option<Task>>; TASKS] = const { [const { Cell::new(None) }; TASKS] };
}

/// The current thread's shard of the current runtime's driver.
///
/// # Panics
///
/// Without a runtime, or in one without timers: tokio's message, caller's line.
#[inline]
#[track_caller]
pub(crate) fn current() -> Found {
    if let Some(id) = task::try_id() {
        if let Some(task) = recall(id) {
            return task.found();
        }
        let found = look_up(&Handle::current());
        remember(id, found, 0);
        return found;
    }
    look_up(&Handle::current())
}

/// Where a timer belongs that was assumed to belong to `found`, and is polled
/// for the first time with a waker that does not vouch for it.
#[cold]
pub(crate) fn check(found: Found, waker: &Waker) -> Found {
    let Ok(handle) = Handle::try_current() else {
        return found;
    };
    let really = look_up(&handle);
    if std::ptr::eq(really.home.driver, found.home.driver) {
        if let Some(id) = task::try_id() {
            remember(id, found, waker.data() as usize);
        }
        return found;
    }
    really
}

/// The thread's shard of a driver that is known.
pub(crate) fn home_in(serving: Serving) -> &'static Home {
    let cached = THREAD
        .get()
        .filter(|thread| std::ptr::eq(thread.home.driver, serving.driver));
    cached.map_or_else(|| serving.driver.assign(), |thread| thread.home)
}

/// Makes `home` the shard that this thread tries first from now on: the one it
/// had was busy.
#[cold]
pub(crate) fn move_to(home: &'static Home, generation: u32) {
    let thread = THREAD.get();
    if let Some(thread) = thread.filter(|thread| same_driver(thread.home, home)) {
        THREAD.set(Some(Thread {
            home,
            generation,
            ..thread
        }));
    }
    let task = task::try_id().and_then(recall);
    if let Some(task) = task.filter(|task| same_driver(task.home, home)) {
        with_slot(task.id, |slot| {
            slot.set(Some(Task {
                home,
                generation,
                ..task
            }))
        });
    }
}

fn same_driver(a: &Home, b: &Home) -> bool {
    std::ptr::eq::<Driver>(a.driver, b.driver)
}

#[track_caller]
fn look_up(handle: &Handle) -> Found {
    let runtime = handle.id();
    if let Some(thread) = THREAD.get().filter(|thread| thread.serves(runtime)) {
        return Found {
            home: thread.home,
            generation: thread.generation,
            certainty: Certainty::Known,
        };
    }
    let Serving { driver, generation } = registry::of(handle);
    let home = driver.assign();
    THREAD.set(Some(Thread {
        runtime,
        home,
        generation,
    }));
    Found {
        home,
        generation,
        certainty: Certainty::Known,
    }
}

impl Thread {
    fn serves(&self, runtime: runtime::Id) -> bool {
        self.runtime == runtime && self.home.shard.serves(self.generation)
    }
}

impl Task {
    #[inline]
    fn found(&self) -> Found {
        Found {
            home: self.home,
            generation: self.generation,
            certainty: Certainty::Assumed {
                voucher: self.waker,
            },
        }
    }
}

#[inline]
fn recall(id: task::Id) -> Option<Task> {
    with_slot(id, Cell::get).filter(|task| task.id == id && task.home.shard.serves(task.generation))
}

fn remember(id: task::Id, found: Found, waker: usize) {
    let Found {
        home, generation, ..
    } = found;
    with_slot(id, |slot| {
        slot.set(Some(Task {
            id,
            home,
            generation,
            waker,
        }))
    });
}

#[inline]
fn with_slot<R>(id: task::Id, f: impl FnOnce(&Cell<Option<Task>>) -> R) -> R {
    let mut hasher = Number(0);
    id.hash(&mut hasher);
    let index = hasher.finish() as usize % TASKS;
    TABLE.with(|table| f(&table[index]))
}

/// Takes a task id's number as it is: ids are handed out one by one, so their
/// low bits spread well.
struct Number(u64);

impl Hasher for Number {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
