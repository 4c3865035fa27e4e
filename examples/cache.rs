//! A cache whose values have a time to live: a map for the values and a `DelayQueue` for their ends.
//!
//! A value may be found for a millisecond or two longer than its time to live. If that matters,
//! store the deadline, too, and let `get` check it. For a limited size and for statistics, use the
//! crate moka.
//!
//! `cargo run --example cache`

use std::collections::HashMap;
use std::future::poll_fn;
use std::hash::Hash;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use wheel::{DelayQueue, Duration, Instant, delay_queue, sleep};

struct Cache<K, V>(Mutex<Entries<K, V>>);

struct Entries<K, V> {
    values: HashMap<K, (V, delay_queue::Key)>,
    ends: DelayQueue<K>,
}

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    fn new() -> Self {
        let (values, ends) = (HashMap::new(), DelayQueue::new());
        Cache(Mutex::new(Entries { values, ends }))
    }

    fn get(&self, key: &K) -> Option<V> {
        let entries = self.0.lock().unwrap();
        entries.values.get(key).map(|(value, _)| value.clone())
    }

    fn insert(&self, key: K, value: V, time_to_live: Duration) {
        let entries = &mut *self.0.lock().unwrap();
        let end = entries.ends.insert(key.clone(), time_to_live);
        if let Some((_, former)) = entries.values.insert(key, (value, end)) {
            entries.ends.remove(&former);
        }
    }

    /// Removes entries when their time is over. One task does so for the whole cache.
    async fn expire(&self) {
        poll_fn(|cx| {
            // The lock is held during a poll, not while the task waits.
            let entries = &mut *self.0.lock().unwrap();
            // An insertion wakes this task even if the queue was empty.
            while let Poll::Ready(Some(expired)) = entries.ends.poll_expired(cx) {
                entries.values.remove(expired.get_ref());
            }
            Poll::Pending
        })
        .await
    }
}

#[tokio::main]
async fn main() {
    let cache = Arc::new(Cache::new());
    let expiring = Arc::clone(&cache);
    tokio::spawn(async move { expiring.expire().await });

    let start = Instant::now();
    cache.insert("price", 42, Duration::from_millis(100));
    println!("price: {:?}", cache.get(&"price"));
    while cache.get(&"price").is_some() {
        sleep(Duration::from_millis(1)).await;
    }
    println!("no price after {:?}", start.elapsed());
}
