//! Sleeps of nothing go by tokio's clock, and do not spin; what has passed is ready at once.
//!
//! Rounds are counted against the time that they took, and only from above: a clock that ticks in
//! milliseconds goes around once per tick.

use std::future::pending;
use std::time::{self, Duration};

use futures::FutureExt as _;
use tokio::time::Instant;

use crate::runtimes::{KINDS, Kind, OTHERS, in_task};
use crate::time::Time;
use crate::twin::finished;
use support::{ms, poll_quietly};

const NONE: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_nanos(1),
    Duration::from_micros(5),
];

#[derive(Clone, Copy, Debug)]
enum Nap {
    Sleep,
    Timeout,
    /// One timer that is reset.
    Reset,
    /// Of a new interval each round.
    FirstTick,
}

#[derive(Debug, PartialEq, Eq)]
enum Pace {
    OfTheClock,
    Spins,
}

struct Rounds {
    start: time::Instant,
    done: u128,
}

impl Rounds {
    fn new() -> Self {
        Rounds {
            start: time::Instant::now(),
            done: 0,
        }
    }

    /// Another one.
    fn next(&mut self) -> bool {
        self.done += 1;
        self.start.elapsed() < ms(100)
    }

    fn pace(self) -> Pace {
        if self.done <= 2 * self.start.elapsed().as_millis() {
            Pace::OfTheClock
        } else {
            Pace::Spins
        }
    }
}

async fn pace<T: Time>(nap: Nap, nothing: Duration) -> Pace {
    let mut rounds = Rounds::new();
    let mut one = T::boxed(nothing);
    while rounds.next() {
        match nap {
            Nap::Sleep => T::sleep(nothing).await,
            Nap::Timeout => T::timeout(nothing, pending::<()>()).await.unwrap_err(),
            Nap::Reset => {
                T::reset(one.as_mut(), Instant::now() + nothing);
                one.as_mut().await;
            }
            Nap::FirstTick => {
                let mut interval = T::interval(ms(1000));
                T::tick(&mut interval).await;
            }
        }
    }
    rounds.pace()
}

#[test]
fn loops_of_sleeps_of_nothing_go_around_with_the_clock() {
    fn body<T: Time>(kind: Kind, nap: Nap, nothing: Duration) -> Pace {
        kind.build().block_on(pace::<T>(nap, nothing))
    }
    let mut twins = twins!().calm();
    for &kind in KINDS {
        for nothing in NONE {
            same!(twins, body(kind, Nap::Sleep, nothing));
            same!(twins, body(kind, Nap::Timeout, nothing));
        }
        same!(twins, body(kind, Nap::Reset, NONE[0]));
        // tokio's first tick waits for its clock; ours is there at once.
        differs!(twins, body(kind, Nap::FirstTick, NONE[0]), tokio: finished(Pace::OfTheClock),
            wheel: finished(Pace::OfTheClock), finished(Pace::Spins));
    }
}

#[test]
fn loops_of_sleeps_of_nothing_in_tasks_go_around_with_the_clock() {
    fn body<T: Time>(kind: Kind, nap: Nap, nothing: Duration) -> Result<Pace, String> {
        in_task(&kind.build(), async move { pace::<T>(nap, nothing).await })
    }
    let mut twins = twins!().calm();
    for &kind in KINDS {
        for nothing in [NONE[0], NONE[1]] {
            same!(twins, body(kind, Nap::Sleep, nothing));
            same!(twins, body(kind, Nap::Timeout, nothing));
        }
    }
}

/// A timeout of nothing around what is ready is no nap at all.
#[test]
fn timeouts_of_nothing_around_what_is_ready_do_not_wait() {
    fn body<T: Time>(kind: Kind) -> usize {
        kind.build().block_on(async {
            let mut done = 0;
            for _ in 0..10_000 {
                done += usize::from(T::timeout(Duration::ZERO, async {}).await.is_ok());
            }
            done
        })
    }
    let mut twins = twins!().calm();
    for &kind in KINDS {
        same!(twins, body(kind));
    }
}

/// The clock that the timers go by has been looked at since, so this is no race.
#[test]
fn a_deadline_that_has_passed_is_ready_at_the_first_poll() {
    fn body<T: Time>(kind: Kind) -> Result<[bool; 4], String> {
        in_task(&kind.build(), async {
            let then = Instant::now();
            T::sleep(ms(10)).await;
            let ready =
                |mut sleep| poll_quietly::<std::pin::Pin<Box<T::Sleep>>>(&mut sleep).is_ready();
            let until = |deadline| ready(Box::pin(T::sleep_until(deadline)));
            let mut reset = T::boxed(ms(1000));
            T::reset(reset.as_mut(), then);
            [
                until(then),
                until(then + ms(2)),
                until(then - ms(2)),
                ready(reset),
            ]
        })
    }
    let mut twins = twins!().calm();
    // The timers per worker are not looked at when they are first polled.
    for &kind in OTHERS {
        same!(twins, body(kind));
    }
}

/// Made, and polled once the clock has gone past that: as it is with work in between.
#[test]
fn the_first_tick_of_an_interval_that_is_polled_late_is_ready() {
    fn body<T: Time>(kind: Kind) -> Result<bool, String> {
        in_task(&kind.build(), async {
            let mut interval = T::interval(ms(1000));
            T::sleep(ms(5)).await;
            T::tick(&mut interval).now_or_never().is_some()
        })
    }
    let mut twins = twins!().calm();
    // The timers per worker are not looked at when they are first polled.
    for &kind in OTHERS {
        same!(twins, body(kind));
    }
}
