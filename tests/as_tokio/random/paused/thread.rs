//! The interpreter of the thread's steps. It runs a whole program, from building its runtimes to dropping them.

use support::prelude::*;

use super::{by_hand, clocks, rules};
use crate::random::program::{Program, Rt, Step};
use crate::random::task::{Place, message};
use crate::random::trace::Trace;
use crate::random::world::World;

/// Runs a program, and returns its trace.
pub(crate) fn run<T: Time>(program: &Program) -> Trace {
    let begun = clocks::runtimes(program.runtimes, program.offset);
    let handles = begun.iter().map(|(rt, _)| rt.handle().clone()).collect();
    let begun = begun
        .into_iter()
        .map(|(rt, epoch)| (Some(rt), epoch))
        .unzip();
    let world = Arc::new(World::<T>::new(program, handles, begun));
    if T::OURS && program.precise {
        world.handles.iter().for_each(crate::random::be_precise);
    }
    let thread = Place::thread(&world);
    let set = LocalSet::new();
    steps(&thread, &set, &program.steps);
    for rt in 0..program.runtimes {
        drop(world.take_runtime(rt));
    }
    drop(set);
    world.shelf.lock().unwrap().clear();
    world.handles.iter().for_each(rules::has_ended);
    Trace::new(world.take_events())
}

fn steps<T: Time>(thread: &Place<T>, set: &LocalSet, all: &[Step]) {
    for (index, step) in all.iter().enumerate() {
        let place = thread.at(index);
        match catch_unwind(AssertUnwindSafe(|| apply(&place, set, step))) {
            Ok(what) if what.is_empty() => {}
            Ok(what) => place.record(what),
            Err(panic) => place.record(message(&*panic)),
        }
    }
}

fn apply<T: Time>(place: &Place<T>, set: &LocalSet, step: &Step) -> String {
    let drive = |rt: Rt, body: &dyn Fn(&Runtime)| {
        let Some(runtime) = place.world.take_runtime(rt) else {
            return "it is not there".into();
        };
        body(&runtime);
        place.world.put_back(rt, runtime);
        String::new()
    };
    match step {
        Step::Drive(rt, body) => drive(*rt, &|runtime| {
            runtime.block_on(root(place, *rt, false).run(body.clone()));
        }),
        Step::DriveLocal(rt, body) => drive(*rt, &|runtime| {
            let body = root(place, *rt, true).run(body.clone());
            runtime.block_on(set.run_until(body));
        }),
        Step::Hands(hands) => drive(0, &|runtime| runtime.block_on(by_hand::run(place, hands))),
        Step::Enter(rt, inner) => {
            let _guard = place.world.handles[*rt].enter();
            steps(place, set, inner);
            String::new()
        }
        Step::Now(slot, now) => place.apply_now(*slot, *now),
        Step::Spawn(task, rt) => place.spawn(*task, Some(*rt)),
        Step::End(rt) => {
            drop(place.world.take_runtime(*rt));
            String::new()
        }
    }
}

fn root<T: Time>(place: &Place<T>, rt: Rt, local: bool) -> Place<T> {
    Place {
        driven_by: Some(rt),
        local,
        ..place.at(0)
    }
}
