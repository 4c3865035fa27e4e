//! Timers that a task makes, polls and keeps inside another runtime's `enter()` do not affect its own timers.

use super::prelude::*;

/// How a task makes its first timer in another runtime.
#[derive(Clone, Copy, Debug)]
enum First {
    /// Inside its `enter()`, where the task also polls the timer.
    Polled,
    /// Inside its `enter()`, and keeps the timer.
    Kept,
    /// Inside its `enter()`, where the task also drops the timer.
    Dropped,
    /// In its `block_on`, as a blocking client does.
    Nested,
}

impl First {
    fn make<T: Time>(self, there: &Runtime) -> Option<Pin<Box<T::Sleep>>> {
        if let First::Nested = self {
            drop(block_in_place(|| there.block_on(async { T::boxed(ms(1)) })));
            return None;
        }
        let _guard = there.enter();
        let mut sleep = T::boxed(HOUR);
        assert!(!matches!(self, First::Polled) || poll_quietly(&mut sleep).is_pending());
        (!matches!(self, First::Dropped)).then_some(sleep)
    }
}

/// The other runtime is idle by then, or has ended.
#[test]
fn a_task_whose_first_timer_was_made_elsewhere_has_later_ones_of_its_own() {
    type Case = ((Kind, First), Kind, bool);

    fn body<T: Time>(((kind, first), of, ends): Case) -> Result<(), String> {
        let (here, there) = (kind.build(), of.builder().build().unwrap());
        in_task(&here, async move {
            let first = first.make::<T>(&there);
            let mut there = Some(there);
            if ends {
                there.take().into_iter().for_each(end);
            }
            // Another task polls this timer first.
            let later = T::sleep(ms(1));
            joined(tokio::spawn(later)).await.unwrap();
            ticks::<T>().await;
            joined(tokio::spawn(T::sleep(ms(1)))).await.unwrap();
            drop(first);
            there.into_iter().for_each(end);
        })
    }
    let mut firsts = cross(KINDS, [First::Polled, First::Kept, First::Dropped]);
    firsts.extend(cross(MULTI, [First::Nested]));
    let cases = cross3(firsts, MOVABLE, [false, true]);
    same(cases, body::<Tokio>, body::<Ours>);
}

/// A task waits inside the `enter()` of a runtime, and that runtime ends.
#[test]
fn a_guard_of_a_runtime_that_ends_meanwhile() {
    fn body<T: Time>((kind, of): (Kind, Kind)) -> [Result<(), String>; 2] {
        let (here, there) = (kind.build(), of.driven());
        let handle = there.handle.clone();
        let local = LocalSet::new();
        let guarded = local.spawn_local(async move {
            let mut own = T::boxed(HOUR);
            let _guard = handle.enter();
            let mut other = T::boxed(HOUR);
            assert!(poll_quietly(&mut own).is_pending());
            assert!(poll_quietly(&mut other).is_pending());
            there.end();
            assert!(poll_quietly(&mut own).is_pending());
            other.await;
        });
        let guarded = here.block_on(local.run_until(joined(guarded)));
        let after = local.spawn_local(ticks::<T>());
        [guarded, here.block_on(local.run_until(joined(after)))]
    }
    same(cross(KINDS, KINDS), body::<Tokio>, body::<Ours>);
}
