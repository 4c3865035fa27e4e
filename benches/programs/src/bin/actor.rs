//! Calls to actors, which are tasks with a channel, each under a timeout of the caller's own code.

use load::channels::{Server, servers};
use load::time::timeout;
use load::{LIMIT, call};

fn main() -> anyhow::Result<()> {
    call(
        async |counters| Ok(servers(counters).0),
        |actor: &Server, number| async move {
            if cfg!(feature = "bare") {
                return actor.call(number).await.expect("an actor");
            }
            let answer = timeout(LIMIT, actor.call(number)).await;
            answer.expect("an answer in time").expect("an actor")
        },
    )
}
