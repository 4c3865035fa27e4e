//! `ask` with a reply timeout between kameo's actors, all in one process.

use anyhow::Result;
use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::error::Infallible;
use kameo::message::{Context, Message};
use load::{LIMIT, Load, call, on_two_workers};

struct Adder(usize, Load);

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
        self.1.done(self.0);
        number + 1
    }
}

fn main() -> Result<()> {
    on_two_workers(async |seconds, size| {
        let served = Load::new(size);
        let actors = (0..size).map(|actor| Adder::spawn(Adder(actor, served.clone())));
        call(
            seconds,
            actors.collect(),
            served.clone(),
            |actor, number| async move {
                let answer = actor.ask(Add(number)).reply_timeout(LIMIT).await;
                answer.expect("an answer in time")
            },
        )
        .await
    })
}
