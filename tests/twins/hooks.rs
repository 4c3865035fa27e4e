//! Hooks for tasks may make timers, though they are called for the driver's own task, too.

use tokio::runtime::Builder;

use crate::runtimes::cross;
use crate::twin::same;
use support::ms;
use support::time::{Ours, Time, Tokio};

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
