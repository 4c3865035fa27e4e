//! Every figure there is, with the goals it is held to. Those of a kind stand beside what they run.

use crate::bytes::Bytes;
use crate::cancel::{Earliest, ReadyTimeout, RegisterCancel, Scaling};
use crate::echo::Echo;
use crate::figure::{Figure, Goals, Line, Unit, nanos};
use crate::fire::{FireCounting, FireTasks, InsertWait};
use crate::floor;
use crate::pending::{HalfHour, RandomReplace, Repoll, ResetLater, StartStop};
use crate::process::Idle;
use crate::race::{Race, race};
use crate::scrape::{unwatched, watched};
use crate::structure::{delay_queue, timing_wheel};
use crate::{cold, gateway, lateness, moving, quiet, services};

pub(crate) fn all() -> Vec<Figure> {
    [
        register_cancel(),
        cold::figures(),
        moving::figures(),
        single(),
        fired(),
        lateness::figures(),
        #[cfg(all(feature = "high-resolution", target_os = "linux"))]
        crate::precise::figures(),
        quiet::figures(),
        crowds(),
        services::figures(),
        gateway::figures(),
        resources(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn register_cancel() -> Vec<Figure> {
    const MILLION: usize = 1_000_000;
    let figure = |name, about, workers, others, goal, alt| {
        race(name, about, RegisterCancel { workers, others })
            .line(nanos("each").ratio(goal))
            .alt(Goals::Ratio(alt))
            .bare()
    };
    let alone = |race: Race<RegisterCancel>| race.pingora().rounds(11).done();
    let crowded = |race: Race<RegisterCancel>| race.rounds(5).done();
    vec![
        alone(figure(
            "register-cancel-1",
            "arm and cancel, one worker",
            1,
            0,
            2.4,
            2.5,
        )),
        alone(figure(
            "register-cancel-2",
            "arm and cancel, two workers",
            2,
            0,
            25.0,
            5.0,
        )),
        crowded(figure(
            "register-cancel-1-million",
            "one worker, 1 M pending",
            1,
            MILLION,
            2.4,
            2.5,
        )),
        crowded(figure(
            "register-cancel-2-million",
            "two workers, 1 M pending",
            2,
            MILLION,
            16.0,
            5.0,
        )),
        race("scaling-1-2", "throughput of two workers over one", Scaling)
            .line(Line::new("speed-up", Unit::Times).larger_is_better())
            .done(),
    ]
}

fn single() -> Vec<Figure> {
    vec![
        race(
            "earliest",
            "every timer earlier than all before it",
            Earliest,
        )
        .line(nanos("each").ratio(1.8))
        .bare()
        .done(),
        race(
            "ready-timeout",
            "a timeout around a ready future",
            ReadyTimeout,
        )
        .line(nanos("each").ratio(1.2))
        .bare()
        .rounds(11)
        .done(),
        race("repoll", "poll a pending timer again", Repoll)
            .line(nanos("each").ratio(10.0))
            .bare()
            .rounds(11)
            .done(),
        race("reset-later", "push a timer out and poll it", ResetLater)
            .line(nanos("each").ratio(2.5))
            .bare()
            .rounds(11)
            .done(),
    ]
}

fn fired() -> Vec<Figure> {
    vec![
        race(
            "fire-million-counting",
            "CPU to fire a million counting wakers",
            FireCounting,
        )
        .line(nanos("each").ratio(1.8))
        .rounds(5)
        .done(),
        race(
            "fire-million-tasks",
            "CPU to wake a million sleeping tasks",
            FireTasks,
        )
        .line(nanos("each").ratio(1.2))
        .bare_as(floor::fire_tasks)
        .rounds(3)
        .done(),
        race(
            "insert-wait",
            "arm and cancel while a million timers fire",
            InsertWait,
        )
        .line(nanos("p99.99").ratio(400.0))
        .line(nanos("longest").at_most(25_000.0))
        .alt(Goals::Ratio(2.0))
        .floor(floor::insert_wait)
        .rounds(5)
        .done(),
        race(
            "echo-p99",
            "round trips of an echo server while a million timers fire",
            Echo,
        )
        .line(nanos("p50"))
        .line(nanos("p99"))
        .rounds(3)
        .done(),
    ]
}

fn crowds() -> Vec<Figure> {
    vec![
        race(
            "random-replace",
            "cancel and replace one of a million at random",
            RandomReplace,
        )
        .line(nanos("each").ratio(1.5))
        .bare()
        .rounds(5)
        .done(),
        race(
            "start-stop",
            "start and stop with 1, 5, 10 million live (a tenth when quick)",
            StartStop,
        )
        .line(nanos("1 M"))
        .line(nanos("5 M"))
        .line(nanos("10 M"))
        .line(Line::new("10 M ÷ 1 M", Unit::Times).at_most(1.2))
        .rounds(3)
        .done(),
        race(
            "half-hour",
            "a million half-hour timers at once, nine of ten cancelled, the rest fired",
            HalfHour,
        )
        .line(nanos("create"))
        .line(nanos("cancel"))
        .line(nanos("CPU to fire"))
        .rounds(5)
        .done(),
        Figure::new(
            "wheel-vs-delayqueue",
            "replace one of a million entries: the bare structure",
            timing_wheel,
        )
        .peer("DelayQueue", delay_queue)
        .line(nanos("each"))
        .rounds(5),
        crate::queue::figure(),
    ]
}

fn resources() -> Vec<Figure> {
    let switches = |what| Line::new(what, Unit::Count).ratio(1.0);
    vec![
        race(
            "bytes",
            "size of a sleep, and of a pending one in its box",
            Bytes,
        )
        .line(Line::new("size_of", Unit::Bytes).at_most(40.0))
        .line(Line::new("pending", Unit::Bytes).at_most(93.0))
        .rounds(1)
        .done(),
        race("idle", "context switches of idle workers in a second", Idle)
            .line(switches("no timer"))
            .line(switches("one, an hour away"))
            .rounds(3)
            .done(),
        Figure::new(
            "scrape",
            "arm and cancel while the metrics are read 1000 times a second",
            watched,
        )
        .peer("unwatched", unwatched)
        .line(nanos("each").ratio(0.97))
        .rounds(11),
    ]
}
