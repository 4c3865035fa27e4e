//! A pool of connections that is smaller than the number of its users. An operation waits for a connection, under a
//! timeout of the pool's own code, sends a query through it, and puts it back. Behind a connection is a task with a channel.

use std::sync::{Arc, Mutex};

use anyhow::Result;
use load::channels::{Server, servers};
use load::time::timeout;
use load::{CALLERS, Caller, LIMIT, Load, on_workers};
use tokio::sync::Semaphore;

const CONNECTIONS: usize = 16;

struct Pool {
    places: Semaphore,
    idle: Mutex<Vec<Server>>,
}

impl Pool {
    async fn query(&self, number: u64) -> Result<u64> {
        let _place = timeout(LIMIT, self.places.acquire()).await??;
        let connection = self.idle.lock().expect("no panic").pop();
        let connection = connection.expect("a connection for each place");
        let answer = connection.call(number).await;
        self.idle.lock().expect("no panic").push(connection);
        answer
    }
}

fn main() -> Result<()> {
    on_workers(async |seconds| {
        let (load, served) = (Load::new(CALLERS), Load::new(CONNECTIONS));
        let pool = Arc::new(Pool {
            places: Semaphore::new(CONNECTIONS),
            idle: Mutex::new(servers(served.counters()).0),
        });
        let tasks = load.spawn(|user| queries(user, pool.clone()));
        load.finish(seconds, tasks, || Ok(served.total())).await
    })
}

async fn queries(mut caller: Caller, pool: Arc<Pool>) {
    while let Some(number) = caller.next().await {
        let answer = pool.query(number).await;
        assert_eq!(answer.expect("an answer in time"), number + 1);
    }
}
