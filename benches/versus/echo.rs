//! An echo server over loopback while a million timers fire: what its clients feel.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use crate::figure::{Did, Measured, Scale};
use crate::peer::Peer;
use crate::race::Workload;
use crate::stage::{Stage, wait_until_just_before};

const CLIENTS: usize = 16;
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// Round trips while the timers fire, spread over half a second.
#[derive(Clone, Copy)]
pub(crate) struct Echo;

impl Workload for Echo {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let count = scale.of(1_000_000);
        let stage = Stage::new::<P>(2);
        let address = stage.run(serve::<P>());
        let volley = stage.volley::<P>(
            count,
            scale.time(Duration::from_millis(1600)),
            scale.time(Duration::from_millis(500)),
        );
        wait_until_just_before(volley.start);
        let stop = Arc::new(AtomicBool::new(false));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                stage
                    .handle()
                    .spawn(ask(address, volley.start, Arc::clone(&stop)))
            })
            .collect();
        volley.wait();
        stop.store(true, Ordering::Relaxed);
        let mut trips = Histogram::<u64>::new(3).expect("a histogram");
        for client in clients {
            trips
                .add(stage.run(client).expect("a client panicked"))
                .expect("equal histograms");
        }
        let ready = volley.ready(&stage);
        let values = [0.5, 0.99].map(|quantile| trips.value_at_quantile(quantile) as f64);
        Measured::new(values, Did::fired(ready))
    }
}

/// Echoes in the background, each read under a timeout.
async fn serve<P: Peer>() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(echo::<P>(stream));
        }
    });
    address
}

async fn echo<P: Peer>(mut stream: TcpStream) {
    stream.set_nodelay(true).expect("no delay");
    let mut buffer = [0; 64];
    while let Ok(Ok(length @ 1..)) = P::timeout(READ_TIMEOUT, stream.read(&mut buffer)).await {
        if stream.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

/// Asks and waits for the answer, again and again; times what is asked after `from`.
async fn ask(address: SocketAddr, from: Instant, stop: Arc<AtomicBool>) -> Histogram<u64> {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("no delay");
    let mut trips = Histogram::new(3).expect("a histogram");
    let mut buffer = [7; 64];
    while !stop.load(Ordering::Relaxed) {
        let begin = Instant::now();
        stream.write_all(&buffer).await.expect("a request");
        stream.read_exact(&mut buffer).await.expect("an answer");
        if begin >= from {
            trips
                .record(begin.elapsed().as_nanos() as u64)
                .expect("a round trip");
        }
    }
    trips
}
