//! Assumed of user code that Tokio runs inside a call: what works there, and what panics.

use super::*;

/// What worked in the destructor of a future that was spawned in a runtime that is ending.
#[derive(Debug, PartialEq)]
struct Worked {
    current: bool,
    enter: bool,
    enter_another: bool,
    arm: bool,
}

fn try_all(other: &Handle, interval: &mut Interval) -> Worked {
    let here = Handle::try_current().ok();
    let enters = |handle: &Handle| panic_of(|| drop(handle.enter())).is_none();
    Worked {
        current: here.is_some(),
        enter: here.as_ref().is_some_and(enters),
        enter_another: enters(other),
        arm: arm(interval, in_an_hour(), Waker::noop()).is_pending()
            && arm(interval, past(), Waker::noop()).is_ready(),
    }
}

#[test]
fn while_a_task_is_spawned_entering_panics_and_arming_works() {
    for (runtime, other) in both().into_iter().zip([multi_thread(1), current_thread()]) {
        let (tell, told) = mpsc::channel();
        let (other, mut interval) = (other.handle().clone(), inside(runtime.handle(), interval));
        let mut within = Some(AtEnd(move || {
            let _ = tell.send(try_all(&other, &mut interval));
        }));
        reports_at_its_end(runtime.handle(), move || {
            let clean_up = within.take();
            tokio::spawn(async move { drop(clean_up) });
        });
        runtime.block_on(yield_now());
        drop(runtime);
        let worked = told.recv_timeout(secs(20)).unwrap();
        assumed! { "platform/real.rs";
            "the current handle is available while a task is spawned": worked.current,
            "no runtime can be entered meanwhile": !worked.enter && !worked.enter_another,
            "an interval can be armed and disarmed meanwhile": worked.arm,
        }
    }
}
