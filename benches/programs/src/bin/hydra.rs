//! `GenServer::call` between hydra's processes, under the crate's default timeout of 5 s.
//!
//! As published, hydra's timeouts are pingora-timeout's. In the whole tree, the runner builds a copy of hydra whose only
//! changed line calls `tokio::time::timeout` instead.

use std::future::pending;
use std::sync::Arc;

use anyhow::Result;
use hydra::{ExitReason, From, GenServer, GenServerOptions, Pid, Process};
use load::{Counter, Load, on_workers};
use serde::{Deserialize, Serialize};
use tokio::sync::{Barrier, oneshot};

struct Adder(Counter);

#[derive(Debug, Serialize, Deserialize)]
struct Number(u64);

impl GenServer for Adder {
    type Message = Number;

    async fn init(&mut self) -> Result<(), ExitReason> {
        Ok(())
    }

    async fn handle_call(&mut self, number: Number, _: From) -> Result<Option<Number>, ExitReason> {
        self.0.done();
        Ok(Some(Number(number.0 + 1)))
    }
}

fn main() -> Result<()> {
    on_workers(async |seconds, size| {
        let (load, served) = (Load::new(size), Load::new(size));
        let actors = actors(served.counters().collect()).await?;
        // hydra registers a process after it has spawned the process, and loses messages for a process that is not
        // registered. So no process makes a call before all are registered.
        let registered = Arc::new(Barrier::new(size + 1));
        let tasks = load.spawn(|caller| {
            let calls = calls(caller, actors.clone());
            let (registered, (ended, end)) = (registered.clone(), oneshot::channel());
            Process::spawn(async move {
                registered.wait().await;
                calls.await;
                ended.send(()).expect("a task that waits");
            });
            async { end.await.expect("a process that does not panic") }
        });
        registered.wait().await;
        load.finish(seconds, tasks, || Ok(served.total())).await
    })
}

/// Starts the servers from a process, which has to live as long as they do.
async fn actors(counters: Vec<Counter>) -> Result<Vec<Pid>> {
    let (started, actors) = oneshot::channel();
    Process::spawn(async move {
        let mut actors = Vec::new();
        for counter in counters {
            let server = Adder(counter).start(GenServerOptions::new());
            actors.push(server.await.expect("a server"));
        }
        started.send(actors).expect("a task that waits");
        pending::<()>().await;
    });
    Ok(actors.await?)
}

async fn calls(caller: Counter, actors: Vec<Pid>) {
    for number in caller.numbers() {
        let actor = actors[number as usize % actors.len()];
        let answer = Adder::call(actor, Number(number), None).await;
        assert_eq!(answer.expect("an answer in time").0, number + 1);
    }
}
