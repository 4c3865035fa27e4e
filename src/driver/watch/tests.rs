//! What follows a look, given when the task was polled and what is due.

use super::super::registry;
use super::*;

const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000 * MICRO;
/// Somebody else ran meanwhile.
const LONG: u64 = 50 * MICRO;
/// Nobody did.
const SHORT: u64 = 2 * MICRO;

/// A driver task whose looks take no time, and how it has got on.
#[derive(Default)]
struct Task {
    lookout: Lookout,
    now: u64,
}

impl Task {
    /// Polled after so long, with something due in a millisecond.
    fn after(&mut self, gap: u64) -> Next {
        self.now += gap;
        let now = Tick(self.now);
        self.lookout.look(now, now, Tick(self.now + MILLI))
    }

    /// The same with nothing due for an hour.
    fn without_timers(&mut self, gap: u64) -> Next {
        self.now += gap;
        let now = Tick(self.now);
        self.lookout.look(now, now, Tick::NEVER)
    }

    /// A watch in which nobody else has anything to run: how long the next one is off.
    fn quiet_watch(&mut self) -> u64 {
        for _ in 0..4 {
            if let Next::Rest(from) = self.after(SHORT) {
                return from.0 - self.now;
            }
        }
        panic!("the driver task spins");
    }

    fn rest_for(&self, nanos: u64) -> Next {
        Next::Rest(Tick(self.now + nanos))
    }
}

#[test]
fn a_busy_queue_is_joined_again_and_again() {
    let mut task = Task::default();
    for _ in 0..100 {
        assert_eq!(task.after(LONG), Next::Look(Way::Queue));
    }
}

#[test]
fn an_empty_queue_leads_past_the_event_loop() {
    let mut task = Task::default();
    task.after(LONG);
    assert_eq!(task.after(SHORT), Next::Look(Way::EventLoop));
    assert_eq!(task.after(LONG), Next::Look(Way::Queue));
}

#[test]
fn what_the_event_loop_has_put_into_the_queue_counts() {
    let mut task = Task::default();
    task.after(LONG);
    task.after(SHORT);
    assert_eq!(task.after(SHORT), Next::Look(Way::Both));
    assert_eq!(task.after(LONG), Next::Look(Way::Queue));
}

#[test]
fn the_event_loops_own_time_says_nothing() {
    let mut task = Task::default();
    for _ in 0..3 {
        while task.after(SHORT) != Next::Look(Way::EventLoop) {}
        task.now += LONG;
        task.lookout.pass(Tick(task.now));
        assert_eq!(task.after(SHORT), Next::Look(Way::Both));
        assert!(matches!(task.after(SHORT), Next::Rest(_)));
    }
}

#[test]
fn what_follows_the_event_loop_counts() {
    let mut task = Task::default();
    task.after(LONG);
    task.after(SHORT);
    task.lookout.pass(Tick(task.now + LONG));
    assert_eq!(task.after(2 * LONG), Next::Look(Way::Queue));
}

#[test]
fn another_way_does_not_count_from_the_end_of_the_event_loop() {
    let mut task = Task::default();
    task.after(LONG);
    task.lookout.pass(Tick(task.now + LONG));
    assert_eq!(task.after(LONG), Next::Look(Way::Queue));
    task.after(SHORT);
    task.lookout.pass(Tick(0));
    assert_eq!(task.after(SHORT), Next::Look(Way::Both), "not woken by it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_end_of_the_event_loop_is_noted_and_wakes_the_driver_task() {
    let serving = registry::of(&tokio::runtime::Handle::current());
    let (driver, generation) = (serving.driver, serving.generation);
    let watch = &driver.watch;
    past(driver, generation.wrapping_sub(1)).wake();
    assert_eq!(watch.take_pass(), Tick(0), "of a runtime that has ended");
    let before = Tick::now();
    past(driver, generation).wake();
    let passed = watch.take_pass();
    assert!(before <= passed && passed <= Tick::now());
    assert_eq!(watch.take_pass(), Tick(0), "taken");
}

/// Its own polls take a moment, unless the machine stalls: tried until it does not.
#[tokio::test]
async fn a_slow_event_loop_is_no_busy_runtime() {
    let serving = registry::of(&tokio::runtime::Handle::current());
    let (driver, generation) = (serving.driver, serving.generation);
    let mut sleep = crate::sleep(SOON / 2);
    for _ in 0..1000 {
        sleep.reset_unpin(tokio::time::Instant::now() + SOON / 2);
        driver.watch.end(Tick::NEVER);
        let mut lookout = Lookout::default();
        let mut look = || {
            driver.poll_task(generation, &mut lookout, Waker::noop());
            lookout.way.map(|(way, _)| way)
        };
        look();
        if look() == Some(Way::EventLoop) {
            std::thread::sleep(10 * AT_ONCE);
            driver.watch.pass(Tick::now());
            if look() == Some(Way::Both) {
                return;
            }
        }
    }
    panic!("it is taken for busy");
}

#[test]
fn many_small_tasks_are_as_busy_as_a_large_one() {
    let mut task = Task::default();
    task.after(LONG);
    task.after(SHORT);
    let half = AT_ONCE.as_nanos() as u64 / 2;
    assert_eq!(task.after(half), Next::Look(Way::Both));
    assert_eq!(task.after(half + 1), Next::Look(Way::Queue));
}

#[test]
fn a_quiet_runtime_is_looked_at_ever_more_seldom() {
    let mut task = Task::default();
    let rests: Vec<u64> = (0..10).map(|_| task.quiet_watch() / MILLI).collect();
    assert_eq!(rests, [2, 4, 8, 16, 32, 64, 128, 256, 256, 256]);
}

#[test]
fn in_a_quiet_runtime_the_event_loop_is_tried_first() {
    let mut task = Task::default();
    task.quiet_watch();
    assert_eq!(task.after(MILLI), Next::Look(Way::EventLoop));
}

#[test]
fn a_moment_of_quiet_in_a_busy_runtime_is_no_reason_to_rest() {
    let mut task = Task::default();
    task.quiet_watch();
    for _ in 0..=OFTEN {
        task.after(LONG);
    }
    assert_eq!(task.quiet_watch(), 0);
    assert_eq!(task.after(MILLI), Next::Look(Way::Queue), "as it was busy");
}

#[test]
fn a_burst_is_no_busy_runtime() {
    let mut task = Task::default();
    task.quiet_watch();
    for _ in 0..OFTEN {
        task.after(LONG);
    }
    assert_eq!(task.quiet_watch(), 4 * MILLI);
}

#[test]
fn without_anything_due_soon_the_watch_is_over_until_there_is() {
    let mut task = Task::default();
    task.quiet_watch();
    for _ in 0..=OFTEN {
        task.after(LONG);
    }
    assert_eq!(task.without_timers(LONG), task.rest_for(0));
    assert_eq!(task.after(MILLI), Next::Look(Way::Queue), "as it was busy");
}

#[test]
fn the_time_of_the_turn_itself_is_nobody_elses() {
    let mut lookout = Lookout::default();
    lookout.look(Tick(0), Tick(MILLI), Tick(MILLI));
    let next = lookout.look(Tick(MILLI + SHORT), Tick(2 * MILLI), Tick(2 * MILLI));
    assert_eq!(next, Next::Look(Way::EventLoop), "nobody else ran");
}

#[test]
fn a_watch_begins_once_and_only_for_what_is_due_soon() {
    let (now, soon) = (Tick(10 * MILLI), Tick(11 * MILLI));
    let watch = Watch::new();
    assert!(!watch.begins(now, soon), "no runtime is served");
    watch.open(now, false);
    assert!(!watch.begins(now, Tick::NEVER));
    assert!(!watch.begins(now, now.saturating_add(2 * SOON)));
    assert!(watch.begins(now, soon) && watch.is_kept());
    assert!(!watch.begins(now, soon), "one is kept");
    watch.end(soon);
    assert!(!watch.is_kept() && !watch.begins(now, soon), "not yet");
    assert!(watch.begins(soon, soon));
}

#[test]
fn no_watch_is_kept_on_a_current_thread_runtime() {
    let (now, soon) = (Tick(10 * MILLI), Tick(11 * MILLI));
    let watch = Watch::new();
    watch.open(now, true);
    assert!(!watch.is_kept() && !watch.begins(soon, soon));
}

#[test]
fn turns_of_a_watch_are_apart() {
    let mut lookout = Lookout::default();
    assert!(lookout.may_turn(Tick(MILLI)), "the first at once");
    assert!(!lookout.may_turn(Tick(MILLI + LONG)));
    assert!(
        !lookout.may_turn(Tick(MILLI + 249 * MICRO)),
        "since the turn"
    );
    assert!(lookout.may_turn(Tick(MILLI + 250 * MICRO)));
    assert!(!lookout.may_turn(Tick(MILLI + 251 * MICRO)));
}
