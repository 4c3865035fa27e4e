//! Every figure there is, with the goals it is held to.

use crate::bytes::Bytes;
use crate::cancel::{Earliest, ReadyTimeout, RegisterCancel, Scaling};
use crate::echo::Echo;
use crate::figure::{Figure, Goals, Line, Race, Unit, race};
use crate::fire::{FireCounting, FireTasks, InsertWait};
use crate::floor;
use crate::lateness::{Lateness, Load};
use crate::moving::Moving;
use crate::pending::{HalfHour, RandomReplace, Repoll, ResetLater, StartStop};
use crate::process::Idle;
use crate::quiet::Quiet;
use crate::scrape::{unwatched, watched};
use crate::services::{Connections, FanOut, Purgatory};
use crate::shapes::Shape;
use crate::structure::{delay_queue, timing_wheel};

pub(crate) fn all() -> Vec<Figure> {
    [
        register_cancel(),
        moving(),
        single(),
        fired(),
        late(),
        #[cfg(all(feature = "high-resolution", target_os = "linux"))]
        crate::precise::figures(),
        quiet(),
        crowds(),
        services(),
        resources(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) const fn nanos(what: &'static str) -> Line {
    Line::new(what, Unit::Nanos)
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
            .alt(Goals::None)
            .done(),
    ]
}

/// Tasks that move between workers: the figures that tell what a service gains.
fn moving() -> Vec<Figure> {
    let figure = |name, about, shape, workers, own| {
        let each = Line {
            own,
            ..nanos("each")
        };
        race(name, about, Moving { shape, workers })
            .line(each)
            .bare()
            .rounds(9)
    };
    let conns = Shape::Conns(1000);
    let calls = Shape::Calls(64);
    let fresh = Shape::Fresh(100);
    vec![
        figure(
            "conns-0",
            "a thousand tasks take turns, a timer each, current-thread runtime",
            conns,
            0,
            Some(1.8),
        )
        .done(),
        figure("conns-1", "the same on one worker", conns, 1, None)
            .alt(Goals::None)
            .done(),
        figure("conns-2", "the same on two workers", conns, 2, Some(16.0))
            .alt(Goals::Own(5.0))
            .done(),
        figure(
            "calls-0",
            "64 pairs of tasks call each other under timeouts, current-thread runtime",
            calls,
            0,
            None,
        )
        .done(),
        figure("calls-1", "the same on one worker", calls, 1, None)
            .alt(Goals::None)
            .done(),
        figure("calls-2", "the same on two workers", calls, 2, Some(20.0))
            .alt(Goals::Own(5.0))
            .done(),
        figure(
            "fresh-0",
            "a fresh task per timer, a hundred at a time, current-thread runtime",
            fresh,
            0,
            None,
        )
        .done(),
        figure("fresh-1", "the same on one worker", fresh, 1, Some(2.2))
            .alt(Goals::None)
            .done(),
        figure("fresh-2", "the same on two workers", fresh, 2, Some(7.0))
            .alt(Goals::Own(4.0))
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
        .alt(Goals::None)
        .bare()
        .done(),
        race(
            "ready-timeout",
            "a timeout around a ready future",
            ReadyTimeout,
        )
        .line(nanos("each").ratio(1.2))
        .alt(Goals::None)
        .bare()
        .rounds(11)
        .done(),
        race("repoll", "poll a pending timer again", Repoll)
            .line(nanos("each").ratio(10.0))
            .alt(Goals::None)
            .bare()
            .rounds(11)
            .done(),
        race("reset-later", "push a timer out and poll it", ResetLater)
            .line(nanos("each").ratio(2.5))
            .alt(Goals::None)
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
        .alt(Goals::None)
        .rounds(5)
        .done(),
        race(
            "fire-million-tasks",
            "CPU to wake a million sleeping tasks",
            FireTasks,
        )
        .line(nanos("each").ratio(1.2))
        .alt(Goals::None)
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
        .alt(Goals::None)
        .rounds(3)
        .done(),
    ]
}

fn late() -> Vec<Figure> {
    let busy = |name, about, load, p50, p99| {
        race(
            name,
            about,
            Lateness {
                load,
                quantile: 0.99,
            },
        )
        .line(nanos("p50").ratio(p50))
        .line(nanos("p99").ratio(p99))
        .alt(Goals::None)
        .rounds(5)
        .done()
    };
    vec![
        race(
            "lateness-quiet",
            "how late sleepers wake in a quiet runtime",
            Lateness {
                load: Load::Quiet,
                quantile: 0.999,
            },
        )
        .line(nanos("p50").ratio(1.6))
        .line(nanos("p99.9").ratio(1.0))
        .alt(Goals::None)
        .rounds(5)
        .done(),
        busy(
            "lateness-busy",
            "the same with every worker busy, in tasks that arm timers all the time",
            Load::Arming,
            10.0,
            3.0,
        ),
        busy(
            "lateness-busy-mixed",
            "the same with longer sleeps among the short",
            Load::Mixed,
            10.0,
            3.0,
        ),
        busy(
            "lateness-computing",
            "the same with every worker busy, in tasks that only compute and yield",
            Load::Computing,
            1.3,
            1.05,
        ),
    ]
}

/// At most 1.05 times the CPU that tokio's take.
fn quiet() -> Vec<Figure> {
    let figure = |name, about, workers| {
        [
            "5 ms / 0.1 ms",
            "5 ms / 2 ms",
            "50 ms / 0.1 ms",
            "50 ms / 2 ms",
        ]
        .into_iter()
        .fold(race(name, about, Quiet { workers }), |race, what| {
            race.line(nanos(what).ratio(1.0 / 1.05))
        })
        .alt(Goals::None)
        .rounds(9)
        .done()
    };
    vec![
        figure(
            "quiet-1",
            "CPU per timeout that is cancelled soon (timeout / cancelled every), one worker",
            1,
        ),
        figure("quiet-2", "the same on two workers", 2),
        figure("quiet-4", "the same on four", 4),
        figure("quiet-8", "the same on eight", 8),
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
        .alt(Goals::None)
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
        .alt(Goals::None)
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
        .alt(Goals::None)
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
    ]
}

fn services() -> Vec<Figure> {
    let purgatory = |name, about, median, upper_quartile| {
        race(
            name,
            about,
            Purgatory {
                median,
                upper_quartile,
            },
        )
        .line(nanos("CPU each"))
        .alt(Goals::None)
        .bare()
        .rounds(5)
        .done()
    };
    vec![
        purgatory(
            "purgatory-low",
            "CPU per request, 20 ms at the median, timeout 200 ms",
            20.0,
            60.0,
        ),
        purgatory(
            "purgatory-high",
            "CPU per request, 200 ms at the median, timeout 200 ms",
            200.0,
            400.0,
        ),
        race(
            "connections",
            "CPU per packet of connections with timers of every fate",
            Connections,
        )
        .line(nanos("CPU each"))
        .alt(Goals::None)
        .rounds(3)
        .done(),
        race(
            "fan-out-6534",
            "a thousand tasks under one timeout after the other",
            FanOut,
        )
        .line(nanos("each"))
        .alt(Goals::None)
        .bare()
        .done(),
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
        .alt(Goals::None)
        .rounds(1)
        .done(),
        race("idle", "context switches of idle workers in a second", Idle)
            .line(switches("no timer"))
            .line(switches("one, an hour away"))
            .alt(Goals::None)
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
