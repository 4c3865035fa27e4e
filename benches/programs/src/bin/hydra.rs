//! `GenServer::call` between hydra's processes, under the crate's default timeout of 5 s.
//!
//! As published, hydra's timeouts are pingora-timeout's. In the whole tree, the runner builds a copy of hydra whose only
//! changed line calls `tokio::time::timeout` instead.

use std::future::pending;
use std::sync::Arc;

use anyhow::Result;
use hydra::{ExitReason, From, GenServer, GenServerOptions, Pid, Process};
use load::{Load, finish, on_two_workers};
use serde::{Deserialize, Serialize};
use tokio::sync::{Barrier, oneshot};

struct Adder(usize, Load);

#[derive(Debug, Serialize, Deserialize)]
struct Number(u64);

impl GenServer for Adder {
    type Message = Number;

    async fn init(&mut self) -> Result<(), ExitReason> {
        Ok(())
    }

    async fn handle_call(&mut self, number: Number, _: From) -> Result<Option<Number>, ExitReason> {
        self.1.done(self.0);
        Ok(Some(Number(number.0 + 1)))
    }
}

fn main() -> Result<()> {
    on_two_workers(async |seconds, size| {
        let (load, served) = (Load::new(size), Load::new(size));
        let actors = actors(size, served.clone()).await?;
        // hydra registers a process after it has spawned the process, and loses messages for a process that is not
        // registered. So no process makes a call before all are registered.
        let registered = Arc::new(Barrier::new(size + 1));
        let tasks = load.spawn(|caller| {
            let calls = calls(caller, actors.clone(), load.clone());
            let (registered, (ended, end)) = (registered.clone(), oneshot::channel());
            Process::spawn(async move {
                registered.wait().await;
                calls.await;
                ended.send(()).expect("a task that waits");
            });
            async { end.await.expect("a process that does not panic") }
        });
        registered.wait().await;
        finish(load, tasks, seconds, || Ok(served.total())).await
    })
}

/// Starts the servers from a process, which has to live as long as they do.
async fn actors(size: usize, served: Load) -> Result<Vec<Pid>> {
    let (started, actors) = oneshot::channel();
    Process::spawn(async move {
        let mut actors = Vec::new();
        for actor in 0..size {
            let server = Adder(actor, served.clone()).start(GenServerOptions::new());
            actors.push(server.await.expect("a server"));
        }
        started.send(actors).expect("a task that waits");
        pending::<()>().await;
    });
    Ok(actors.await?)
}

async fn calls(caller: usize, actors: Vec<Pid>, load: Load) {
    for number in caller.. {
        let call = Adder::call(actors[number % actors.len()], Number(number as u64), None);
        let answer = call.await.expect("an answer in time");
        assert_eq!(answer.0, number as u64 + 1);
        if !load.done(caller) {
            break;
        }
    }
}
