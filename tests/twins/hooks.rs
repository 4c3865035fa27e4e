//! Hooks for tasks may make timers, though they are called for the driver's own task, too.

use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::runtimes::cross;
use crate::twin::{same, same_once};
use support::time::{Ours, Time, Tokio};
use support::{ms, poll_quietly};

#[derive(Clone, Copy, Debug)]
enum Hook {
    NewTasks,
    Polls,
}

#[test]
fn a_hook_for_tasks_makes_a_timer() {
    fn body<T: Time>((is_multi, hook): (bool, Hook)) {
        let mut builder = match is_multi {
            true => Builder::new_multi_thread(),
            false => Builder::new_current_thread(),
        };
        match hook {
            Hook::NewTasks => drop(builder.on_task_spawn(|_| drop(T::sleep(ms(1))))),
            Hook::Polls => {
                builder.on_before_task_poll(|_| drop(T::sleep(ms(1))));
                builder.on_after_task_poll(|_| drop(T::sleep(ms(1))));
                builder.on_task_terminate(|_| drop(T::sleep(ms(1))));
            }
        }
        builder.enable_all().build().unwrap().block_on(async {
            T::sleep(ms(2)).await;
            tokio::spawn(async { T::sleep(ms(2)).await }).await.unwrap();
        });
    }
    let cases = cross([false, true], [Hook::NewTasks, Hook::Polls]);
    same(cases, body::<Tokio>, body::<Ours>);
}

/// The first task that the hook is called for is the driver's own.
#[test]
fn a_paused_clock_does_not_stop_at_a_timer_that_a_hook_has_cancelled() {
    fn body<T: Time>() -> Duration {
        let mut builder = Builder::new_current_thread();
        builder.on_task_spawn(|_| assert!(poll_quietly(&mut T::boxed(ms(500))).is_pending()));
        let runtime = builder.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let start = Instant::now();
            drop(T::sleep(ms(1)));
            let (tell, told) = oneshot::channel();
            let foreign = thread::spawn(|| {
                thread::sleep(ms(50));
                tell.send(())
            });
            told.await.unwrap();
            foreign.join().unwrap().unwrap();
            start.elapsed()
        })
    }
    same_once(body::<Tokio>, body::<Ours>);
}
