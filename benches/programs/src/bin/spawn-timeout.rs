//! An acceptor that spawns each unit of work as `tokio::spawn(timeout(30 s, work))`. A unit calls three servers over
//! channels. There are as many units at a time as there are servers.

use std::sync::Arc;

use anyhow::{Result, ensure};
use load::channels::{Server, servers};
use load::time::timeout;
use load::{CALLERS, LIMIT, Load, on_workers};
use tokio::sync::mpsc;

const CALLS: u64 = 3;

fn main() -> Result<()> {
    on_workers(async |seconds| {
        let [load, served] = [(); 2].map(|()| Load::new(CALLERS));
        let (servers, _) = servers(served.counters());
        let acceptor = tokio::spawn(accept(servers.into(), load.clone()));
        let done = load.run(seconds, vec![acceptor]).await?;
        let served = served.total();
        ensure!(
            served == CALLS * done,
            "{done} units were completed, with {served} calls"
        );
        Ok(())
    })
}

async fn accept(servers: Arc<[Server]>, load: Load) {
    // A place per unit that may start.
    let (free, mut places) = mpsc::unbounded_channel();
    for place in load.counters() {
        free.send(place).expect("the acceptor");
    }
    let mut number = 0;
    while load.goes_on() {
        let place = places.recv().await.expect("a place");
        let (servers, free) = (servers.clone(), free.clone());
        let began = place.begin();
        let work = async move {
            for call in number..number + CALLS {
                let answer = servers[call as usize % servers.len()].call(call).await;
                assert_eq!(answer.expect("an answer"), call + 1);
            }
            place.end(began);
            free.send(place).expect("the acceptor");
        };
        tokio::spawn(timeout(30 * LIMIT, work));
        number += CALLS;
    }
    // Every unit has to give its place back.
    for _ in load.counters() {
        places.recv().await.expect("a place");
    }
}
