//! A queue of deadlines, batches of a stream, and a limit as a method: the types of tokio's companions.

use std::collections::HashMap;
use std::time::Duration;

use tokio_stream::{Stream, StreamExt};
use tokio_util::time::{
    DelayQueue,
    delay_queue::{self, Expired},
};

/// Sessions that end when they have not been seen for so long.
pub struct Sessions {
    idle: Duration,
    keys: HashMap<u32, delay_queue::Key>,
    ends: DelayQueue<u32>,
}

impl Sessions {
    pub fn new(idle: Duration) -> Self {
        Sessions {
            idle,
            keys: HashMap::new(),
            ends: DelayQueue::new(),
        }
    }

    pub fn seen(&mut self, session: u32) {
        match self.keys.get(&session) {
            Some(key) => self.ends.reset(key, self.idle),
            None => drop(
                self.keys
                    .insert(session, self.ends.insert(session, self.idle)),
            ),
        }
    }

    pub async fn ended(&mut self) -> Option<u32> {
        let session = self.ends.next().await.map(Expired::into_inner)?;
        self.keys.remove(&session);
        Some(session)
    }
}

/// Batches of ten, or of the numbers that came in a second.
pub async fn batches(numbers: impl Stream<Item = u32> + Unpin) -> Vec<Vec<u32>> {
    let batches = numbers.chunks_timeout(10, Duration::from_secs(1));
    tokio::pin!(batches);
    let mut all = Vec::new();
    while let Some(batch) = batches.next().await {
        all.push(batch);
    }
    all
}

/// Items that are not late.
pub async fn in_time(numbers: impl Stream<Item = u32> + Unpin) -> Vec<u32> {
    let timely = numbers.timeout(Duration::from_secs(1));
    timely.map_while(Result::ok).collect().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;
    use tokio_util::future::FutureExt as _;

    #[tokio::test(start_paused = true)]
    async fn a_session_that_is_not_seen_ends() {
        let (start, mut sessions) = (Instant::now(), Sessions::new(Duration::from_secs(5)));
        sessions.seen(1);
        sessions.seen(2);
        tokio::time::sleep(Duration::from_secs(1)).await;
        sessions.seen(1);
        assert_eq!(sessions.ended().await, Some(2));
        assert_eq!(sessions.ended().await, Some(1));
        assert_eq!(start.elapsed().as_secs(), 6);
        let none = sessions.ended().timeout(Duration::from_secs(1)).await;
        assert_eq!(none, Ok(None));
    }

    #[tokio::test(start_paused = true)]
    async fn streams_are_cut_by_time() {
        let slow = || Box::pin(tokio_stream::iter(0..12).throttle(Duration::from_millis(300)));
        assert_eq!(batches(slow()).await.len(), 3);
        assert_eq!(in_time(slow()).await.len(), 12);
        let never = tokio_stream::iter([1]).chain(tokio_stream::pending());
        assert_eq!(in_time(never).await, [1]);
    }
}
