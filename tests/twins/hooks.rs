//! Hooks that a runtime calls for its tasks, and that make timers: the driver's own task is one.

use tokio::runtime::Builder;

use crate::time::Time;
use support::ms;

fn run<T: Time>(mut builder: Builder) {
    let runtime = builder.enable_all().build().unwrap();
    runtime.block_on(async {
        T::sleep(ms(2)).await;
        tokio::spawn(async { T::sleep(ms(2)).await }).await.unwrap();
    });
}

fn both() -> [Builder; 2] {
    [Builder::new_current_thread(), Builder::new_multi_thread()]
}

#[test]
fn a_hook_for_new_tasks_makes_a_timer() {
    fn body<T: Time>() {
        for mut builder in both() {
            builder.on_task_spawn(|_| drop(T::sleep(ms(1))));
            run::<T>(builder);
        }
    }
    let mut twins = twins!();
    same!(twins, body());
}

#[test]
fn a_hook_around_polls_makes_a_timer() {
    fn body<T: Time>() {
        for mut builder in both() {
            builder.on_before_task_poll(|_| drop(T::sleep(ms(1))));
            builder.on_after_task_poll(|_| drop(T::sleep(ms(1))));
            builder.on_task_terminate(|_| drop(T::sleep(ms(1))));
            run::<T>(builder);
        }
    }
    let mut twins = twins!();
    same!(twins, body());
}
