//! An acceptor that spawns each unit of work as `tokio::spawn(timeout(30 s, work))`. A unit calls three servers over
//! channels. There are as many units at a time as there are servers.

use std::sync::Arc;

use anyhow::{Result, ensure};
use load::channels::{Server, servers};
use load::{LIMIT, Load, join, on_two_workers};
use tokio::sync::mpsc;
use tokio::time::timeout;

const CALLS: u64 = 3;

fn main() -> Result<()> {
    on_two_workers(async |seconds, size| {
        let (load, served) = (Load::new(size), Load::new(size));
        let (servers, _) = servers(&served);
        let acceptor = tokio::spawn(accept(size, servers.into(), load.clone()));
        load.measure(seconds).await?;
        load.stop();
        join(vec![acceptor]).await?;
        let (served, done) = (served.total(), load.total());
        ensure!(
            served == CALLS * done,
            "{done} units were completed, with {served} calls"
        );
        Ok(())
    })
}

async fn accept(size: usize, servers: Arc<[Server]>, load: Load) {
    // The servers that no unit is using.
    let (free, mut places) = mpsc::unbounded_channel();
    (0..size).for_each(|place| free.send(place).expect("the acceptor"));
    let mut number = 0;
    while load.goes_on() {
        let place = places.recv().await.expect("a place");
        let (servers, load, free) = (servers.clone(), load.clone(), free.clone());
        let work = async move {
            for call in number..number + CALLS {
                let answer = servers[call as usize % servers.len()].call(call).await;
                assert_eq!(answer.expect("an answer"), call + 1);
            }
            load.done(place);
            free.send(place).expect("the acceptor");
        };
        tokio::spawn(timeout(30 * LIMIT, work));
        number += CALLS;
    }
    // Every unit has to give its server back.
    for _ in 0..size {
        places.recv().await.expect("a place");
    }
}
