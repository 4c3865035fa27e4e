//! `ask` between acton-reactive's actors, under the crate's default timeout of 30 s.

use acton_reactive::prelude::*;
use load::call;

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
    call(
        async |counters| {
            let (mut runtime, mut actors) = (ActonApp::launch_async().await, Vec::new());
            for counter in counters {
                let mut adder = runtime.new_actor::<Adder>();
                adder.mutate_on::<Add>(move |_, context| {
                    counter.done();
                    let (reply, number) = (context.reply_envelope(), context.message().number + 1);
                    Reply::pending(async move { reply.send(Sum { number }).await })
                });
                actors.push(adder.start().await);
            }
            Ok(actors)
        },
        |actor, number| async move {
            let answer = actor.ask(Add { number }).await;
            answer.expect("an answer in time").number
        },
    )
}
