//! `ask_with_timeout` between rsactor's actors.

use std::convert::Infallible;

use anyhow::Result;
use load::{LIMIT, Load, call, on_two_workers};
use rsactor::{Actor, ActorRef, message_handlers, spawn};

struct Adder(usize, Load);

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
        self.1.done(self.0);
        number + 1
    }
}

fn main() -> Result<()> {
    on_two_workers(async |seconds, size| {
        let served = Load::new(size);
        let actors = (0..size).map(|actor| spawn::<Adder>(Adder(actor, served.clone())).0);
        call(
            seconds,
            actors.collect(),
            served.clone(),
            |actor, number| async move {
                let answer = actor.ask_with_timeout(Add(number), LIMIT).await;
                answer.expect("an answer in time")
            },
        )
        .await
    })
}
