//! A runtime's hooks for tasks may make timers, although the runtime also calls them for the driver task, and while it
//! spawns a task.

use super::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Hook {
    NewTasks,
    Polls,
}

const HOOKS: [Hook; 2] = [Hook::NewTasks, Hook::Polls];

/// What a hook does with a timer that is due in an hour.
#[derive(Clone, Copy, Debug)]
enum Use {
    /// Makes and drops the timer.
    Make,
    Poll,
    /// Resets without a poll, to a deadline in this many milliseconds.
    Reset(u64),
    /// Polls, then resets.
    PollAndReset(u64),
}

const USES: [Use; 6] = [
    Use::Make,
    Use::Poll,
    Use::Reset(0),
    Use::Reset(1),
    Use::PollAndReset(0),
    Use::PollAndReset(3),
];

impl Use {
    fn of<T: Time>(self) {
        let mut sleep = T::boxed(HOUR);
        if let Use::Poll | Use::PollAndReset(_) = self {
            assert!(poll_quietly(&mut sleep).is_pending());
        }
        if let Use::Reset(after) | Use::PollAndReset(after) = self {
            sleep.as_mut().reset(Instant::now() + ms(after));
        }
    }
}

impl Hook {
    fn set<T: Time>(self, builder: &mut Builder, uses: Use) {
        match self {
            Hook::NewTasks => drop(builder.on_task_spawn(move |_| uses.of::<T>())),
            Hook::Polls => {
                builder.on_before_task_poll(move |_| uses.of::<T>());
                builder.on_after_task_poll(move |_| uses.of::<T>());
                // This hook does not poll its timer: a runtime that ends also terminates the driver task, and a
                // timer that is polled there panics.
                builder.on_task_terminate(|_| Use::Make.of::<T>());
            }
        }
    }
}

/// The runtime's first timer is the hook's, or that of a future that is polled before any task is spawned.
#[test]
fn a_hook_for_tasks_makes_a_timer() {
    type Case = ((Kind, Hook), Use, bool);

    fn body<T: Time>(((kind, hook), uses, is_first): Case) -> Result<(), String> {
        let mut builder = kind.builder();
        hook.set::<T>(&mut builder, uses);
        builder.build().unwrap().block_on(async {
            if !is_first {
                T::sleep(ms(2)).await;
            }
            let slept = joined(tokio::spawn(async { T::sleep(ms(2)).await })).await;
            T::sleep(ms(2)).await;
            slept
        })
    }
    let cases = cross3(cross(MOVABLE, HOOKS), USES, [false, true]);
    same(cases, body::<Tokio>, body::<Ours>);
}
