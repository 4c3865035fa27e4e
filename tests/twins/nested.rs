//! `block_on` within `block_in_place`, and on blocking threads.

use std::thread;

use futures::future::join_all;
use tokio::runtime::Handle;
use tokio::task::{LocalSet, block_in_place, spawn_blocking};

use crate::runtimes::{Current, KINDS, Kind, MULTI, OTHERS, One, end, in_task, joined, ticks};
use crate::time::Time;
use support::{ms, poll_quietly};

/// As a blocking client does it: the inner runtime is made there, and ends there.
#[test]
fn timers_in_a_nested_runtime_and_around_it() {
    fn body<T: Time>(kind: Kind, of: Kind, before: bool) -> Result<(), String> {
        let here = kind.build();
        in_task(&here, async move {
            if before {
                ticks::<T>().await;
            }
            block_in_place(|| {
                let inner = of.build();
                inner.block_on(ticks::<T>());
                inner.block_on(inner.spawn(ticks::<T>())).unwrap();
            });
            ticks::<T>().await;
            joined(tokio::spawn(T::sleep(ms(1)))).await.unwrap();
        })
    }
    let mut twins = twins!();
    for &kind in MULTI {
        for &of in OTHERS {
            same!(twins, body(kind, of, false));
            same!(twins, body(kind, of, true));
        }
    }
}

/// The task's first timer is made in the client's `block_on`, and polled nowhere. Later ones
/// are spawned; by then the client idles, or has ended.
#[test]
fn a_task_whose_first_timer_was_made_in_a_nested_block_on_has_later_ones_of_its_own() {
    fn body<T: Time>(kind: Kind, of: Kind, ends: bool) -> Result<(), String> {
        let (here, inner) = (kind.build(), of.build());
        in_task(&here, async move {
            drop(block_in_place(|| inner.block_on(async { T::boxed(ms(1)) })));
            let mut inner = Some(inner);
            if ends {
                inner.take().into_iter().for_each(end);
            }
            let later = T::sleep(ms(1));
            joined(tokio::spawn(later)).await.unwrap();
            ticks::<T>().await;
            inner.into_iter().for_each(end);
        })
    }
    let mut twins = twins!();
    for &kind in MULTI {
        for &of in OTHERS {
            same!(twins, body(kind, of, false));
            same!(twins, body(kind, of, true));
        }
    }
}

#[test]
fn timers_of_the_task_are_awaited_in_a_nested_block_on() {
    fn body<T: Time>(kind: Kind, of: Kind) -> Result<(), String> {
        let here = kind.build();
        in_task(&here, async move {
            // Another worker takes over what this thread did, if there is one; else nobody.
            let (new, mut registered) = (T::boxed(ms(1)), T::boxed(ms(1)));
            // A slow machine finds it due.
            let _pending = poll_quietly(&mut registered);
            block_in_place(|| {
                let inner = of.build();
                inner.block_on(join_all([new, registered]));
            });
            ticks::<T>().await;
        })
    }
    let mut twins = twins!();
    for &kind in MULTI {
        for &of in OTHERS {
            same!(twins, body(kind, of));
        }
    }
}

/// Made in the nested runtime, which lives on and is driven, and awaited outside.
#[test]
fn timers_of_a_nested_runtime_are_awaited_outside_of_it() {
    fn body<T: Time>(kind: Kind, of: Kind, registered: bool) -> Result<(), String> {
        let (here, inner) = (kind.build(), of.driven());
        in_task(&here, async move {
            let sleep = block_in_place(|| {
                inner.handle.block_on(async {
                    let mut sleep = T::boxed(ms(30));
                    assert!(!registered || poll_quietly(&mut sleep).is_pending());
                    sleep
                })
            });
            sleep.await;
            inner.end();
            ticks::<T>().await;
        })
    }
    let mut twins = twins!();
    for &kind in MULTI {
        for &of in OTHERS {
            same!(twins, body(kind, of, false));
            same!(twins, body(kind, of, true));
        }
    }
}

#[test]
fn the_runtimes_own_handle_blocks_in_place() {
    fn body<T: Time>(kind: Kind) -> Result<(), String> {
        let here = kind.build();
        in_task(&here, async {
            for _ in 0..5 {
                block_in_place(|| {
                    Handle::current().block_on(async {
                        ticks::<T>().await;
                        joined(tokio::spawn(ticks::<T>())).await.unwrap();
                    });
                });
                ticks::<T>().await;
            }
        })
    }
    let mut twins = twins!();
    for &kind in MULTI {
        same!(twins, body(kind));
    }
}

#[test]
fn a_local_set_in_a_nested_block_on() {
    fn body<T: Time>(kind: Kind, of: Kind) -> Result<(), String> {
        let (here, inner) = (kind.build(), of.build());
        in_task(&here, async move {
            block_in_place(|| {
                let local = LocalSet::new();
                local.spawn_local(ticks::<T>());
                local.block_on(&inner, async {
                    ticks::<T>().await;
                    tokio::task::spawn_local(ticks::<T>()).await.unwrap();
                });
                Handle::current().block_on(local);
            });
            end(inner);
            ticks::<T>().await;
        })
    }
    let mut twins = twins!();
    for &kind in MULTI {
        for &of in OTHERS {
            same!(twins, body(kind, of));
        }
    }
}

#[test]
fn blocks_in_place_within_blocks_in_place() {
    fn body<T: Time>(kind: Kind) -> Result<(), String> {
        let (here, inner) = (kind.build(), One.build());
        in_task(&here, async move {
            block_in_place(|| {
                inner.block_on(async {
                    ticks::<T>().await;
                    block_in_place(|| Current.build().block_on(ticks::<T>()));
                    ticks::<T>().await;
                });
            });
            ticks::<T>().await;
            end(inner);
            ticks::<T>().await;
        })
    }
    let mut twins = twins!();
    for &kind in MULTI {
        same!(twins, body(kind));
    }
}

#[test]
fn blocking_threads_with_the_handle_and_with_a_runtime_of_their_own() {
    fn body<T: Time>(kind: Kind, of: Kind) -> Result<(), String> {
        let here = kind.build();
        in_task(&here, async move {
            for _ in 0..3 {
                let own = spawn_blocking(|| {
                    let sleep = T::boxed(ms(1));
                    Handle::current().block_on(ticks::<T>());
                    sleep
                });
                own.await.unwrap().await;
                let client = spawn_blocking(move || of.build().block_on(ticks::<T>()));
                client.await.unwrap();
                let thread = thread::spawn(move || of.build().block_on(ticks::<T>()));
                thread.join().unwrap();
            }
        })
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for &of in OTHERS {
            same!(twins, body(kind, of));
        }
    }
}

/// Timers made inside, that are polled only once the nested runtime has ended: tokio's panic.
#[test]
fn what_a_nested_runtime_leaves_behind_goes_on_outside() {
    use crate::twin::finished;
    use support::SHUT_DOWN;

    fn body<T: Time>(kind: Kind, of: Kind) -> Result<(), String> {
        let (here, inner) = (kind.build(), of.build());
        in_task(&here, async move {
            let sleep = block_in_place(|| inner.block_on(async { T::boxed(ms(1)) }));
            end(inner);
            sleep.await;
        })
    }
    let mut twins = twins!();
    for &kind in MULTI {
        for &of in OTHERS {
            differs!(twins, body(kind, of), tokio: finished(Err::<(), _>(SHUT_DOWN)),
                wheel: finished(Ok::<_, ()>(())));
        }
    }
}
