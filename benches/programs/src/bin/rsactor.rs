//! `ask_with_timeout` between rsactor's actors.

use std::convert::Infallible;

use anyhow::Result;
use load::{Counter, LIMIT, call};
use rsactor::{Actor, ActorRef, message_handlers, spawn};

struct Adder(Counter);

struct Add(u64);

impl Actor for Adder {
    type Args = Self;
    type Error = Infallible;
    type IdleEvent = ();

    async fn on_start(adder: Self, _: &ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(adder)
    }
}

#[message_handlers]
impl Adder {
    #[handler]
    async fn add(&mut self, Add(number): Add, _: &ActorRef<Self>) -> u64 {
        self.0.done();
        number + 1
    }
}

fn main() -> Result<()> {
    call(
        async |counters| {
            let start = |counter| spawn::<Adder>(Adder(counter)).0;
            Ok(counters.into_iter().map(start).collect())
        },
        |actor, number| async move {
            let answer = actor.ask_with_timeout(Add(number), LIMIT).await;
            answer.expect("an answer in time")
        },
    )
}
