//! An operation is a whole simulation by turmoil, with paused time: nine clients make 200 requests each, with a timeout of
//! 1 s per request and a sleep of 5 ms between two requests. turmoil sleeps once per simulated millisecond and host, and
//! all these timers fire.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use load::{LIMIT, Usage, armed};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};
use turmoil::net::{TcpListener, TcpStream};

const CLIENTS: u64 = 9;
const REQUESTS: u64 = 200;

fn main() -> Result<()> {
    load::main(
        |seconds| {
            simulate_for(Duration::from_secs(1))?;
            let usage = Usage::now()?;
            let (simulations, timers) = simulate_for(Duration::from_secs_f64(seconds))?;
            usage.print(simulations, timers as f64 / simulations as f64, Vec::new())
        },
        load::no_peer,
    )
}

/// Returns how many simulations ran in the given time, and how many timers their clients' runtimes armed.
fn simulate_for(time: Duration) -> Result<(u64, u64)> {
    let (start, mut simulations, mut timers) = (Instant::now(), 0, 0);
    while start.elapsed() < time {
        timers += simulate()?;
        simulations += 1;
    }
    Ok((simulations, timers))
}

fn simulate() -> Result<u64> {
    let mut simulation = turmoil::Builder::new()
        .rng_seed(1)
        .simulation_duration(600 * LIMIT)
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(5))
        .build();
    let (served, timers) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let count = served.clone();
    simulation.host("server", move || serve(count.clone()));
    for client in 0..CLIENTS {
        let timers = timers.clone();
        simulation.client(format!("client-{client}"), async move {
            let mut stream = TcpStream::connect(("server", 1000)).await?;
            for number in 0..REQUESTS {
                stream.write_u64(number).await?;
                let answer = timeout(LIMIT, stream.read_u64()).await??;
                assert_eq!(answer, number + 1);
                sleep(Duration::from_millis(5)).await;
            }
            timers.update(|timers| timers + armed());
            Ok(())
        });
    }
    let end = simulation.run();
    ensure!(end.is_ok(), "{end:?}");
    let served = served.get();
    ensure!(served == CLIENTS * REQUESTS, "{served} were served");
    Ok(timers.get())
}

async fn serve(served: Rc<Cell<u64>>) -> turmoil::Result {
    let listener = TcpListener::bind(("0.0.0.0", 1000)).await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        let served = served.clone();
        spawn_local(async move {
            while let Ok(number) = stream.read_u64().await {
                served.update(|served| served + 1);
                if stream.write_u64(number + 1).await.is_err() {
                    break;
                }
            }
        });
    }
}
