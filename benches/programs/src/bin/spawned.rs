//! `request` between spawned-concurrency's actors, under the crate's default timeout of 5 s.

use anyhow::Result;
use load::{Counter, call};
use spawned_concurrency::message::Message;
use spawned_concurrency::tasks::{Actor, ActorStart as _, Context, Handler};

struct Adder(Counter);

struct Add(u64);

impl Actor for Adder {}

impl Message for Add {
    type Result = u64;
}

impl Handler<Add> for Adder {
    async fn handle(&mut self, Add(number): Add, _: &Context<Self>) -> u64 {
        self.0.done();
        number + 1
    }
}

fn main() -> Result<()> {
    call(
        async |counters| {
            let start = |counter| Adder(counter).start();
            Ok(counters.into_iter().map(start).collect())
        },
        |actor, number| async move {
            let answer = actor.request(Add(number)).await;
            answer.expect("an answer in time")
        },
    )
}
