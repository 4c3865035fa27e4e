//! Programs in real time on multi-thread runtimes. There, the driver binds threads to workers, and a bound thread makes
//! timers of its worker's runtime.
//!
//! | file | contents |
//! | --- | --- |
//! | `mod.rs` | runs the programs of a batch of seeds side by side, and compares them |
//! | `generate.rs` | generates a program from a seed |
//!
//! No program depends on how long anything takes, because that depends on the machine. A race is always between a wait
//! that ends soon and a wait of an hour. The test compares the events of each task, in the task's own order. It also
//! checks that no timer is early, and that every program ends.
//!
//! `SEED=7 SEEDS=1 cargo test --test as_tokio random::real -- --nocapture` runs a single program.

mod generate;

use support::prelude::*;

use tokio::runtime::worker_index;

use crate::random::program::Step;
use crate::random::task::Place;
use crate::random::trace::Trace;
use crate::random::world::World;
use crate::random::{be_precise, seeds};

/// Number of programs that run side by side, so that workers are busy and tasks are stolen.
const BATCH: u64 = 50;
/// The limit for a batch, which takes a fraction of a second, or some seconds on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A runtime in which only probes make timers.
pub(crate) struct Quiet {
    handle: Handle,
    /// The runtime's driver, locked while a probe counts its timers.
    wheel: Mutex<Timers>,
    probes: AtomicUsize,
    /// Number of probes whose timer was the worker's, because the thread was bound.
    bound: AtomicUsize,
}

impl Quiet {
    fn new(handle: &Handle) -> Arc<Self> {
        Arc::new(Quiet {
            handle: handle.clone(),
            wheel: Mutex::new(inside(handle, Timers::current)),
            probes: AtomicUsize::new(0),
            bound: AtomicUsize::new(0),
        })
    }

    /// On a worker, makes a timer inside this runtime's `enter()`, polls it outside, and checks which runtime it belongs
    /// to: the worker's, if the thread is bound to its worker, or else this one, whose handle was current.
    pub(crate) fn probe<T: Time>(&self, waker: &Waker) -> Poll<()> {
        if worker_index().is_none() {
            return Poll::Ready(());
        }
        // Only one probe runs at a time, so a timer that is pending there is this probe's.
        let wheel = self.wheel.lock().unwrap();
        let sleep = armed_with(inside(&self.handle, || T::boxed(HOUR)), waker);
        self.probes.fetch_add(1, Ordering::Relaxed);
        if wheel.metrics().snapshot().pending == 0 {
            self.bound.fetch_add(1, Ordering::Relaxed);
        }
        drop(sleep);
        assert_eq!(wheel.metrics().snapshot().pending, 0);
        Poll::Ready(())
    }
}

/// Runs the programs of these seeds side by side, each in a task of one of two runtimes, and returns their traces.
fn batch<T: Time>(seeds: Range<u64>, prepare: fn(&Handle)) -> (Vec<Trace>, Arc<Quiet>) {
    // There are many blocking threads, because some of them wait for others.
    let many = with_workers(2).max_blocking_threads(4096).build().unwrap();
    let runtimes = [many, multi_thread(3), multi_thread(1)];
    let [one, two, quiet] = runtimes.each_ref().map(Runtime::handle);
    let quiet = Quiet::new(quiet);
    [one, two].into_iter().for_each(prepare);
    let handles = vec![one.clone(), two.clone()];
    let begin = |seed| {
        let program = generate::program(seed);
        let mut world = World::<T>::new(&program, handles.clone(), Default::default());
        world.quiet = Some(quiet.clone());
        let world = Arc::new(world);
        for step in program.steps {
            if let Step::Spawn(task, rt) = step {
                Place::thread(&world).spawn(task, Some(rt));
            }
        }
        world
    };
    let worlds: Vec<_> = seeds.map(begin).collect();
    let end = |world: Arc<World<T>>| {
        let task = world.spawned.lock().unwrap().pop().flatten();
        executor::block_on(task.unwrap()).expect("the interpreter does not panic");
        Trace::new(world.take_events())
    };
    let traces = worlds.into_iter().map(end).collect();
    for runtime in [one, two].into_iter().filter(|_| T::OURS) {
        assert_balanced(&inside(runtime, wheel::metrics).snapshot());
    }
    runtimes.into_iter().for_each(Runtime::shutdown_background);
    (traces, quiet)
}

#[test]
fn programs_on_workers_do_what_they_do_with_tokio() {
    let mut failed = Vec::new();
    let (mut bound, mut probes) = (0, 0);
    let all = seeds(1000);
    for first in all.clone().step_by(BATCH as usize) {
        let seeds = first..all.end.min(first + BATCH);
        let of_tokio = seeds.clone();
        let (theirs, _) = within(PATIENCE, || batch::<Tokio>(of_tokio, |_| ()));
        for prepare in [|_: &Handle| (), be_precise] {
            let of_wheel = seeds.clone();
            let (ours, quiet) = within(PATIENCE, move || batch::<Ours>(of_wheel, prepare));
            bound += quiet.bound.load(Ordering::Relaxed);
            probes += quiet.probes.load(Ordering::Relaxed);
            for (seed, (theirs, ours)) in seeds.clone().zip(theirs.iter().zip(&ours)) {
                if theirs != ours {
                    let program = generate::program(seed);
                    let difference = theirs.difference(ours);
                    failed.push(format!("seed {seed}: {program}{difference}"));
                }
            }
        }
    }
    println!("{bound} of {probes} probes ran on a thread that was bound");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(probes > 0, "no program has made a probe");
    let some = bound * 10 > probes;
    assert!(some, "the thread was bound at {bound} of {probes} probes");
}

/// The comparison means something, because the programs have all kinds of events.
#[test]
fn programs_have_all_kinds_of_events() {
    let (traces, _) = batch::<Tokio>(0..BATCH, |_| ());
    let said: String = traces.iter().map(Trace::to_string).collect();
    let all = "slept, in time, elapsed, tick, branch 0, all done, it is done, joined, \
        was cancelled, was dropped, has finished, in place";
    for what in all.split(", ") {
        assert!(said.contains(what), "no program has the event {what}");
    }
    assert!(
        !said.contains("early") && !said.contains("panicked"),
        "{said}"
    );
}
