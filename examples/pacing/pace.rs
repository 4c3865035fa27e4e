//! A sender that is paced, and a receiver that takes the time.

use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use common::{Side, process};
use tokio::runtime::{Builder, Runtime};

use crate::RATE;

/// A packet that does not come within this is lost, and so are those after it.
const PATIENCE: Duration = Duration::from_secs(2);
const PERIOD: Duration = Duration::from_nanos(1_000_000_000 / RATE as u64);
const WORKERS: usize = 2;
/// Their threads.
const WORKER: &str = "pacing-worker";

/// A runtime whose intervals are this side's.
fn runtime(side: Side) -> Result<Runtime> {
    let builder = &mut Builder::new_multi_thread();
    builder.worker_threads(WORKERS).thread_name(WORKER);
    let runtime = builder.enable_all().build()?;
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
    /// Packets a second.
    pub(crate) rate: f64,
    /// Of one processor, that its workers took.
    pub(crate) cpu: String,
    /// By how much each time between two packets differs from the period, in rising order.
    jitter: Vec<Duration>,
}

impl Outcome {
    pub(crate) fn quantile(&self, quantile: f64) -> Duration {
        let below = (quantile * self.jitter.len() as f64) as usize;
        self.jitter.get(below).copied().unwrap_or_default()
    }

    /// In percent, of those between so many microseconds.
    pub(crate) fn share_between(&self, from: u64, to: u64) -> f64 {
        let below = |edge| {
            self.jitter
                .partition_point(|&time| time < Duration::from_micros(edge))
        };
        let between = below(to) - below(from);
        between as f64 * 100.0 / self.jitter.len().max(1) as f64
    }
}

/// Has one side send all of its packets.
pub(crate) fn run(side: Side, packets: u64) -> Result<Outcome> {
    let runtime = runtime(side)?;
    let receiver = UdpSocket::bind("127.0.0.1:0")?;
    let sender = UdpSocket::bind("127.0.0.1:0")?;
    sender.connect(receiver.local_addr()?)?;
    sender.set_nonblocking(true)?;
    receiver.set_read_timeout(Some(PATIENCE))?;
    let receiving = thread::spawn(move || receive(&receiver, packets));

    let (before, start) = (process::cpu_of_threads(Some(WORKER)), Instant::now());
    let sending = runtime.spawn(send(side, sender, packets));
    runtime.block_on(sending).expect("the sender panicked")?;
    let (spent, passed) = (process::cpu_of_threads(Some(WORKER)), start.elapsed());
    let arrivals = receiving.join().expect("the receiver panicked");

    let received = arrivals.len();
    let cpu = spent.zip(before).map(|(spent, before)| {
        let share = (spent - before).as_secs_f64() / passed.as_secs_f64();
        format!("{:.1} %", share * 100.0)
    });
    Ok(Outcome {
        side,
        received,
        lost: packets - received as u64,
        rate: received as f64 / passed.as_secs_f64(),
        cpu: cpu.unwrap_or("n/a".to_owned()),
        jitter: jitter(&arrivals),
    })
}

/// Sends one packet with each tick. Its first bytes are its number.
async fn send(side: Side, socket: UdpSocket, packets: u64) -> Result<()> {
    let socket = tokio::net::UdpSocket::from_std(socket)?;
    let mut ours = (side != Side::Tokio).then(|| wheel::interval(PERIOD));
    let mut tokios = tokio::time::interval(PERIOD);
    for number in 0..packets {
        match &mut ours {
            Some(ours) => ours.tick().await,
            None => tokios.tick().await,
        };
        socket.send(&number.to_be_bytes()).await?;
    }
    Ok(())
}

/// When the packets came, up to the last or to the first that takes too long.
fn receive(socket: &UdpSocket, packets: u64) -> Vec<Instant> {
    let mut arrivals = Vec::with_capacity(packets as usize);
    let mut packet = [0; 8];
    while let Ok(length) = socket.recv(&mut packet) {
        arrivals.push(Instant::now());
        assert_eq!(length, packet.len(), "a packet of another program");
        if u64::from_be_bytes(packet) + 1 == packets {
            break;
        }
    }
    arrivals
}

fn jitter(arrivals: &[Instant]) -> Vec<Duration> {
    let pairs = arrivals.windows(2);
    let differences = pairs.map(|pair| (pair[1] - pair[0]).abs_diff(PERIOD));
    let mut differences: Vec<_> = differences.collect();
    differences.sort();
    differences
}
