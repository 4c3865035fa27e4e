//! A loop of zero-length sleeps follows Tokio's clock, and does not spin.
//!
//! A sleep that follows the clock ends once per millisecond. So the time that the rounds took limits their number.

use super::prelude::*;

use std::future::pending;
use std::time;

const ZERO_OR_TINY: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_nanos(1),
    Duration::from_micros(5),
];

#[derive(Clone, Copy, Debug)]
enum Nap {
    Sleep(Duration),
    Timeout(Duration),
    /// Resets the same timer in each round.
    Reset,
    /// Waits for the first tick of a new interval in each round.
    FirstTick,
    /// Awaits a zero-length timeout around a ready future, which does not wait.
    None,
}

#[derive(Debug)]
enum Pace {
    OfTheClock,
    Spins,
}

async fn pace<T: Time>(nap: Nap) -> Pace {
    let (mut rounds, mut passed) = (0, Duration::ZERO);
    let mut one = T::boxed(Duration::ZERO);
    while passed < ms(100) {
        let before = time::Instant::now();
        rounds += 1;
        match nap {
            Nap::Sleep(nothing) => T::sleep(nothing).await,
            Nap::Timeout(nothing) => T::timeout(nothing, pending::<()>()).await.unwrap_err(),
            Nap::Reset => {
                one.as_mut().reset(Instant::now());
                one.as_mut().await;
            }
            Nap::FirstTick => {
                let mut interval = T::interval(ms(1000));
                interval.tick().await;
            }
            Nap::None => T::timeout(Duration::ZERO, async {}).await.unwrap(),
        }
        // On a busy machine, a round may take longer.
        passed += before.elapsed().min(ms(2));
    }
    if rounds <= 2 * passed.as_millis() {
        Pace::OfTheClock
    } else {
        Pace::Spins
    }
}

#[test]
fn loops_of_zero_length_sleeps_follow_the_clock() {
    fn body<T: Time>((kind, nap, in_a_task): (Kind, Nap, bool)) -> Result<Pace, String> {
        let runtime = kind.build();
        match in_a_task {
            true => in_task(&runtime, pace::<T>(nap)),
            false => Ok(runtime.block_on(pace::<T>(nap))),
        }
    }
    let mut naps = vec![Nap::Reset, Nap::None];
    naps.extend(ZERO_OR_TINY.map(Nap::Sleep));
    naps.extend(ZERO_OR_TINY.map(Nap::Timeout));
    let cases = cross3(KINDS, naps, [false, true]);
    same(cases, body::<Tokio>, body::<Ours>);

    // An interval's first tick waits for the clock with Tokio's timers, and may complete immediately with ours.
    let cases = KINDS.map(|kind| (kind, Nap::FirstTick, false));
    let either = [Ok(Pace::OfTheClock), Ok(Pace::Spins)];
    let waits = Ok(Pace::OfTheClock);
    differs(cases, body::<Tokio>, body::<Ours>, waits, &either);
}
