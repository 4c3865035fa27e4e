//! Timers go on with a runtime per thread, and with several runtimes on one thread.

use super::prelude::*;

/// The others go on when the first has ended.
#[test]
fn several_runtimes_take_turns_on_one_thread() {
    fn body<T: Time>((kind, ends): (Kind, bool)) -> Vec<Result<(), String>> {
        let begin = |_| {
            let (runtime, local) = (kind.build(), LocalSet::new());
            runtime.spawn(async {
                loop {
                    ticks::<T>().await;
                }
            });
            let task = local.spawn_local(async {
                for _ in 0..3 {
                    ticks::<T>().await;
                }
            });
            (runtime, local, task)
        };
        let mut all: Vec<_> = (0..4).map(begin).collect();
        for turn in 0..16 {
            if ends && turn == 8 {
                drop(all.remove(0));
            }
            let (runtime, local, _) = &all[turn % all.len()];
            local.block_on(runtime, ticks::<T>());
        }
        let last =
            |(runtime, local, task): (_, LocalSet, _)| local.block_on(&runtime, joined(task));
        all.into_iter().map(last).collect()
    }
    same(cross(KINDS, [false, true]), body::<Tokio>, body::<Ours>);
}
