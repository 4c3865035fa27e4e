//! The first timer of a process may be made anywhere, and leaves the task around the timer as before.
//!
//! Here that is a `LocalSet`, where the driver makes a task of its own to learn from.

use crate::everywhere::*;

use tokio::task::{self, coop};

const HALF_A_BUDGET: usize = 64;

/// Spends the rest of the task's budget, and returns how much that was.
async fn spend_budget() -> usize {
    let mut spent = 0;
    poll_fn(|cx| {
        while let Poll::Ready(budget) = coop::poll_proceed(cx) {
            budget.made_progress();
            spent += 1;
        }
        Poll::Ready(())
    })
    .await;
    spent
}

#[test]
fn the_first_timer_leaves_the_task_around_it_as_it_was() {
    if support::in_a_process_of_its_own() {
        return;
    }
    let runtime = support::multi_thread(2);
    let set = LocalSet::new();
    runtime.block_on(set.run_until(async {
        let first = async {
            let id = task::id();
            for _ in 0..HALF_A_BUDGET {
                coop::consume_budget().await;
            }
            let sleep = sleep(Duration::from_millis(1));
            assert_eq!(task::id(), id);
            assert_eq!(spend_budget().await, HALF_A_BUDGET);
            // The outer `LocalSet` is current again.
            let next = timeout(Duration::from_secs(60), task::yield_now());
            task::spawn_local(next).await.unwrap().unwrap();
            sleep.await;
        };
        task::spawn_local(first).await.unwrap();
    }));
}
