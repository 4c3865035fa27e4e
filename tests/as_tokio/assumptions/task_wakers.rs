//! Assumed of a task's waker: the vtable of all tasks, a data pointer of its own, and nothing kept.

use super::*;

use std::collections::HashSet;
use std::future::pending;

use futures::stream::StreamExt as _;
use tokio::task;

fn vtable(waker: &Waker) -> usize {
    std::ptr::from_ref(waker.vtable()) as usize
}

/// The waker that polls this.
fn waker_here() -> impl Future<Output = Waker> + Send {
    poll_fn(|cx| Poll::Ready(cx.waker().clone()))
}

/// Its vtable, in a future of another size.
async fn vtable_in_a_large_future() -> usize {
    let large = [0_u8; 300];
    let waker = waker_here().await;
    std::hint::black_box(large);
    vtable(&waker)
}

#[test]
fn all_tasks_have_one_vtable_and_no_other_waker_has_it() {
    let mut of_tasks = HashSet::new();
    let mut of_others = HashSet::from([vtable(Waker::noop()), vtable(&new_count_waker().0)]);
    for runtime in both() {
        let local = LocalSet::new();
        of_tasks.extend(runtime.block_on(async {
            let plain = tokio::spawn(waker_here()).await.unwrap();
            let mut set = JoinSet::new();
            set.spawn(vtable_in_a_large_future());
            let in_set = set.join_next().await.unwrap().unwrap();
            let local = local.run_until(async { task::spawn_local(waker_here()).await });
            [vtable(&plain), in_set, vtable(&local.await.unwrap())]
        }));
        of_others.extend(runtime.block_on(async {
            let mut unordered = FuturesUnordered::from_iter([waker_here()]);
            let within = unordered.next().await.unwrap();
            let local = local.run_until(waker_here()).await;
            [within, local, waker_here().await].map(|waker| vtable(&waker))
        }));
    }
    assumed! { "driver/wakers.rs";
        "all tasks' wakers have one vtable": of_tasks.len() == 1,
        "no waker but a task's has that vtable": of_tasks.is_disjoint(&of_others),
    }
}

#[test]
fn a_data_pointer_is_one_tasks_as_long_as_a_clone_of_its_waker_lives() {
    for runtime in both() {
        let kept = runtime.block_on(runtime.spawn(waker_here())).unwrap();
        let is_same = kept.clone().data() == kept.data();
        assumed! { "driver/timer.rs"; "a clone of a task's waker has the same data pointer": is_same }
        for _ in 0..2000 {
            let other = runtime.block_on(runtime.spawn(waker_here())).unwrap();
            let is_other = other.data() != kept.data();
            assumed! { "driver/timer.rs"; "no other task has the data pointer of a waker that lives": is_other }
        }
        let polls = runtime.spawn(async {
            let first = waker_here().await.data() as usize;
            task::yield_now().await;
            first == waker_here().await.data() as usize
        });
        let is_same = runtime.block_on(polls).unwrap();
        assumed! { "driver/timer.rs"; "a task has the same data pointer at each poll": is_same }
    }
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
