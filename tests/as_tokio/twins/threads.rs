//! Timers fire if several runtimes take turns on one thread.

use super::prelude::*;

/// In half of the cases the first runtime ends, and the others go on.
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
        for round in 0..16 {
            if ends && round == 8 {
                drop(all.remove(0));
            }
            let (runtime, local, _) = &all[round % all.len()];
            runtime.block_on(local.run_until(ticks::<T>()));
        }
        let last = |(runtime, local, task): (Built, LocalSet, _)| {
            runtime.block_on(local.run_until(joined(task)))
        };
        all.into_iter().map(last).collect()
    }
    same(cross(KINDS, [false, true]), body::<Tokio>, body::<Ours>);
}
