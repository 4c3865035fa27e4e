//! The state that all tasks of a running program share: runtimes and their clocks, timers on a shelf, handles
//! of tasks, and the trace.

use support::prelude::*;

use tokio::runtime::Builder;
use tokio::task::JoinHandle;
use tokio::time::advance;

use super::program::{Program, Style};
use super::rules;
use super::trace::Event;
use super::watchdog::{QUIET, Stop};
use support::time::Time;

/// Each clock is set on by so much before a program begins, so that deadlines may lie before the program.
const START: Duration = Duration::from_millis(160);
/// Milliseconds are dealt out to so many tasks, in turn, by two.
pub(crate) const LANES: usize = 8;

pub(crate) struct World<T: Time> {
    pub(crate) style: Style,
    pub(crate) tasks: Vec<Vec<super::program::Op>>,
    pub(crate) handles: Vec<Handle>,
    epochs: Vec<Instant>,
    /// Out while they are driven, or ended.
    runtimes: Mutex<Vec<Option<Runtime>>>,
    pub(crate) shelf: Mutex<Vec<Option<Shelved<T>>>>,
    pub(crate) spawned: Mutex<Vec<Option<JoinHandle<()>>>>,
    events: Mutex<Vec<Event>>,
    pub(crate) stop: Stop,
}

/// A timer, and the runtime that made the timer.
pub(crate) struct Shelved<T: Time> {
    pub(crate) sleep: Pin<Box<T::Sleep>>,
    pub(crate) owner: usize,
}

impl<T: Time> World<T> {
    pub(crate) fn new(program: &Program) -> Self {
        let (runtimes, epochs) = runtimes(program.runtimes, program.offset);
        World {
            style: program.style,
            tasks: program.tasks.clone(),
            handles: runtimes.iter().map(|rt| rt.handle().clone()).collect(),
            epochs,
            runtimes: Mutex::new(runtimes.into_iter().map(Some).collect()),
            shelf: Mutex::new((0..8).map(|_| None).collect()),
            spawned: Mutex::new(program.tasks.iter().map(|_| None).collect()),
            events: Mutex::default(),
            stop: Stop::of_this_thread(),
        }
    }

    /// The runtime whose context this is.
    pub(crate) fn here(&self) -> Option<usize> {
        let id = Handle::try_current().ok()?.id();
        self.handles.iter().position(|handle| handle.id() == id)
    }

    pub(crate) fn now(&self, rt: usize) -> Instant {
        inside(&self.handles[rt], Instant::now)
    }

    /// In half milliseconds: clocks differ by less.
    pub(crate) fn since_start(&self, rt: usize, instant: Instant) -> i128 {
        let base = self.epochs[rt] - START;
        let nanos = instant.saturating_duration_since(base).as_nanos() as i128;
        (nanos - START.as_nanos() as i128).div_euclid(500_000)
    }

    /// Whether tokio counts the deadline as passed, in whole milliseconds since the runtime began.
    pub(crate) fn has_passed(&self, rt: usize, deadline: Instant) -> bool {
        let began = self.epochs[rt] - START;
        let due = deadline.saturating_duration_since(began).as_nanos();
        (self.now(rt) - began).as_millis() >= due.div_ceil(1_000_000)
    }

    pub(crate) fn record(&self, task: usize, path: &[usize], what: impl Into<String>) {
        let clock = self.here();
        let at = clock.map_or(0, |rt| self.since_start(rt, Instant::now()));
        self.events.lock().unwrap().push(Event {
            clock,
            at,
            task,
            path: path.to_vec(),
            what: what.into(),
        });
    }

    pub(crate) fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap())
    }

    pub(crate) fn take_runtime(&self, rt: usize) -> Option<Runtime> {
        self.runtimes.lock().unwrap()[rt].take()
    }

    pub(crate) fn put_back(&self, rt: usize, runtime: Runtime) {
        self.runtimes.lock().unwrap()[rt] = Some(runtime);
    }

    /// The next deadline from there on that lies in a millisecond of the task's own.
    pub(crate) fn in_lane(&self, task: usize, rt: usize, deadline: Instant) -> Instant {
        let now = self.now(rt);
        if self.style != Style::Lanes || deadline <= now {
            return deadline;
        }
        let tick = |instant: Instant| {
            let since = instant.saturating_duration_since(self.epochs[rt] - START);
            since.as_nanos().div_ceil(1_000_000)
        };
        let lane = (task % LANES) as u128;
        let mut deadline = deadline;
        while tick(deadline) / 2 % LANES as u128 != lane {
            deadline += Duration::from_millis(1);
        }
        deadline
    }
}

impl<T: Time> Drop for World<T> {
    fn drop(&mut self) {
        self.handles.iter().for_each(rules::has_ended);
    }
}

/// Runtimes whose clocks show the same instant but for less than half a millisecond, each a whole
/// number of milliseconds, and the offset, after its runtime's beginning.
fn runtimes(count: usize, offset: Duration) -> (Vec<Runtime>, Vec<Instant>) {
    let first = paused();
    let base = begin(&first);
    let mut all = vec![(first, START)];
    while all.len() < count {
        let next = paused();
        let nanos = (begin(&next) - base).as_nanos() as u64;
        let (millis, rest) = (nanos / 1_000_000, nanos % 1_000_000);
        // Real time goes on while they are built: a runtime that does not fit is built again.
        if (1_000..400_000).contains(&rest) {
            let ahead = START.saturating_sub(Duration::from_millis(millis));
            assert!(!ahead.is_zero(), "too slow a machine");
            all.push((next, ahead));
        }
    }
    let set = |(rt, ahead): (Runtime, Duration)| {
        rules::began(rt.handle(), begin(&rt));
        rt.block_on(advance(ahead + offset));
        let epoch = begin(&rt) - offset;
        (rt, epoch)
    };
    all.into_iter().map(set).unzip()
}

fn paused() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .thread_name(QUIET)
        .build()
        .unwrap()
}

fn begin(rt: &Runtime) -> Instant {
    inside(rt.handle(), Instant::now)
}
