//! A turn that begins late makes no timer finer than tokio's clock: no test from outside can tell
//! for which tick a timer is registered.

use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake};
use std::thread;
use std::time::Duration;

use super::*;

/// A waker that registers a timer for now, and sends the tick of that timer and of tokio's
/// millisecond.
struct Register(mpsc::Sender<(Tick, Tick)>);

impl Wake for Register {
    fn wake(self: Arc<Self>) {
        let now = Tick::now();
        let mut timer = Timer::new_at(now);
        if timer.poll(now, Waker::noop()).is_pending() {
            let (entry, ..) = timer.entry().unwrap();
            let tokios = timer.home.driver.alarm.tokios_millisecond(now);
            let _ = self.0.send((entry.when, tokios.unwrap()));
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
    let (when, tokios) = made.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(when, tokios);
}
