//! `request` between spawned-concurrency's actors, under the crate's default timeout of 5 s.

use anyhow::Result;
use load::{Load, call, on_two_workers};
use spawned_concurrency::message::Message;
use spawned_concurrency::tasks::{Actor, ActorStart as _, Context, Handler};

struct Adder(usize, Load);

struct Add(u64);

impl Actor for Adder {}

impl Message for Add {
    type Result = u64;
}

impl Handler<Add> for Adder {
    async fn handle(&mut self, Add(number): Add, _: &Context<Self>) -> u64 {
        self.1.done(self.0);
        number + 1
    }
}

fn main() -> Result<()> {
    on_two_workers(async |seconds, size| {
        let served = Load::new(size);
        let actors = (0..size).map(|actor| Adder(actor, served.clone()).start());
        call(
            seconds,
            actors.collect(),
            served.clone(),
            |actor, number| async move {
                let answer = actor.request(Add(number)).await;
                answer.expect("an answer in time")
            },
        )
        .await
    })
}
