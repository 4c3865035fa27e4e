//! Assumed of descriptors: how they fail without I/O and after the runtime's end, and that no lock is held while
//! their wakers are called.

use super::*;

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Returns a pair of sockets: the end that a runtime waits for, and the other end.
#[allow(deprecated, reason = "as the driver does")]
fn registered(runtime: &Runtime) -> (AsyncFd<UnixStream>, UnixStream) {
    let (one, other) = UnixStream::pair().unwrap();
    one.set_nonblocking(true).unwrap();
    let register = || AsyncFd::with_interest(one, Interest::READABLE).unwrap();
    (inside(runtime.handle(), register), other)
}

#[test]
fn a_runtime_without_io_panics_and_one_that_has_ended_returns_an_error() {
    let without_io = Builder::new_current_thread().enable_time().build().unwrap();
    let panic = panic_of(|| registered(&without_io));
    assumed! { "platform/real/timerfd.rs";
        "registering a descriptor in a runtime without I/O panics": panic.is_some(),
    }

    let runtime = current_thread();
    let (descriptor, _other) = registered(&runtime);
    let (waker, count) = new_count_waker();
    let cx = &mut Context::from_waker(&waker);
    assert!(descriptor.poll_read_ready(cx).is_pending());
    drop(runtime);
    let polled = descriptor.poll_read_ready(cx);
    assumed! { "platform/real/timerfd.rs";
        "the end of a runtime wakes the wakers of its descriptors": count.get() > 0,
        "a descriptor of a runtime that has ended returns an error":
            matches!(polled, Poll::Ready(Err(_))),
    }
}

/// Hangs if this does not hold, because a lock is then taken twice.
#[test]
fn a_descriptors_waker_is_called_outside_of_tokios_locks() {
    within(secs(120), || {
        both().iter().for_each(a_waker_uses_its_descriptor)
    });
}

fn a_waker_uses_its_descriptor(runtime: &Runtime) {
    let (descriptor, mut other) = registered(runtime);
    let shared = Arc::new(OnceLock::from(descriptor));
    let (again, (tell, mut woken)) = (shared.clone(), unbounded_channel());
    let waker = OnWake::waker(move || {
        let mut cx = Context::from_waker(Waker::noop());
        let descriptor: &AsyncFd<_> = again.get().unwrap();
        if let Poll::Ready(Ok(mut ready)) = descriptor.poll_read_ready(&mut cx) {
            ready.clear_ready();
        }
        let _ = tell.send(descriptor.poll_read_ready(&mut cx).is_pending());
    });
    let polled = shared
        .get()
        .unwrap()
        .poll_read_ready(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    other.write_all(b"!").unwrap();
    let may_use = told_while_driving(runtime, &mut woken) == Some(true);
    assumed! { "platform/real/timerfd.rs";
        "a waker that is called for a descriptor may use that descriptor": may_use,
    }
}
