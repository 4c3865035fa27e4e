//! Timers fire in a `block_on` within `block_in_place`, and around it.

use crate::prelude::*;

/// The runtime that a worker blocks on.
#[derive(Clone, Copy, Debug)]
enum Inner {
    /// A runtime that is made there, and ends there, as in a blocking client.
    Client(Kind),
    /// The worker's own runtime.
    Own,
    /// A local set, which such a runtime drives, and then the worker's.
    LocalSet(Kind),
    /// Such a runtime within another.
    Twice,
}

impl Inner {
    /// Awaits the timers that the task has made, and then timers of its own.
    fn block<T: Time>(self, made: impl Future) {
        match self {
            Inner::Client(kind) => {
                let inner = kind.build();
                inner.block_on(made);
                inner.block_on(ticks::<T>());
                inner.block_on(inner.spawn(ticks::<T>())).unwrap();
            }
            Inner::Own => Handle::current().block_on(async {
                made.await;
                ticks::<T>().await;
                joined(tokio::spawn(ticks::<T>())).await.unwrap();
            }),
            Inner::LocalSet(kind) => {
                let local = LocalSet::new();
                local.spawn_local(ticks::<T>());
                local.block_on(&kind.build(), async {
                    made.await;
                    ticks::<T>().await;
                    spawn_local(ticks::<T>()).await.unwrap();
                });
                Handle::current().block_on(local);
            }
            Inner::Twice => One.build().block_on(async {
                ticks::<T>().await;
                block_in_place(|| Current.build().block_on(made));
                ticks::<T>().await;
            }),
        }
    }
}

/// Another thread, if there is any, takes over the work of the worker that blocks.
#[test]
fn timers_in_a_nested_block_on_and_around_it() {
    fn body<T: Time>((kind, inner, before): (Kind, Inner, bool)) -> Result<(), String> {
        in_task(&kind.build(), async move {
            if before {
                ticks::<T>().await;
            }
            for _ in 0..3 {
                let (new, mut registered) = (T::boxed(ms(1)), T::boxed(ms(1)));
                // On a slow machine the timer is due already.
                let _pending = poll_quietly(&mut registered);
                block_in_place(|| inner.block::<T>(join_all([new, registered])));
                ticks::<T>().await;
                joined(tokio::spawn(T::sleep(ms(1)))).await.unwrap();
            }
        })
    }
    let mut inners = vec![Inner::Own, Inner::Twice];
    inners.extend(KINDS.map(Inner::Client));
    inners.extend(KINDS.map(Inner::LocalSet));
    let cases = cross3(MULTI, inners, [false, true]);
    same(cases, body::<Tokio>, body::<Ours>);
}
