//! `call_t!` between ractor's actors: a timeout per call, all in one process.

use anyhow::Result;
use load::{Counter, LIMIT};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call, call_t};

struct Adder;

enum Message {
    Add(u64, RpcReplyPort<u64>),
}

impl Actor for Adder {
    type Msg = Message;
    type State = Counter;
    type Arguments = Counter;

    async fn pre_start(
        &self,
        _: ActorRef<Message>,
        counter: Counter,
    ) -> Result<Counter, ActorProcessingErr> {
        Ok(counter)
    }

    async fn handle(
        &self,
        _: ActorRef<Message>,
        Message::Add(number, reply): Message,
        counter: &mut Counter,
    ) -> Result<(), ActorProcessingErr> {
        counter.done();
        Ok(reply.send(number + 1)?)
    }
}

fn main() -> Result<()> {
    load::call(
        async |counters| {
            let mut actors = Vec::new();
            for counter in counters {
                actors.push(Actor::spawn(None, Adder, counter).await?.0);
            }
            Ok(actors)
        },
        |actor, number| async move {
            if cfg!(feature = "bare") {
                return call!(actor, Message::Add, number).expect("an answer");
            }
            let answer = call_t!(actor, Message::Add, LIMIT.as_millis() as u64, number);
            answer.expect("an answer in time")
        },
    )
}
