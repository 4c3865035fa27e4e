//! Under the guard of a runtime without timers, or of a runtime that has ended, panics are tokio's, at tokio's line.
//!
//! Without any runtime: `tests/api/drop_in.rs`.

use super::prelude::*;

/// On a thread that the driver has found to be a worker, the timer is the worker's own, as under any
/// guard. Whether the driver has found that depends on the worker.
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
