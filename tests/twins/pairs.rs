//! Made in each context and awaited in each, while the runtimes live or one of them has ended.
//!
//! One runtime is the maker's, the other the poller's, or both are one. A third, the stranger, is
//! multi-threaded and lives on: what is wrapped or nested runs on its worker. A test is a context
//! in which timers are made, and runs all contexts in which they are awaited, side by side.

use std::convert::identity;
use std::fmt;
use std::future::Future;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::block_on as wait;
use tokio::runtime::Handle;
use tokio::task::{LocalSet, block_in_place, spawn_local};
use tokio_util::context::TokioContext;

use crate::outcome::End;
use crate::runtimes::{Current, Kind, One, joined};
use crate::time::Time;
use crate::twin::tried;
use support::{SHUT_DOWN, ms, poll_quietly};

/// Longer than an entry takes by far, and less than all of them may take together.
const LIMIT: Duration = Duration::from_secs(4);
const FIRED: &str = "fired";

/// Where a future runs, as far as a runtime is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    BlockOn,
    Task,
    Blocking,
    /// On a plain thread, under the runtime's guard.
    Entered,
    Local,
    /// In a task of the stranger, in place.
    Nested,
    /// In a task of the stranger, in the runtime's context.
    Wrapped,
    /// Of any runtime.
    Outside,
}

use Place::{BlockOn, Blocking, Entered, Local, Nested, Outside, Task, Wrapped};

const PLACES: [Place; 8] = [
    BlockOn, Task, Blocking, Entered, Local, Nested, Wrapped, Outside,
];

impl Place {
    fn run<R: Send + 'static>(
        self,
        runtime: &Handle,
        stranger: &Handle,
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
            Entered => tried(|| {
                let _guard = runtime.enter();
                wait(work)
            }),
            Local => {
                let local = LocalSet::new();
                let work = local.run_until(async { joined(spawn_local(work)).await });
                tried(|| runtime.block_on(work)).and_then(identity)
            }
            Nested => {
                let work = async move { block_in_place(|| handle.block_on(work)) };
                wait(joined(stranger.spawn(work)))
            }
            Wrapped => wait(joined(stranger.spawn(TokioContext::new(work, handle)))),
            Outside => tried(|| wait(work)),
        }
    }

    fn is_the_strangers(self) -> bool {
        matches!(self, Nested | Wrapped)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runtimes {
    /// Made and awaited in the same.
    One(Kind),
    Two(Kind, Kind),
}

/// Which of them ends between making and awaiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    Neither,
    Makers,
    Pollers,
}

fn entry<T: Time>(
    makes: Place,
    awaits: Place,
    runtimes: Runtimes,
    ends: Ends,
    registered: bool,
) -> String {
    let stranger = One.driven();
    let (maker, poller) = match runtimes {
        Runtimes::One(kind) => (kind.driven(), None),
        Runtimes::Two(one, two) => (one.driven(), Some(two.driven())),
    };
    let make = async move {
        let mut sleep = T::boxed(ms(5));
        let _pending = registered.then(|| poll_quietly(&mut sleep));
        sleep
    };
    let sleep = makes.run(&maker.handle, &stranger.handle, make);
    let handle = poller.as_ref().unwrap_or(&maker).handle.clone();
    let (mut maker, mut poller) = (Some(maker), poller);
    match ends {
        Ends::Neither => {}
        Ends::Makers => maker.take().unwrap().end(),
        Ends::Pollers => poller.take().unwrap().end(),
    }
    let polled = awaits.run(&handle, &stranger.handle, sleep.unwrap());
    for driven in [maker, poller, Some(stranger)].into_iter().flatten() {
        driven.end();
    }
    polled.map_or_else(|words| words, |()| FIRED.to_owned())
}

/// All entries of a row, each on a thread of its own; a line each.
struct Row(Vec<String>);

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

fn row<T: Time>(makes: Place, runtimes: Runtimes, ends: Ends) -> Row {
    let mut ended = Vec::new();
    for awaits in PLACES {
        for registered in [false, true] {
            let (done, end) = mpsc::channel();
            let run = move || {
                let end = tried(|| entry::<T>(makes, awaits, runtimes, ends, registered));
                let _ = done.send(end.unwrap_or_else(|words| format!("panicked: {words}")));
            };
            thread::spawn(run);
            ended.push(end);
        }
    }
    let start = Instant::now();
    let said = ended
        .into_iter()
        .map(|end| end.recv_timeout(LIMIT.saturating_sub(start.elapsed())));
    Row(said.map(|said| said.unwrap_or("hung".to_owned())).collect())
}

/// What ours may do, or has to, where tokio's panics: the runtime of the timer has ended.
fn is_documented(
    makes: Place,
    awaits: Place,
    runtimes: Runtimes,
    tokios: &str,
    ours: &str,
) -> bool {
    let elsewhere = matches!(runtimes, Runtimes::Two(..)) && awaits != Outside;
    let strangers = makes.is_the_strangers() || awaits.is_the_strangers();
    tokios == SHUT_DOWN
        && if elsewhere {
            ours == FIRED
        } else {
            ours == SHUT_DOWN || (strangers && ours == FIRED)
        }
}

fn compare(twins: &mut crate::twin::Twins, makes: Place) {
    let kinds = [Current, One];
    let one = kinds.map(|kind| (Runtimes::One(kind), &[Ends::Neither, Ends::Makers][..]));
    let two = kinds.iter().flat_map(|&maker| {
        let all = &[Ends::Neither, Ends::Makers, Ends::Pollers][..];
        kinds.map(|poller| (Runtimes::Two(maker, poller), all))
    });
    for (runtimes, ends) in one.into_iter().chain(two) {
        for &ends in ends {
            let tokios = move || row::<crate::time::Tokio>(makes, runtimes, ends);
            let ours = move || row::<crate::time::Ours>(makes, runtimes, ends);
            let Some([tokios, ours]) = twins.both(tokios, ours) else {
                continue;
            };
            let (End::Finished(tokios), End::Finished(ours)) = (&tokios, &ours) else {
                twins.fail(format!("{runtimes:?}, {ends:?} ends\n  {tokios}\n  {ours}"));
                continue;
            };
            let entries = PLACES
                .iter()
                .flat_map(|place| [(place, false), (place, true)]);
            for ((&awaits, registered), (tokios, ours)) in
                entries.zip(tokios.lines().zip(ours.lines()))
            {
                let ended = ends == Ends::Makers && tokios == SHUT_DOWN;
                let is_right = if ended {
                    is_documented(makes, awaits, runtimes, tokios, ours)
                } else {
                    tokios == ours
                };
                if !is_right {
                    twins.fail(format!(
                        "made in {makes:?}{}, awaited in {awaits:?}, {runtimes:?}, {ends:?} ends\
                         \n  tokio: {tokios}\n  wheel: {ours}",
                        if registered { " and registered" } else { "" },
                    ));
                }
            }
        }
    }
}

macro_rules! rows {
    ($($test:ident: $place:ident,)+) => {$(
        #[test]
        fn $test() {
            compare(&mut twins!(), $place);
        }
    )+};
}

rows! {
    timers_made_in_block_on_are_awaited_anywhere: BlockOn,
    timers_made_in_a_task_are_awaited_anywhere: Task,
    timers_made_on_a_blocking_thread_are_awaited_anywhere: Blocking,
    timers_made_under_a_guard_are_awaited_anywhere: Entered,
    timers_made_in_a_local_task_are_awaited_anywhere: Local,
    timers_made_in_a_nested_block_on_are_awaited_anywhere: Nested,
    timers_made_in_a_wrapped_task_are_awaited_anywhere: Wrapped,
}
