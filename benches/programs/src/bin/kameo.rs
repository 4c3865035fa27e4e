//! `ask` with a reply timeout between kameo's actors, all in one process.

use anyhow::Result;
use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::error::Infallible;
use kameo::message::{Context, Message};
use load::{Counter, LIMIT, call};

struct Adder(Counter);

struct Add(u64);

impl Actor for Adder {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(adder: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(adder)
    }
}

impl Message<Add> for Adder {
    type Reply = u64;

    async fn handle(&mut self, Add(number): Add, _: &mut Context<Self, u64>) -> u64 {
        self.0.done();
        number + 1
    }
}

fn main() -> Result<()> {
    call(
        async |counters| Ok(counters.into_iter().map(Adder).map(Adder::spawn).collect()),
        |actor, number| async move {
            let answer = actor.ask(Add(number)).reply_timeout(LIMIT).await;
            answer.expect("an answer in time")
        },
    )
}
