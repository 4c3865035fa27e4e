//! Inside the `enter()` of a runtime without timers, a timer panics with Tokio's message.
//!
//! `tests/api/drop_in.rs` tests what happens outside any runtime.

use super::prelude::*;

/// If the thread is bound to its worker, the timer belongs to the worker's runtime, as inside any `enter()`. Whether it
/// is bound by then depends on the scheduler.
#[test]
fn under_the_guard_of_a_runtime_without_timers() {
    fn body<T: Time>(kind: Kind) -> Result<(), String> {
        let under_guard = async move {
            T::sleep(ms(1)).await;
            let there = Builder::new_current_thread().build().unwrap();
            let made = tried(|| inside(there.handle(), || drop(T::sleep(ms(1)))));
            end(there);
            made
        };
        in_task(&kind.build(), under_guard).and_then(identity)
    }
    same([Current, Local], body::<Tokio>, body::<Ours>);
    let panicked = || Err(NO_TIMERS.to_owned());
    let either = [panicked(), Ok(())];
    differs(MULTI, body::<Tokio>, body::<Ours>, panicked(), &either);
}
