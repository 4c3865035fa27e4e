//! `ask` with a reply timeout between kameo's actors, all in one process.

use anyhow::Result;
use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::error::Infallible;
use kameo::message::{Context, Message};

use crate::load::{LIMIT, Load, finish, two_workers};

const CALLERS: usize = 64;
const ACTORS: usize = 64;

struct Adder {
    actor: usize,
    served: Load,
}

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
        self.served.done(self.actor);
        number + 1
    }
}

pub(crate) fn run(seconds: f64) -> Result<()> {
    two_workers()?.block_on(async {
        let (load, served) = (Load::new(CALLERS), Load::new(ACTORS));
        let adder = |actor| {
            Adder::spawn(Adder {
                actor,
                served: served.clone(),
            })
        };
        let actors: Vec<_> = (0..ACTORS).map(adder).collect();
        let tasks = load.spawn(|caller| ask(caller, actors.clone(), load.clone()));
        finish(load, tasks, seconds, || Ok(served.total())).await
    })
}

async fn ask(caller: usize, actors: Vec<ActorRef<Adder>>, load: Load) {
    let mut number = caller;
    loop {
        let answer = actors[number % ACTORS]
            .ask(Add(number as u64))
            .reply_timeout(LIMIT)
            .await;
        number += 1;
        assert_eq!(answer.expect("an answer in time"), number as u64);
        if !load.done(caller) {
            break;
        }
    }
}
