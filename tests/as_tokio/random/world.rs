//! The state that all tasks of a running program share: runtimes and their clocks, the shelf, handles of tasks, and the
//! trace.

use support::prelude::*;

use std::collections::HashMap;

use super::program::{Body, Program, Slot, Style};
use super::real::Quiet;
use super::trace::Event;

/// How far each paused clock is advanced before a program begins, so that deadlines may lie before the program.
pub(crate) const START: Duration = Duration::from_millis(160);
/// Number of lanes. Each task has a lane of its own: two milliseconds out of every sixteen.
pub(crate) const LANES: usize = 8;

pub(crate) struct World<T: Time> {
    pub(crate) style: Style,
    pub(crate) tasks: Vec<Body>,
    pub(crate) handles: Vec<Handle>,
    /// When the program began, by each clock.
    epochs: Vec<Instant>,
    /// `None` while the runtime is being driven, and after it has ended.
    runtimes: Mutex<Vec<Option<Runtime>>>,
    pub(crate) shelf: Mutex<HashMap<Slot, Shelved<T>>>,
    pub(crate) spawned: Mutex<Vec<Option<JoinHandle<()>>>>,
    events: Mutex<Vec<Event>>,
    /// The runtime for probes. Only programs for workers have one.
    pub(crate) quiet: Option<Arc<Quiet>>,
}

/// A timer, and the runtime in which it was made.
pub(crate) struct Shelved<T: Time> {
    pub(crate) sleep: Pin<Box<T::Sleep>>,
    pub(crate) owner: usize,
}

impl<T: Time> World<T> {
    /// Takes the runtimes of a program, if it has its own, and the instants on their clocks at which it begins.
    pub(crate) fn new(
        program: &Program,
        handles: Vec<Handle>,
        (runtimes, epochs): (Vec<Option<Runtime>>, Vec<Instant>),
    ) -> Self {
        World {
            style: program.style,
            tasks: program.tasks.clone(),
            handles,
            epochs,
            runtimes: Mutex::new(runtimes),
            shelf: Mutex::default(),
            spawned: Mutex::new(program.tasks.iter().map(|_| None).collect()),
            events: Mutex::default(),
            quiet: None,
        }
    }

    /// Returns the current runtime, if it is one of the program's.
    pub(crate) fn here(&self) -> Option<usize> {
        let id = Handle::try_current().ok()?.id();
        self.handles.iter().position(|handle| handle.id() == id)
    }

    /// Returns the same if clocks are paused, and so can be compared.
    pub(crate) fn clock_here(&self) -> Option<usize> {
        self.here().filter(|_| self.style != Style::Workers)
    }

    pub(crate) fn now(&self, rt: usize) -> Instant {
        inside(&self.handles[rt], Instant::now)
    }

    /// Returns the time in half milliseconds, because clocks differ by less than that.
    pub(crate) fn since_start(&self, rt: usize, instant: Instant) -> i128 {
        let base = self.epochs[rt] - START;
        let nanos = instant.saturating_duration_since(base).as_nanos() as i128;
        (nanos - START.as_nanos() as i128).div_euclid(500_000)
    }

    pub(crate) fn record(&self, task: usize, path: &[usize], what: impl Into<String>) {
        let clock = self.clock_here();
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

    /// Returns the first deadline from `deadline` on that lies in the task's lane.
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
