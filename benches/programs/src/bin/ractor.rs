//! `call_t!` between ractor's actors: a timeout per call, all in one process.

use anyhow::Result;
use load::{LIMIT, Load, call, on_two_workers};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call_t};

struct Adder;

enum Message {
    Add(u64, RpcReplyPort<u64>),
}

impl Actor for Adder {
    type Msg = Message;
    type State = (usize, Load);
    type Arguments = (usize, Load);

    async fn pre_start(
        &self,
        _: ActorRef<Message>,
        counts: Self::Arguments,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(counts)
    }

    async fn handle(
        &self,
        _: ActorRef<Message>,
        Message::Add(number, reply): Message,
        (actor, served): &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        served.done(*actor);
        Ok(reply.send(number + 1)?)
    }
}

fn main() -> Result<()> {
    on_two_workers(async |seconds, size| {
        let (served, mut actors) = (Load::new(size), Vec::new());
        for actor in 0..size {
            actors.push(Actor::spawn(None, Adder, (actor, served.clone())).await?.0);
        }
        call(seconds, actors, served, |actor, number| async move {
            let answer = call_t!(actor, Message::Add, LIMIT.as_millis() as u64, number);
            answer.expect("an answer in time")
        })
        .await
    })
}
