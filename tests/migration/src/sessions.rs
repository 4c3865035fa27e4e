//! A queue of deadlines, and a timeout as a method: the timers of tokio-util.

use std::collections::HashMap;
use std::time::Duration;

use futures::StreamExt as _;
use tokio_util::time::{
    DelayQueue,
    delay_queue::{self, Expired},
};

/// Sessions that end when they have not been seen for a while.
pub struct Sessions {
    idle: Duration,
    keys: HashMap<u32, delay_queue::Key>,
    ends: DelayQueue<u32>,
}

impl Sessions {
    pub fn new(idle: Duration) -> Self {
        let (keys, ends) = (HashMap::new(), DelayQueue::new());
        Sessions { idle, keys, ends }
    }

    pub fn seen(&mut self, session: u32) {
        if let Some(key) = self.keys.get(&session) {
            self.ends.reset(key, self.idle);
        } else {
            let key = self.ends.insert(session, self.idle);
            self.keys.insert(session, key);
        }
    }

    pub async fn ended(&mut self) -> Option<u32> {
        let session = self.ends.next().await.map(Expired::into_inner)?;
        self.keys.remove(&session);
        Some(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::{task, time::Instant};
    use tokio_util::future::FutureExt as _;

    #[tokio::test(start_paused = true)]
    async fn an_unseen_session_ends() {
        let (start, mut sessions) = (Instant::now(), Sessions::new(Duration::from_secs(5)));
        sessions.seen(1);
        sessions.seen(2);
        task::spawn(tokio::time::sleep(Duration::from_secs(1)))
            .await
            .unwrap();
        sessions.seen(1);
        assert_eq!(sessions.ended().await, Some(2));
        assert_eq!(sessions.ended().await, Some(1));
        assert_eq!(start.elapsed().as_secs(), 6);
        let none = sessions.ended().timeout(Duration::from_secs(1)).await;
        assert_eq!(none.unwrap(), None);
    }
}
