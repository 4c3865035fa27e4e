//! `ask_with` between atomr-core's actors.

use anyhow::Result;
use atomr_config::Config;
use atomr_core::prelude::*;
use load::{Counter, LIMIT, call};
use tokio::sync::oneshot::Sender;

struct Adder(Counter);

struct Add(u64, Sender<u64>);

#[async_trait::async_trait]
impl Actor for Adder {
    type Msg = Add;

    async fn handle(&mut self, _: &mut Context<Self>, Add(number, reply): Add) {
        self.0.done();
        reply.send(number + 1).expect("a caller");
    }
}

fn main() -> Result<()> {
    call(
        async |counters| {
            let system = ActorSystem::create("load", Config::empty()).await?;
            let start = |counter: Counter| {
                let name = format!("adder-{}", counter.task());
                let props = Props::create(move || Adder(counter.clone()));
                Ok(system.actor_of(props, &name)?)
            };
            counters.into_iter().map(start).collect()
        },
        |actor, number| async move {
            let answer = actor.ask_with(|reply| Add(number, reply), LIMIT).await;
            answer.expect("an answer in time")
        },
    )
}
