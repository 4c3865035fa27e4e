//! A queue of deadlines, and a timeout as a method: the timers of tokio-util. The tests name a path
//! inside a macro, and the error of a timeout.

use futures::StreamExt as _;
use tokio_util::time::{
    DelayQueue,
    delay_queue::{self, Expired},
};

use crate::clock::Duration;

/// Returns the sessions in the order in which they end, if the first is seen again.
pub async fn ended(sessions: &[u32], idle: Duration) -> Vec<u32> {
    let mut ends = DelayQueue::new();
    let keys = sessions.iter().map(|session| ends.insert(*session, idle));
    let keys: Vec<delay_queue::Key> = keys.collect();
    ends.reset(&keys[0], 2 * idle);
    ends.map(Expired::into_inner).collect().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{self, Instant, error::Elapsed};
    use tokio::{task, time::sleep};
    use tokio_util::future::FutureExt as _;

    macro_rules! within {
        ($limit:expr, $call:expr) => {
            tokio::time::timeout($limit, $call).await
        };
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_is_seen_ends_later() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let sleep = task::spawn(sleep(second));
        let ended = ended(&[1, 2], 5 * second).timeout(60 * second).await;
        assert_eq!(
            (ended.unwrap(), start.elapsed().as_secs()),
            (vec![2, 1], 10)
        );
        assert!(sleep.is_finished());
        time::advance(second).await;
        let late: Result<(), Elapsed> = within!(second, std::future::pending());
        assert!(late.is_err() && start.elapsed() >= 12 * second);
    }
}
