//! A sender that is paced, and a receiver that takes the time.

use std::io;
use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use common::{Side, process};
use tokio::runtime::{Builder, Runtime};
use wheel::BuildError;

use crate::Options;
use crate::jitter::Jitter;

/// A packet that does not come within this is lost, and so are those after it.
const PATIENCE: Duration = Duration::from_secs(2);
const WORKERS: usize = 2;
/// Their threads.
const WORKER: &str = "pacing-worker";

/// A runtime whose intervals are this side's.
fn runtime(side: Side) -> Result<Runtime, BuildError> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_name(WORKER)
        .enable_all()
        .build()
        .expect("a runtime");
    if side == Side::Precise {
        runtime.block_on(async { wheel::Builder::new().high_resolution(true).install() })?;
    }
    Ok(runtime)
}

/// What came of a side.
pub(crate) struct Outcome {
    pub(crate) side: Side,
    pub(crate) received: usize,
    pub(crate) lost: u64,
    pub(crate) jitter: Jitter,
    /// Of one processor, that its workers took.
    pub(crate) cpu: Option<f64>,
    took: Duration,
}

impl Outcome {
    pub(crate) fn rate(&self) -> f64 {
        (self.received.max(1) - 1) as f64 / self.took.as_secs_f64()
    }
}

/// Has one side send all of its packets. The outer error says that there is no such side here.
pub(crate) fn run(side: Side, options: &Options) -> Result<io::Result<Outcome>, BuildError> {
    let runtime = runtime(side)?;
    Ok(exchange(side, options, &runtime))
}

fn exchange(side: Side, options: &Options, runtime: &Runtime) -> io::Result<Outcome> {
    let (receiver, sender) = (
        UdpSocket::bind("127.0.0.1:0")?,
        UdpSocket::bind("127.0.0.1:0")?,
    );
    sender.connect(receiver.local_addr()?)?;
    sender.set_nonblocking(true)?;
    receiver.set_read_timeout(Some(PATIENCE))?;
    let packets = options.packets();
    let receiving = thread::spawn(move || receive(&receiver, packets));

    let before = process::cpu_of_threads(WORKER);
    let start = Instant::now();
    let sending = runtime.spawn(send(side, sender, options.period(), packets));
    runtime.block_on(sending).expect("the sender panicked")?;
    let (spent, passed) = (process::cpu_of_threads(WORKER), start.elapsed());
    let arrivals = receiving.join().expect("the receiver panicked");

    let took = match (arrivals.first(), arrivals.last()) {
        (Some(first), Some(last)) => *last - *first,
        _ => passed,
    };
    Ok(Outcome {
        side,
        received: arrivals.len(),
        lost: packets - arrivals.len() as u64,
        jitter: Jitter::of(&arrivals, options.period()),
        cpu: spent.zip(before).map(|(spent, before)| {
            (spent.saturating_sub(before)).as_secs_f64() / passed.as_secs_f64()
        }),
        took,
    })
}

/// Sends one packet with each tick. Its first bytes are its number.
async fn send(side: Side, socket: UdpSocket, period: Duration, packets: u64) -> io::Result<()> {
    let socket = tokio::net::UdpSocket::from_std(socket)?;
    match side {
        Side::Tokio => {
            let mut interval = tokio::time::interval(period);
            for number in 0..packets {
                interval.tick().await;
                socket.send(&number.to_be_bytes()).await?;
            }
        }
        Side::Wheel | Side::Precise => {
            let mut interval = wheel::interval(period);
            for number in 0..packets {
                interval.tick().await;
                socket.send(&number.to_be_bytes()).await?;
            }
        }
    }
    Ok(())
}

/// When the packets came, up to the last or to the first that takes too long.
fn receive(socket: &UdpSocket, packets: u64) -> Vec<Instant> {
    let mut arrivals = Vec::with_capacity(packets as usize);
    let mut packet = [0; 8];
    while let Ok(length) = socket.recv(&mut packet) {
        arrivals.push(Instant::now());
        assert_eq!(length, packet.len(), "a packet of somebody else");
        if u64::from_be_bytes(packet) + 1 == packets {
            break;
        }
    }
    arrivals
}
