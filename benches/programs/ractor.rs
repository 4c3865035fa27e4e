//! `call_t!` between ractor's actors: a timeout per call, all in one process.

use anyhow::Result;
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call_t};

use crate::load::{LIMIT, Load, finish, two_workers};

const CALLERS: usize = 64;
const ACTORS: usize = 64;

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

pub(crate) fn run(seconds: f64) -> Result<()> {
    two_workers()?.block_on(async {
        let (load, served) = (Load::new(CALLERS), Load::new(ACTORS));
        let mut actors = Vec::new();
        for actor in 0..ACTORS {
            actors.push(Actor::spawn(None, Adder, (actor, served.clone())).await?.0);
        }
        let tasks = load.spawn(|caller| call(caller, actors.clone(), load.clone()));
        finish(load, tasks, seconds, || Ok(served.total())).await
    })
}

async fn call(caller: usize, actors: Vec<ActorRef<Message>>, load: Load) {
    let mut number = caller;
    loop {
        let actor = &actors[number % ACTORS];
        let answer = call_t!(actor, Message::Add, LIMIT.as_millis() as u64, number as u64);
        number += 1;
        assert_eq!(answer.expect("an answer in time"), number as u64);
        if !load.done(caller) {
            break;
        }
    }
}
