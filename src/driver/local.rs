//! Finding the driver again without touching anything shared.
//!
//! `Handle::current()` writes a counter that all workers of a runtime share, so
//! it is asked once or twice per task and thread, not per timer. After that a task
//! finds its shard in a small table of its thread, by its task id; and what was found
//! there last is at hand, for a task that arms one timer after the other.
//!
//! # What the task id does not say
//!
//! Inside `block_in_place(|| other.block_on(..))` the task id is still that of
//! the task outside, though the timer belongs to the runtime inside. But such a
//! timer is not polled with the task's own waker, which is known by tokio's
//! vtable for tasks. So:
//!
//! * A task's first timer asks for the runtime. Later ones are *assumed* to belong
//!   to the same until they are first polled.
//! * The task's own waker, once that has been checked with it, *vouches* for the
//!   task. With any other waker, and before a `reset` that comes first, it is
//!   checked, and a timer that turns out to be another runtime's moves there.
//! * A task whose first timer is polled with another waker, or one of whose
//!   timers had to move, is *distrusted*: its timers ask for the runtime, until
//!   its own waker vouches for it.
//! * A timer that was made in one task and is first polled in another, or in
//!   none, stays where it is.
//!
//! What remains: in a task that has used timers before, and is not distrusted, a
//! timer goes to the task's own runtime if it is made inside
//! `let _guard = other.enter();`, or inside a nested `block_on` which it leaves
//! before any timer has been polled there. An explicit
//! [`Wheel`](crate::Wheel) is exact everywhere.

use std::cell::{Cell, OnceCell};
use std::hash::{Hash, Hasher};
use std::task::Waker;

use tokio::runtime::{self, Handle};
use tokio::task;

use super::registry::{self, Serving};
use super::{Driver, Home, spare, vtable};

/// No waker's data pointer: the task has not been met yet.
const NOBODY: usize = usize::MAX;
/// Nor is this: the task has polled a timer with another waker than its own.
const DISTRUSTED: usize = usize::MAX - 1;
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
    /// It is, and the waker that it is polled with tells whether to trust the task.
    Unvouched,
    /// It was found by task id alone. The task's waker, by its data pointer,
    /// vouches for it if there is one; see above.
    Assumed { voucher: usize },
}

#[derive(Clone, Copy)]
struct Task {
    id: task::Id,
    home: &'static Home,
    generation: u32,
    /// The data pointer of the task's own waker, if it vouches for the runtime;
    /// else [`NOBODY`] or [`DISTRUSTED`].
    waker: usize,
}

#[derive(Clone, Copy)]
struct Thread {
    runtime: runtime::Id,
    home: &'static Home,
    generation: u32,
}

thread_local! {
    /// The shard of the driver last used through a `Wheel`.
    static EXPLICIT: Cell<Option<&'static Home>> = const { Cell::new(None) };
    static THREAD: Cell<Option<Thread>> = const { Cell::new(None) };
    /// The task that was looked for last.
    static LAST: Cell<Option<Task>> = const { Cell::new(None) };
    /// Allocated by threads that use timers in tasks: 32 KiB.
    static TABLE: OnceCell<Box<[Cell<Option<Task>>]>> = const { OnceCell::new() };
}

/// The current thread's shard of the current runtime's driver.
///
/// # Panics
///
/// Without a runtime, or in one without timers: tokio's message, caller's line.
#[inline]
#[track_caller]
pub(crate) fn current() -> Found {
    let id = task::try_id();
    if let (Some(id), Some(task)) = (id, LAST.get()) {
        if task.is(id) && task.waker != DISTRUSTED {
            return task.found();
        }
    }
    find(id)
}

/// For another task than the last one, or where the runtime has to be asked for.
#[inline(never)]
#[track_caller]
fn find(id: Option<task::Id>) -> Found {
    let Some(id) = id else {
        return look_up(&Handle::current());
    };
    let task = recall(id);
    if let Some(task) = task.filter(|task| task.waker != DISTRUSTED) {
        return task.found();
    }
    let mut found = look_up(&Handle::current());
    found.certainty = Certainty::Unvouched;
    if task.is_none() {
        remember(id, found, NOBODY);
    }
    found
}

/// Where a timer belongs that was assumed to belong to `found`, and is polled
/// for the first time with a waker that does not vouch for it, or reset.
#[cold]
pub(crate) fn check(found: Found, waker: Option<&Waker>) -> Found {
    let Some(task) = task::try_id().and_then(recall) else {
        return found;
    };
    if !same_driver(task.home, found.home) {
        return found;
    }
    let Ok(handle) = Handle::try_current() else {
        return found;
    };
    let really = look_up(&handle);
    if !same_driver(really.home, found.home) {
        remember(task.id, found, DISTRUSTED);
        return really;
    }
    if let Some(waker) = waker {
        task.meet(waker);
    }
    found
}

/// Tells by the waker that a timer of a task is polled with for the first time
/// whether the task may be trusted.
#[inline]
pub(crate) fn vouch(found: Found, waker: &Waker) {
    let Some(task) = task::try_id().and_then(recall) else {
        return;
    };
    // Most tasks have but one timer: nothing is asked for its sake.
    if task.waker != NOBODY || !vtable::is_of_a_task(waker) {
        vouch_again(task, found, waker);
    }
}

#[cold]
fn vouch_again(task: Task, found: Found, waker: &Waker) {
    let Ok(handle) = Handle::try_current() else {
        return;
    };
    if same_driver(look_up(&handle).home, found.home) {
        task.meet(waker);
    }
}

/// The thread's shard of a driver that is known.
pub(crate) fn home_in(serving: Serving) -> &'static Home {
    let is_its = |home: &&'static Home| std::ptr::eq(home.driver, serving.driver);
    let usual = THREAD.get().map(|thread| thread.home);
    if let Some(home) = usual.filter(is_its).or(EXPLICIT.get().filter(is_its)) {
        return home;
    }
    let home = serving.driver.assign();
    EXPLICIT.set(Some(home));
    home
}

/// The current thread's shard of the same driver, if it has one.
#[inline]
pub(crate) fn own(home: &'static Home) -> &'static Home {
    let usual = THREAD.get().map(|thread| thread.home);
    usual
        .filter(|usual| same_driver(usual, home))
        .unwrap_or(home)
}

/// Makes `home` the shard that this thread tries first from now on: the one it
/// had was busy.
#[cold]
pub(crate) fn move_to(home: &'static Home, generation: u32) {
    let thread = THREAD.get();
    let same = |thread: &Thread| same_driver(thread.home, home) && thread.generation == generation;
    if let Some(thread) = thread.filter(same) {
        spare::claim(home);
        THREAD.set(Some(Thread {
            home,
            generation,
            ..thread
        }));
    }
    if EXPLICIT
        .get()
        .is_some_and(|explicit| same_driver(explicit, home))
    {
        EXPLICIT.set(Some(home));
    }
    let task = task::try_id().and_then(recall);
    if let Some(task) = task.filter(|task| same_driver(task.home, home)) {
        let moved = Task {
            home,
            generation,
            ..task
        };
        moved.store();
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
    spare::claim(home);
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
    fn is(&self, id: task::Id) -> bool {
        self.id == id && self.home.shard.serves(self.generation)
    }

    /// Its shard, if the task is trusted.
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

    /// The task polls a timer of the runtime that it is thought to be of.
    fn meet(self, waker: &Waker) {
        let voucher = if vtable::is_of_a_task(waker) {
            waker.data() as usize
        } else if self.waker == NOBODY {
            DISTRUSTED
        } else {
            return;
        };
        let met = Task {
            waker: voucher,
            ..self
        };
        met.store();
    }

    /// In both places, so that neither is out of date.
    fn store(self) {
        LAST.set(Some(self));
        with_slot(self.id, |slot| slot.set(Some(self)));
    }
}

#[inline]
fn recall(id: task::Id) -> Option<Task> {
    if let Some(task) = LAST.get().filter(|task| task.is(id)) {
        return Some(task);
    }
    let task = with_slot(id, Cell::get)?.filter(|task| task.is(id))?;
    LAST.set(Some(task));
    Some(task)
}

fn remember(id: task::Id, found: Found, waker: usize) {
    let Found {
        home, generation, ..
    } = found;
    let task = Task {
        id,
        home,
        generation,
        waker,
    };
    task.store();
}

/// A task's slot in the table, unless the thread is about to end.
#[inline]
fn with_slot<R>(id: task::Id, f: impl FnOnce(&Cell<Option<Task>>) -> R) -> Option<R> {
    let mut hasher = Number(0);
    id.hash(&mut hasher);
    let index = hasher.finish() as usize % TASKS;
    let at = |table: &OnceCell<Box<[_]>>| f(&table.get_or_init(new_table)[index]);
    TABLE.try_with(at).ok()
}

#[cold]
fn new_table() -> Box<[Cell<Option<Task>>]> {
    (0..TASKS).map(|_| Cell::new(None)).collect()
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
