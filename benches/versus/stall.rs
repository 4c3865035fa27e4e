//! The longest stall of a worker of real-time priority that shares its processor with a normal thread, where both arm and
//! cancel timers of one wheel.
//!
//! The worker preempts the other thread wherever that is, also while it holds a lock. A lock that is waited for by
//! spinning, or by yielding to threads of the same priority, is never released then: the worker keeps the processor until
//! the kernel takes it away, after most of a second. A lock that is waited for asleep costs what the other thread needs to
//! release it.

use std::fs;
use std::future::Future;
use std::pin::pin;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::process::Busy;

use crate::figure::Measured;
use crate::peer::Peer;
use crate::stage::Stage;

const TIME: Duration = Duration::from_secs(5);
const REAL_TIME: [&str; 3] = ["chrt", "-f", "10"];

/// Whether this process may have threads of real-time priority, and the kernel keeps a part of each processor from them.
pub(crate) fn is_permitted() -> bool {
    let limit = fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us");
    let [program, arguments @ ..] = REAL_TIME;
    let given = Command::new(program)
        .args(arguments)
        .arg("true")
        .stderr(Stdio::null())
        .status();
    limit.is_ok_and(|limit| limit.trim() != "-1") && given.is_ok_and(|status| status.success())
}

/// The longest stalls of the worker and of the other thread, and the time for each timer of both.
pub(crate) fn stall<P: Peer>() -> Measured {
    let stage = Stage::bare::<P>(1);
    let _busy = Busy::start(4);
    let stop = Arc::new(AtomicBool::new(false));
    let (handle, stopped) = (stage.handle().clone(), Arc::clone(&stop));
    let other = thread::spawn(move || {
        this_thread(&["taskset", "-c", "-p", "0"]);
        let _guard = handle.enter();
        Stalls::of::<P>(|| !stopped.load(Ordering::Relaxed), || {})
    });
    let worker = stage.on_worker(|_| {
        this_thread(&["taskset", "-c", "-p", "0"]);
        this_thread(&["chrt", "-f", "-p", "10"]);
        let until = Instant::now() + TIME;
        // Comes back in the middle of whatever the other thread does.
        let pause = || thread::sleep(Duration::from_micros(50));
        Stalls::of::<P>(|| Instant::now() < until, pause)
    });
    stop.store(true, Ordering::Relaxed);
    let other = other.join().expect("no panic");
    let each = TIME.as_nanos() as f64 / (worker.operations + other.operations);
    Measured::cancelled([worker.longest, other.longest, each], 0)
}

/// Has a program change what the kernel does with this thread.
fn this_thread(command: &[&str]) {
    let thread = fs::read_link("/proc/thread-self").expect("Linux's /proc");
    let [program, arguments @ ..] = command else {
        return;
    };
    let status = Command::new(program)
        .args(arguments)
        .arg(thread.file_name().expect("a number"))
        .stdout(Stdio::null())
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "{program} failed"
    );
}

/// Of arming and cancelling, in nanoseconds.
struct Stalls {
    longest: f64,
    operations: f64,
}

impl Stalls {
    fn of<P: Peer>(goes_on: impl Fn() -> bool, pause: impl Fn()) -> Self {
        const AT_ONCE: usize = 4;
        let mut cx = Context::from_waker(Waker::noop());
        let (mut longest, mut operations) = (Duration::ZERO, 0);
        while goes_on() {
            for _ in 0..AT_ONCE {
                let begin = Instant::now();
                let armed = pin!(P::sleep(Duration::from_secs(60))).poll(&mut cx);
                assert!(armed.is_pending());
                longest = longest.max(begin.elapsed());
            }
            operations += AT_ONCE;
            pause();
        }
        Stalls {
            longest: longest.as_nanos() as f64,
            operations: operations as f64,
        }
    }
}
