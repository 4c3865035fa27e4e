//! Timers made, polled and kept under another runtime's `enter()` leave the task's own alone.

use super::prelude::*;

/// How a task makes its first timer in another runtime.
#[derive(Clone, Copy, Debug)]
enum First {
    /// Under its guard, and polls the timer there.
    Polled,
    /// Under its guard, and keeps the timer.
    Kept,
    /// Under its guard, and drops the timer there.
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

/// By then the other runtime idles, or has ended.
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
            // Not polled where it was made.
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

/// The runtime under whose guard a task waits ends.
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
