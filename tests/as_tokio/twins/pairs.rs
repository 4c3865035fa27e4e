//! A timer that is made in one context and awaited in another does what Tokio's does, even after a runtime has ended.
//!
//! A timer is made in one runtime and polled in another, or in the same. A third runtime, the *host*, has workers and
//! keeps running: wrapped and nested contexts run on its workers. A case is a context in which timers are made. It runs
//! all contexts in which they are awaited side by side.

use super::prelude::*;

use futures::executor::block_on as wait;
use tokio_util::context::TokioContext;

const FIRED: &str = "fired";

/// Where a future runs, as far as a runtime is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    BlockOn,
    Task,
    Blocking,
    /// On a plain thread, under the runtime's guard.
    Entered,
    InLocalSet,
    /// In `block_in_place`, in a task of the host.
    Nested,
    /// In a task of the host, wrapped in the runtime's context.
    Wrapped,
    /// In a task of the host.
    OnHost,
    /// Outside any runtime.
    Outside,
}

use Place::{BlockOn, Blocking, Entered, InLocalSet, Nested, OnHost, Outside, Task, Wrapped};

const PLACES: [Place; 9] = [
    BlockOn, Task, Blocking, Entered, InLocalSet, Nested, Wrapped, OnHost, Outside,
];

impl Place {
    fn run<R: Send + 'static>(
        self,
        runtime: &Handle,
        host: &Handle,
        work: impl Future<Output = R> + Send + 'static,
    ) -> Result<R, String> {
        let handle = runtime.clone();
        match self {
            BlockOn => tried(|| runtime.block_on(work)),
            Task => wait(joined(runtime.spawn(work))),
            Blocking => {
                let task = runtime.spawn_blocking(move || Handle::current().block_on(work));
                wait(joined(task))
            }
            Entered => tried(|| inside(runtime, || wait(work))),
            InLocalSet => {
                let local = LocalSet::new();
                let work = local.run_until(async { joined(spawn_local(work)).await });
                tried(|| runtime.block_on(work)).and_then(identity)
            }
            Nested => {
                let work = async move { block_in_place(|| handle.block_on(work)) };
                wait(joined(host.spawn(work)))
            }
            Wrapped => wait(joined(host.spawn(TokioContext::new(work, handle)))),
            OnHost => wait(joined(host.spawn(work))),
            Outside => tried(|| wait(work)),
        }
    }

    fn is_on_the_host(self) -> bool {
        matches!(self, Nested | Wrapped | OnHost)
    }
}

/// Which of the runtimes ends between making and awaiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    Neither,
    Makers,
    Pollers,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    makes: Place,
    maker: Kind,
    /// `None` if the timer is awaited in the runtime in which it is made.
    poller: Option<Kind>,
    ends: Ends,
}

fn cases() -> Vec<Case> {
    let pollers = [None, Some(Current), Some(One)];
    let ends = [Ends::Neither, Ends::Makers, Ends::Pollers];
    let mut cases = Vec::new();
    for (makes, maker, (poller, ends)) in
        cross3(PLACES, [Current, Local, One], cross(pollers, ends))
    {
        if makes != Outside && (poller.is_some() || ends != Ends::Pollers) {
            cases.push(Case {
                makes,
                maker,
                poller,
                ends,
            });
        }
    }
    cases
}

fn entry<T: Time>(case: Case, awaits: Place, registered: bool) -> String {
    let host = if case.maker == One { Two } else { One }.driven();
    let (maker, poller) = (case.maker.driven(), case.poller.map(Kind::driven));
    let handle = poller.as_ref().unwrap_or(&maker).handle.clone();
    let make = async move {
        let mut sleep = T::boxed(ms(5));
        let _pending = registered.then(|| poll_quietly(&mut sleep));
        sleep
    };
    let sleep = case.makes.run(&maker.handle, &host.handle, make);
    let (mut maker, mut poller) = (Some(maker), poller);
    match case.ends {
        Ends::Neither => {}
        Ends::Makers => maker.take().unwrap().end(),
        Ends::Pollers => poller.take().unwrap().end(),
    }
    let polled = awaits.run(&handle, &host.handle, sleep.unwrap());
    for driven in [maker, poller, Some(host)].into_iter().flatten() {
        driven.end();
    }
    polled.map_or_else(|words| words, |()| FIRED.to_owned())
}

/// The results of all entries of a case, one per line. Each entry runs on a thread of its own.
struct Row(Vec<String>);

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}

fn row<T: Time>(case: Case) -> Row {
    let begin = |(awaits, registered)| {
        thread::spawn(move || {
            let end = tried(|| entry::<T>(case, awaits, registered));
            format!("awaited in {awaits:?}, registered: {registered}: {end:?}")
        })
    };
    let entries: Vec<_> = entries().into_iter().map(begin).collect();
    let lines = entries.into_iter().map(|entry| entry.join().unwrap());
    Row(lines.collect())
}

fn entries() -> Vec<(Place, bool)> {
    cross(PLACES, [false, true])
}

/// If Tokio's timer panics because its runtime has ended, ours may continue in another runtime instead.
fn is_right(case: Case, awaits: Place, theirs: &str, ours: &str) -> bool {
    if case.ends != Ends::Makers || !theirs.contains(SHUT_DOWN) {
        return theirs == ours;
    }
    let fired = ours.contains(FIRED);
    if awaits == OnHost || (case.poller.is_some() && awaits != Outside) {
        return fired;
    }
    let is_on_the_host = case.makes.is_on_the_host() || awaits.is_on_the_host();
    theirs == ours || (fired && is_on_the_host)
}

#[test]
fn timers_made_anywhere_are_awaited_anywhere() {
    let are_right = |case, theirs: &Outcome, ours: &Outcome| {
        let lines = theirs.end.lines().zip(ours.end.lines()).skip(1);
        let lines: Vec<_> = lines.collect();
        let is_right = |((awaits, _), (theirs, ours))| is_right(case, awaits, theirs, ours);
        lines.len() == entries().len() && entries().into_iter().zip(lines).all(is_right)
    };
    compare(cases(), row::<Tokio>, row::<Ours>, are_right);
}
