//! `ask_with` between atomr-core's actors.

use anyhow::Result;
use atomr_config::Config;
use atomr_core::prelude::*;
use load::{LIMIT, Load, call, on_two_workers};
use tokio::sync::oneshot::Sender;

struct Adder(usize, Load);

struct Add(u64, Sender<u64>);

#[async_trait::async_trait]
impl Actor for Adder {
    type Msg = Add;

    async fn handle(&mut self, _: &mut Context<Self>, Add(number, reply): Add) {
        self.1.done(self.0);
        reply.send(number + 1).expect("a caller");
    }
}

fn main() -> Result<()> {
    on_two_workers(async |seconds, size| {
        let served = Load::new(size);
        let system = ActorSystem::create("load", Config::empty()).await?;
        let mut actors = Vec::new();
        for actor in 0..size {
            let served = served.clone();
            let props = Props::create(move || Adder(actor, served.clone()));
            actors.push(system.actor_of(props, &format!("adder-{actor}"))?);
        }
        call(seconds, actors, served, |actor, number| async move {
            let answer = actor.ask_with(|reply| Add(number, reply), LIMIT).await;
            answer.expect("an answer in time")
        })
        .await
    })
}
