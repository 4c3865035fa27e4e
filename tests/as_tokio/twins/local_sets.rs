//! Several runtimes may drive a `LocalSet` one after another, and end. The timers of its tasks still fire.
//!
//! (A `LocalRuntime` needs no such set: all twins run their tasks as its local tasks.)

use super::prelude::*;

use std::rc::Rc;

use tokio::sync::Barrier;

/// In the end, only the second runtime drives the set, and the first is idle or has ended.
#[test]
fn a_local_set_that_one_runtime_drives_and_then_another() {
    fn body<T: Time>((one, two, ends): (Kind, Kind, bool)) -> [Result<(), String>; 2] {
        let local = LocalSet::new();
        let round = Rc::new(Barrier::new(2));
        let waits = round.clone();
        let worker = local.spawn_local(async move {
            for _ in 0..6 {
                waits.wait().await;
                ticks::<T>().await;
                waits.wait().await;
            }
        });
        let takes_part = || async {
            round.wait().await;
            round.wait().await;
            ticks::<T>().await;
        };
        let (one, two) = (one.build(), two.build());
        for runtime in [&one, &two, &one, &two, &two] {
            runtime.block_on(local.run_until(takes_part()));
        }
        let _idle = (!ends).then_some(one);
        two.block_on(local.run_until(takes_part()));
        let worker = two.block_on(local.run_until(joined(worker)));
        let fresh = local.spawn_local(ticks::<T>());
        [worker, two.block_on(local.run_until(joined(fresh)))]
    }
    let cases = cross3(KINDS, KINDS, [false, true]);
    same(cases, body::<Tokio>, body::<Ours>);
}

/// Waits for a timer, perhaps after other timers. Sends a message once the timer is armed.
async fn waits<T: Time>(again: bool, started: mpsc::Sender<()>) {
    if again {
        ticks::<T>().await;
    }
    let mut sleep = T::boxed(HOUR);
    assert!(futures::poll!(&mut sleep).is_pending());
    started.send(()).unwrap();
    sleep.await;
}

/// The drop of the runtime waits for a blocking thread. On that thread, a local task sleeps, or the future of `block_on`.
#[test]
fn a_runtime_ends_while_a_local_set_sleeps_on_one_of_its_blocking_threads() {
    fn body<T: Time>((kind, again, is_local): (Kind, bool, bool)) -> Option<Result<(), String>> {
        let runtime = kind.driven();
        let own = runtime.handle.clone();
        let (started, starts) = mpsc::channel();
        let (ended, end) = mpsc::channel();
        runtime.handle.spawn_blocking(move || {
            if !is_local {
                own.block_on(waits::<T>(again, started));
                return ended.send(Ok(())).unwrap();
            }
            let local = LocalSet::new();
            let task = local.spawn_local(waits::<T>(again, started));
            own.block_on(local);
            ended.send(executor::block_on(joined(task))).unwrap();
        });
        starts.recv().unwrap();
        runtime.end();
        end.recv().ok()
    }
    let cases = cross3(KINDS, [false, true], [false, true]);
    same(cases, body::<Tokio>, body::<Ours>);
}
