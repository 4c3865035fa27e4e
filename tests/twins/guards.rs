//! Timers made, polled and kept under another runtime's `enter()`.

use std::thread;

use tokio::task::LocalSet;

use crate::runtimes::{Current, KINDS, Kind, OTHERS, One, Two, end, in_task, joined, ticks};
use crate::time::Time;
use support::{HOUR, ms, poll_quietly};

/// What becomes of the other runtime once a timer was made under its guard.
#[derive(Clone, Copy, Debug)]
enum Other {
    /// It lives, and nobody drives it.
    Idle,
    Ends,
}

#[test]
fn a_task_whose_first_timer_was_made_under_a_guard_has_later_ones_of_its_own() {
    fn body<T: Time>(kind: Kind, of: Kind, other: Other) -> Result<(), String> {
        let (here, there) = (kind.build(), of.build());
        in_task(&here, async move {
            let first = {
                let _guard = there.enter();
                T::sleep(ms(1))
            };
            let there = match other {
                Other::Idle => Some(there),
                Other::Ends => {
                    end(there);
                    None
                }
            };
            ticks::<T>().await;
            let later = T::sleep(ms(1));
            joined(tokio::spawn(later)).await.unwrap();
            drop(first);
            there.into_iter().for_each(end);
        })
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for of in [Current, One] {
            same!(twins, body(kind, of, Other::Idle));
            same!(twins, body(kind, of, Other::Ends));
        }
    }
}

/// The timer is dropped unpolled, or kept, and the next is not polled where it was made.
#[test]
fn a_timer_made_after_the_guard_and_spawned_fires() {
    fn body<T: Time>(kind: Kind, other: Other) -> Result<(), String> {
        let (here, there) = (kind.build(), Current.build());
        in_task(&here, async move {
            {
                let _guard = there.enter();
                drop(T::sleep(ms(1)));
            }
            let mut there = Some(there);
            if let Other::Ends = other {
                there.take().into_iter().for_each(end);
            }
            let later = T::sleep(ms(1));
            joined(tokio::spawn(later)).await.unwrap();
            there.into_iter().for_each(end);
        })
    }
    let mut twins = twins!();
    for &kind in KINDS {
        same!(twins, body(kind, Other::Idle));
        same!(twins, body(kind, Other::Ends));
    }
}

/// The difference that was documented once, and panicked when the first runtime had ended.
#[test]
fn a_timer_made_under_a_guard_and_spawned_there_outlives_the_task_that_made_it() {
    fn body<T: Time>(kind: Kind, of: Kind) -> Result<(), String> {
        let (here, there) = (kind.build(), of.driven());
        let handle = there.handle.clone();
        let slept = in_task(&here, async move {
            ticks::<T>().await;
            let _guard = handle.enter();
            handle.spawn(T::sleep(ms(50)))
        });
        drop(here);
        let end = futures::executor::block_on(joined(slept?));
        there.end();
        end
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for &of in OTHERS {
            same!(twins, body(kind, of));
        }
    }
}

#[test]
fn a_timer_polled_under_a_guard_only_stays_pending() {
    fn body<T: Time>(kind: Kind, of: Kind) -> Result<bool, String> {
        let (here, there) = (kind.build(), of.driven());
        let handle = there.handle.clone();
        let polled = in_task(&here, async move {
            let mut own = T::boxed(HOUR);
            let _guard = handle.enter();
            let mut other = T::boxed(HOUR);
            poll_quietly(&mut own).is_pending() && poll_quietly(&mut other).is_pending()
        });
        there.end();
        polled
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for &of in OTHERS {
            same!(twins, body(kind, of));
        }
    }
}

#[test]
fn a_guard_held_over_awaits_in_block_on() {
    fn body<T: Time>(kind: Kind, of: Kind) -> Result<(), String> {
        let (here, there) = (kind.build(), of.driven());
        let handle = there.handle.clone();
        let spawned = here.block_on(async {
            ticks::<T>().await;
            let _guard = handle.enter();
            ticks::<T>().await;
            tokio::task::yield_now().await;
            ticks::<T>().await;
            let made_here = T::sleep(ms(1));
            joined(tokio::spawn(async {
                made_here.await;
                ticks::<T>().await;
            }))
            .await
        });
        here.block_on(ticks::<T>());
        there.end();
        here.block_on(ticks::<T>());
        spawned
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for &of in OTHERS {
            same!(twins, body(kind, of));
        }
    }
}

/// Tasks that the thread polls meanwhile see that context too.
#[test]
fn a_guard_held_over_awaits_in_a_local_task() {
    fn body<T: Time>(kind: Kind, of: Kind) -> [Result<(), String>; 3] {
        let (here, there) = (kind.build(), of.driven());
        let handle = there.handle.clone();
        let local = LocalSet::new();
        let guarded = local.spawn_local(async move {
            let _guard = handle.enter();
            for _ in 0..5 {
                ticks::<T>().await;
            }
        });
        let beside = local.spawn_local(async {
            for _ in 0..5 {
                ticks::<T>().await;
            }
        });
        let ends = local.block_on(&here, async {
            [joined(guarded).await, joined(beside).await]
        });
        there.end();
        let after = local.spawn_local(ticks::<T>());
        let [guarded, beside] = ends;
        [guarded, beside, local.block_on(&here, joined(after))]
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for &of in OTHERS {
            same!(twins, body(kind, of));
        }
    }
}

/// The runtime under whose guard a task waits ends.
#[test]
fn a_guard_of_a_runtime_that_ends_meanwhile() {
    fn body<T: Time>(kind: Kind) -> [Result<(), String>; 2] {
        let (here, there) = (kind.build(), Current.driven());
        let handle = there.handle.clone();
        let local = LocalSet::new();
        let guarded = local.spawn_local(async move {
            let _guard = handle.enter();
            let mut slept = T::boxed(HOUR);
            assert!(poll_quietly(&mut slept).is_pending());
            there.end();
            slept.await;
        });
        let guarded = local.block_on(&here, joined(guarded));
        let after = local.spawn_local(ticks::<T>());
        [guarded, local.block_on(&here, joined(after))]
    }
    let mut twins = twins!();
    for &kind in KINDS {
        same!(twins, body(kind));
    }
}

#[test]
fn guards_on_plain_threads_in_turn() {
    fn body<T: Time>(one: Kind, two: Kind) -> Vec<Result<(), String>> {
        let (one, two) = (one.driven(), two.driven());
        let handles = [one.handle.clone(), two.handle.clone()];
        let slept = thread::spawn(move || {
            let mut tasks = Vec::new();
            for n in 0..8 {
                let _outer = handles[n % 2].enter();
                let outer = T::sleep(ms(1));
                let _inner = handles[1 - n % 2].enter();
                let inner = T::sleep(ms(1));
                tasks.push(tokio::spawn(outer));
                tasks.push(handles[n % 2].spawn(inner));
            }
            futures::executor::block_on(futures::future::join_all(tasks.into_iter().map(joined)))
        });
        let slept = slept.join().unwrap();
        one.end();
        two.end();
        slept
    }
    let mut twins = twins!();
    for &one in OTHERS {
        for two in [One, Two] {
            same!(twins, body(one, two));
        }
    }
}
