//! What several test files need.
#![allow(dead_code)]

mod choices;

use std::cell::RefCell;
use std::future::Future;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;
use std::{env, process};

use tokio::runtime::{Builder, Runtime};
use tokio::task::coop;

#[allow(unused_imports, reason = "not every file chooses")]
pub(crate) use choices::{Choices, Random};

pub(crate) const SHUT_DOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";
pub(crate) const NO_RUNTIME: &str =
    "there is no reactor running, must be called from the context of a Tokio 1.x runtime";
pub(crate) const NO_TIMERS: &str = "A Tokio 1.x context was found, but timers are disabled. \
     Call `enable_time` on the runtime builder to enable timers.";

pub(crate) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(crate) fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

pub(crate) const HOUR: Duration = Duration::from_secs(3600);
pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);

pub(crate) fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

pub(crate) fn multi_thread(workers: usize) -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .unwrap()
}

#[cfg(feature = "test-util")]
pub(crate) fn paused() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap()
}

/// Every kind of runtime, with a name for messages.
pub(crate) fn runtimes() -> Vec<(&'static str, Runtime)> {
    vec![
        ("current_thread", current_thread()),
        ("multi_thread(1)", multi_thread(1)),
        ("multi_thread(2)", multi_thread(2)),
        ("multi_thread(4)", multi_thread(4)),
    ]
}

/// Runs a test that could hang on a thread of its own, and fails if it does.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    test: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, result) = mpsc::channel();
    let name = thread::current().name().unwrap_or("test").to_owned();
    let run = move || drop(done.send(catch_unwind(AssertUnwindSafe(test))));
    thread::Builder::new().name(name).spawn(run).unwrap();
    match result.recv_timeout(limit) {
        Ok(Ok(value)) => value,
        Ok(Err(panic)) => panic::resume_unwind(panic),
        Err(_) => panic!("not done within {limit:?}: it hangs"),
    }
}

/// Runs the test that calls this once more, in a process that it may abort.
/// `true` in the process that only waits for the other.
#[track_caller]
pub(crate) fn in_a_process_of_its_own() -> bool {
    if env::var_os("WHEEL_TEST_CHILD").is_some() {
        return false;
    }
    let name = thread::current()
        .name()
        .expect("a test has a name")
        .to_owned();
    let child = process::Command::new(env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture"])
        .env("WHEEL_TEST_CHILD", "1")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{}: {output}", child.status);
    true
}

/// Polls once, whatever is left of the task's budget.
pub(crate) fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    pin!(coop::unconstrained(future)).poll(&mut Context::from_waker(waker))
}

/// Polls once with a waker that nobody hears.
pub(crate) fn poll_quietly<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll(future, Waker::noop())
}

/// Counts its wakes; how often it is referred to says who still holds it.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicUsize);

impl Count {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn wakes(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A waker that counts, and its count.
pub(crate) fn counting() -> (Waker, Arc<Count>) {
    let count = Count::new();
    (Waker::from(count.clone()), count)
}

/// A waker that calls a function.
pub(crate) struct OnWake<F>(pub(crate) F);

impl<F: Fn() + Send + Sync + 'static> OnWake<F> {
    pub(crate) fn waker(f: F) -> Waker {
        Waker::from(Arc::new(OnWake(f)))
    }
}

impl<F: Fn() + Send + Sync + 'static> Wake for OnWake<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

/// Waits, in real time and on this thread, until something is so.
#[track_caller]
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..20_000 {
        if is_so() {
            return;
        }
        thread::sleep(ms(1));
    }
    panic!("{what}: not within 20 s");
}

/// Memory in use by this process, where the system tells.
pub(crate) fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A panic as its hook has seen it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panic {
    pub(crate) message: String,
    pub(crate) file: String,
    pub(crate) line: u32,
}

thread_local! {
    static CAUGHT: RefCell<Option<Option<Panic>>> = const { RefCell::new(None) };
}

/// What `f` panics with, silently. Other threads' panics are reported as ever.
pub(crate) fn panic_of<T>(f: impl FnOnce() -> T) -> Option<Panic> {
    install_hook();
    CAUGHT.set(Some(None));
    let result = catch_unwind(AssertUnwindSafe(f));
    let caught = CAUGHT.take().flatten();
    if result.is_err() { caught } else { None }
}

/// [`panic_of`], the message only.
#[track_caller]
pub(crate) fn message_of<T>(f: impl FnOnce() -> T) -> String {
    panic_of(f).expect("no panic").message
}

fn install_hook() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let catching = CAUGHT
                .try_with(|caught| caught.borrow().is_some())
                .unwrap_or(false);
            if !catching {
                return default(info);
            }
            let payload = info.payload();
            let literal = payload.downcast_ref::<&str>().copied();
            let formatted = payload.downcast_ref::<String>().map(String::as_str);
            let message = literal.or(formatted).unwrap_or("").to_owned();
            let location = info.location().unwrap();
            let (file, line) = (location.file().to_owned(), location.line());
            CAUGHT.set(Some(Some(Panic {
                message,
                file,
                line,
            })));
        }));
    });
}

/// Things that several threads push to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T: Clone> Log<T> {
    pub(crate) fn new() -> Self {
        Log(Arc::new(Mutex::new(Vec::new())))
    }

    pub(crate) fn push(&self, entry: T) {
        self.0.lock().unwrap().push(entry);
    }

    pub(crate) fn entries(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }
}
