//! Assumed of a task's waker: it keeps neither the task's future nor its output alive.

use super::*;

use std::future::pending;

/// Returns the waker that polls this future.
fn waker_here() -> impl Future<Output = Waker> + Send {
    poll_fn(|cx| Poll::Ready(cx.waker().clone()))
}

#[test]
fn a_waker_keeps_no_future_and_no_output() {
    for runtime in both() {
        let (tell, dropped) = mpsc::channel();
        let (give, given) = mpsc::channel();
        let tells = |tell: mpsc::Sender<()>| AtEnd(move || _ = tell.send(()));
        let (future, output) = (tells(tell.clone()), tells(tell));
        let give_also = give.clone();
        let aborted = runtime.spawn(async move {
            let _future = future;
            give.send(waker_here().await).unwrap();
            pending::<()>().await;
        });
        let finished = runtime.spawn(async move {
            give_also.send(waker_here().await).unwrap();
            output
        });
        drop(runtime.block_on(finished).unwrap());
        dropped.recv_timeout(secs(20)).expect("the output");
        let first = runtime.block_on(async { given.recv().unwrap() });
        aborted.abort();
        let _ = runtime.block_on(aborted);
        let is_gone = dropped.recv_timeout(secs(20)).is_ok();
        drop((first, given.recv().unwrap()));
        assumed! { "driver/shard.rs";
            "a task that is aborted drops its future though a waker of it lives": is_gone,
            "dropping a task's last waker drops no future": dropped.try_recv().is_err(),
        }
    }
}
