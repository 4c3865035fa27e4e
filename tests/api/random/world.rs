//! A runtime with a paused clock, two drivers, and timers that are compared with their model.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use tokio::task::yield_now;
use wheel::{Builder, Instant, Wheel, advance, interval_at, sleep, timeout};

use super::timer::{Inner, Switch, Timer};
use super::witness::Retired;
use super::{Kind, Op};
use support::{DAY, paused};

/// Of the driver that rounds deadlines.
const COARSE: Duration = Duration::from_millis(7);
const YEAR: Duration = Duration::from_secs(365 * 86_400);
/// The clock passes no more than that from timer to timer, of which there is one a day.
const PATIENCE: Duration = Duration::from_secs(30 * 86_400);

/// Where the clock began, and how it came to where it is.
pub(super) struct Clock {
    /// tokio rounds to whole milliseconds since then.
    start: Instant,
    /// The coarse driver rounds to its tick since then.
    coarse_start: Instant,
    /// Where it jumped to last.
    pub(super) jumped_to: Instant,
}

impl Clock {
    /// Whether what is due at `due` has certainly fired by `now`.
    pub(super) fn has_passed(&self, due: Instant, now: Instant) -> bool {
        let due = (due - self.start).as_nanos().div_ceil(1_000_000);
        (now - self.start).as_nanos() / 1_000_000 >= due
    }

    pub(super) fn rounded_up(&self, deadline: Instant) -> Instant {
        let since = (deadline - self.coarse_start).as_nanos();
        let rounded = since.div_ceil(COARSE.as_nanos()) * COARSE.as_nanos();
        self.coarse_start + Duration::from_nanos(u64::try_from(rounded).unwrap())
    }
}

struct World {
    clock: Clock,
    coarse: Wheel,
    timers: Vec<Timer>,
    retired: Retired,
}

/// One run: the clock stands at `offset` when the drivers start.
pub(super) fn run(offset: Duration, ops: &[Op]) {
    paused().block_on(async {
        let start = Instant::now();
        advance(offset).await;
        let mut world = World::new(start);
        for &op in ops {
            world.apply(op).await;
            world.check().await;
        }
        world.finish().await;
    });
}

impl World {
    fn new(start: Instant) -> Self {
        let now = Instant::now();
        World {
            clock: Clock {
                start,
                coarse_start: now,
                jumped_to: now,
            },
            coarse: Builder::new().tick(COARSE).build().unwrap(),
            timers: Vec::new(),
            retired: Retired::default(),
        }
    }

    async fn apply(&mut self, op: Op) {
        let now = Instant::now();
        match op {
            Op::Create {
                kind,
                coarse,
                after,
            } => self.create(kind, coarse, after),
            Op::Poll { pick, same } => self.poll(pick, same),
            Op::Reset { pick, after } => self.reset(pick, |_| now.checked_add(after)),
            Op::ResetToPast { pick, before } => self.reset(pick, |_| now.checked_sub(before)),
            Op::Move { pick, by, earlier } => self.reset(pick, |deadline| match earlier {
                true => deadline.checked_sub(by),
                false => deadline.checked_add(by),
            }),
            Op::Complete { pick } => self.complete(pick),
            Op::Drop { pick } => self.drop(pick),
            Op::Advance { by } => self.advance(by).await,
            Op::Pass { by } => tokio::time::sleep(by.min(PATIENCE)).await,
            Op::Await { pick } => self.wait_for(pick).await,
        }
    }

    fn create(&mut self, kind: Kind, coarse: bool, after: Duration) {
        let now = Instant::now();
        let start = now + after.min(40 * YEAR);
        let wheel = &self.coarse;
        let (inner, deadline) = match kind {
            Kind::Sleep => {
                let sleep = if coarse {
                    wheel.sleep(after)
                } else {
                    sleep(after)
                };
                assert_eq!(sleep.deadline(), now + after.min(30 * YEAR));
                let deadline = sleep.deadline();
                (Inner::Sleep(sleep), deadline)
            }
            Kind::Interval(period, behavior) => {
                let mut interval = match coarse {
                    true => wheel.interval_at(start, period),
                    false => interval_at(start, period),
                };
                interval.set_missed_tick_behavior(behavior);
                (Inner::Interval(interval), start)
            }
            Kind::Timeout => {
                let (switch, after) = (Switch::default(), start - now);
                let timeout = match coarse {
                    true => wheel.timeout(after, switch.clone()),
                    false => timeout(after, switch.clone()),
                };
                (Inner::Timeout(timeout, switch), start)
            }
        };
        self.timers.push(Timer::new(inner, coarse, deadline, now));
    }

    fn pick(&self, pick: u8) -> Option<usize> {
        usize::from(pick).checked_rem(self.timers.len())
    }

    fn poll(&mut self, pick: u8, same: bool) {
        let Some(at) = self.pick(pick) else { return };
        if !self.timers[at].poll(same, &self.clock, &mut self.retired) {
            self.drop(pick);
        }
    }

    /// An instant that there is not is far enough away not to be tried.
    fn reset(&mut self, pick: u8, to: impl Fn(Instant) -> Option<Instant>) {
        let Some(at) = self.pick(pick) else { return };
        let timer = &mut self.timers[at];
        let end = Instant::now() + 40 * YEAR;
        timer.reset(to(timer.deadline).map_or(end, |deadline| deadline.min(end)));
    }

    fn complete(&mut self, pick: u8) {
        if let Some(at) = self.pick(pick) {
            self.timers[at].complete();
        }
    }

    fn drop(&mut self, pick: u8) {
        if let Some(at) = self.pick(pick) {
            self.timers.swap_remove(at).drop(&mut self.retired);
        }
    }

    async fn advance(&mut self, by: Duration) {
        self.clock.jumped_to = Instant::now() + by;
        advance(by).await;
    }

    /// Nothing but the timers themselves makes the clock move on.
    async fn wait_for(&mut self, pick: u8) {
        self.poll(pick, false);
        let Some(at) = self.pick(pick) else { return };
        let timer = &self.timers[at];
        let due = timer.due(&self.clock);
        let Some(witness) = timer.awaited_by() else {
            return;
        };
        if due > Instant::now() + PATIENCE {
            return;
        }
        let woken = poll_fn(|cx| {
            witness.listen(cx.waker());
            match witness.wakes().is_empty() {
                true => Poll::Pending,
                false => Poll::Ready(()),
            }
        });
        // Only so that a lost timer is a failure and not a test that hangs.
        drop(tokio::time::timeout_at(due + DAY, woken).await);
    }

    async fn check(&mut self) {
        // What rings too early is armed again by the driver's task.
        for _ in 0..3 {
            yield_now().await;
        }
        for timer in &mut self.timers {
            timer.check(&self.clock, &mut self.retired);
        }
        self.retired.check();
        self.check_pending(false, &Wheel::current());
        self.check_pending(true, &self.coarse);
    }

    fn check_pending(&self, coarse: bool, wheel: &Wheel) {
        let now = Instant::now();
        let of_it = self.timers.iter().filter(|timer| timer.coarse == coarse);
        let pending = of_it.map(|timer| timer.is_pending(&self.clock, now));
        let (least, most) = pending.fold((0, 0), |(least, most), pending| {
            (
                least + usize::from(pending == Some(true)),
                most + usize::from(pending != Some(false)),
            )
        });
        let counted = wheel.pending();
        assert!(
            (least..=most).contains(&counted),
            "{counted} are pending, not {least} to {most}"
        );
    }

    /// All that is near fires, and the rest is cancelled; then nothing is left.
    async fn finish(&mut self) {
        for pick in 0..self.timers.len().min(256) {
            self.wait_for(pick as u8).await;
            self.check().await;
        }
        while !self.timers.is_empty() {
            self.drop(0);
        }
        self.check().await;
    }
}
