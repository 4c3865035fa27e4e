//! `ask` between acton-reactive's actors, under the crate's default timeout of 30 s.

use acton_reactive::prelude::*;
use load::{Load, call, on_two_workers};

#[acton_message]
struct Add {
    number: u64,
}

#[acton_message]
struct Sum {
    number: u64,
}

impl Request for Add {
    type Response = Sum;
}

#[derive(Default, Debug)]
struct Adder;

fn main() -> anyhow::Result<()> {
    on_two_workers(async |seconds, size| {
        let (served, mut actors) = (Load::new(size), Vec::new());
        let mut runtime = ActonApp::launch_async().await;
        for actor in 0..size {
            let served = served.clone();
            let mut adder = runtime.new_actor::<Adder>();
            adder.mutate_on::<Add>(move |_, context| {
                served.done(actor);
                let (reply, number) = (context.reply_envelope(), context.message().number + 1);
                Reply::pending(async move { reply.send(Sum { number }).await })
            });
            actors.push(adder.start().await);
        }
        call(seconds, actors, served, |actor, number| async move {
            let answer = actor.ask(Add { number }).await;
            answer.expect("an answer in time").number
        })
        .await
    })
}
