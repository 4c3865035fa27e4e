//! A turn that begins late makes no timer finer than tokio's clock: no test from outside can tell
//! for which tick a timer is registered.

use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake};
use std::thread;
use std::time::Duration;

use super::*;
use crate::clock::MILLISECOND;
use crate::sync::Ordering;

/// A waker that registers a timer for now, and sends the tick of that timer, that of tokio's
/// millisecond, and how many nanoseconds ago the turn began.
struct Register(mpsc::Sender<(Tick, Tick, u64)>);

impl Wake for Register {
    fn wake(self: Arc<Self>) {
        let now = Tick::now();
        let mut timer = Timer::new_at(now);
        let began = timer.home.driver.checked.load(Ordering::Relaxed);
        if timer.poll(now, Waker::noop()).is_pending() {
            let (entry, ..) = timer.entry().unwrap();
            let tokios = timer.home.driver.alarm.tokios_millisecond(now);
            let _ = self.0.send((entry.when, tokios.unwrap(), now.0 - began));
        }
    }
}

#[test]
fn a_timer_for_now_that_a_late_turn_makes_waits_for_tokios_millisecond() {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).enable_time().build().unwrap();
    let (sender, made) = mpsc::channel();
    runtime.spawn(async move {
        // The runtime's first timer makes the driver, which may take longer than 10 ms.
        crate::sleep(Duration::from_millis(1)).await;
        let waker = Waker::from(Arc::new(Register(sender)));
        let mut first = pin!(crate::sleep(Duration::from_millis(10)));
        assert!(
            first
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        // The alarm rings while this worker blocks.
        thread::sleep(Duration::from_millis(20));
        tokio::time::sleep(Duration::from_millis(1)).await;
    });
    let (when, tokios, after) = made.recv_timeout(Duration::from_secs(60)).unwrap();
    // Later in a turn a timer for now counts as plain: see `when.rs`.
    assert!(
        when == tokios || after >= MILLISECOND,
        "{when:?}, not {tokios:?}"
    );
}
