//! What the tests of this program share: runtimes of each kind, time limits, and timers that log when they wake.

pub(crate) use support::prelude::*;

/// Longer than any machine takes for any of these tests.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// Calls a function inside a runtime.
pub(crate) fn inside<R>(runtime: &Runtime, f: impl FnOnce() -> R) -> R {
    support::inside(runtime.handle(), f)
}

/// Returns a runtime's default driver.
pub(crate) fn wheel_of(runtime: &Runtime) -> Timers {
    inside(runtime, Timers::current)
}

/// Runs a test on a runtime of each kind in turn.
pub(crate) fn with_each(test: impl Fn(Runtime) + Send + 'static) {
    within(LIMIT, move || {
        for (workers, runtime) in runtimes() {
            // The test's output shows this if the test fails.
            println!("with {workers} workers");
            test(runtime);
        }
    });
}

/// Runs a test inside each kind of runtime, which the test's own thread drives.
pub(crate) fn in_each(test: impl AsyncFn(&Runtime) + Send + 'static) {
    with_each(move |runtime| runtime.block_on(test(&runtime)));
}

/// Waits until the condition holds. Timers can fire meanwhile.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < secs(20), "{what}: not within 20 s");
        sleep(ms(1)).await;
    }
}

/// Waits for a timer, and asserts that it is not early.
pub(crate) async fn on_time(timer: Sleep) {
    let deadline = timer.deadline();
    timer.await;
    assert!(Instant::now() >= deadline, "early");
}

/// Returns how many descriptors this process has open.
#[cfg(target_os = "linux")]
pub(crate) fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Polls a timer with a waker that reports, each time it is woken, whether the deadline has passed. Returns `None` if
/// the timer is due already, because this machine was too slow.
pub(crate) fn watched(mut timer: Sleep) -> Option<(Sleep, mpsc::Receiver<bool>)> {
    let (deadline, (log, woken)) = (timer.deadline(), mpsc::channel());
    let waker = OnWake::waker(move || _ = log.send(Instant::now() >= deadline));
    let is_pending = poll(&mut timer, &waker).is_pending();
    assert!(is_pending || Instant::now() >= deadline, "early");
    is_pending.then_some((timer, woken))
}
