//! A waker of somebody else's panics, and Tokio drops the wakers that it would have woken after that one. The worker that
//! polled Tokio's timers is gone, and the others go on.

use super::prelude::*;

/// The two timers are in Tokio's same millisecond. After that the runtime is quiet, or a task keeps making timers.
#[test]
fn timers_fire_after_a_foreign_waker_has_panicked() {
    fn body<T: Time>(is_quiet: bool) -> Result<(), String> {
        let runtime = with_workers(2).build().unwrap();
        let _guard = runtime.enter();
        let deadline = Instant::now() + ms(300);
        let panics = OnWake::waker(|| panic!("another library's waker"));
        let _foreign = armed_with(Box::pin(tokio::time::sleep_until(deadline)), &panics);
        // The watchdog has to follow the alarm to the earlier of these.
        let _later = armed(T::boxed(HOUR));
        let _behind_it = armed(T::boxed(ms(300)));
        // One worker is not parked meanwhile.
        runtime.spawn(async { thread::sleep(ms(600)) });
        thread::sleep(ms(1_000));
        if !is_quiet {
            runtime.spawn(async {
                loop {
                    ticks::<T>().await;
                }
            });
        }
        let after = runtime.spawn(async {
            T::sleep(ms(100)).await;
            T::sleep(ms(100)).await;
        });
        let ended = runtime.block_on(joined(after));
        std::mem::forget(runtime);
        ended
    }
    same([true, false], body::<Tokio>, body::<Ours>);
}
