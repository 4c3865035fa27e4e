//! Whole services: requests that mostly finish before their timeout, connections with timers of every fate, an HTTP gateway.

use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use ::gateway::{Load, Stack};
use common::process::cpu_time;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp, LogNormal};
use timers::Timers;
use timers::expiry::Count;
use timers::shapes::all;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::figure::Measured;
use crate::stage::{Stage, WORKERS, worker_cpu};

type Senders = Vec<Option<oneshot::Sender<()>>>;

/// When a request arrives and how long it takes; one without an answer in time times out.
type Request = (Duration, Option<Duration>);

const TIMEOUT: Duration = Duration::from_millis(200);

/// Kafka's purgatory: Poisson arrivals under a timeout of 200 ms, log-normal completions of these quartiles, in
/// milliseconds.
pub(crate) fn purgatory<T: Timers>(median: f64, upper_quartile: f64) -> Measured {
    let mut requests = requests(median, upper_quartile);
    let count = requests.len();
    let unanswered = requests.iter_mut().filter(|(_, takes)| takes.is_none());
    let late = if T::FIRES {
        unanswered.count()
    } else {
        // Without a timer an answer ends them.
        unanswered.for_each(|(_, takes)| *takes = Some(TIMEOUT));
        0
    };
    for _ in 0..5 {
        let (cpu, fired) = play::<T>(&requests);
        if fired.abs_diff(late) * 100 <= count {
            return Measured::cancelled([cpu / count as f64], count);
        }
        // The machine stood still for so long that requests missed their fate: once more.
    }
    panic!("{}: {late} are to time out, and do not", T::NAME);
}

/// None ends close to its timeout, so each one's fate is certain.
fn requests(median: f64, upper_quartile: f64) -> Vec<Request> {
    const COUNT: usize = 50_000;
    const PER_SECOND: f64 = 40_000.0;
    let mut rng = SmallRng::seed_from_u64(200);
    let sigma = (upper_quartile.ln() - median.ln()) / 0.674_490;
    let latency = LogNormal::new(median.ln(), sigma).expect("a distribution");
    let gap = Exp::new(PER_SECOND).expect("a distribution");
    let mut at = 0.0;
    let mut request = || {
        at += gap.sample(&mut rng);
        let mut draws = std::iter::repeat_with(|| latency.sample(&mut rng));
        let millis = draws.find(|millis| !(170.0..270.0).contains(millis));
        let takes = millis.filter(|&millis| millis < 200.0);
        let takes = takes.map(|millis| Duration::from_secs_f64(millis / 1e3));
        (Duration::from_secs_f64(at), takes)
    };
    (0..COUNT).map(|_| request()).collect()
}

/// The workers' CPU time for all requests, and how many of them timed out.
fn play<T: Timers>(requests: &[Request]) -> (f64, usize) {
    let stage = Stage::new::<T>(WORKERS);
    let [settled, fired] = [(); 2].map(|()| Arc::new(Count::default()));
    let before = worker_cpu();
    let unanswered = generate::<T>(stage.runtime.handle(), requests, [&settled, &fired]);
    settled.wait_for(requests.len());
    drop(unanswered);
    (worker_cpu() - before, fired.get())
}

/// Plays the requests in real time from this thread, whose own CPU time is not counted. Returns what is not answered.
fn generate<T: Timers>(
    runtime: &Handle,
    requests: &[Request],
    counts: [&Arc<Count>; 2],
) -> Senders {
    let mut events: Vec<(Duration, Option<usize>)> = Vec::new();
    for (index, &(at, takes)) in requests.iter().enumerate() {
        events.push((at, None));
        events.extend(takes.map(|takes| (at + takes, Some(index))));
    }
    events.sort();
    let mut senders = Senders::new();
    let start = Instant::now();
    for (at, answered) in events {
        let ahead = at.saturating_sub(start.elapsed());
        if !ahead.is_zero() {
            thread::sleep(ahead.max(Duration::from_millis(1)));
        }
        match answered {
            None => senders.push(Some(arrive::<T>(runtime, counts))),
            Some(index) => drop(senders[index].take().map(|sender| sender.send(()))),
        }
    }
    senders
}

fn arrive<T: Timers>(runtime: &Handle, counts: [&Arc<Count>; 2]) -> oneshot::Sender<()> {
    let (sender, receiver) = oneshot::channel();
    let [settled, fired] = counts.map(Arc::clone);
    runtime.spawn(async move {
        if T::timeout(TIMEOUT, receiver).await.is_err() {
            fired.add();
        }
        settled.add();
    });
    sender
}

const PACKETS: u64 = 32;
const RESPONSES: u64 = 3;

/// Connections whose timers have different fates (after the benchmark of ratas): the idle timer is pushed out by
/// each packet, the pacing timer always fires, the deadline of a response is always met, the close timer just waits.
pub(crate) fn connections<T: Timers>() -> Measured {
    const COUNT: u64 = 1_000;
    let stage = Stage::new::<T>(WORKERS);
    let before = worker_cpu();
    let packets = stage.run(all((0..COUNT).map(connection::<T>)));
    let cpu = worker_cpu() - before;
    Measured::new([cpu / packets as f64], [packets, packets, 0])
}

/// Returns the number of its packets.
async fn connection<T: Timers>(seed: u64) -> u64 {
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut idle = pin!(T::sleep(minutes(1)));
    let mut close = pin!(T::sleep(minutes(3)));
    for _ in 0..RESPONSES {
        let mut deadline = pin!(T::sleep(Duration::from_secs(5)));
        for _ in 0..PACKETS {
            let pace = T::sleep(Duration::from_micros(rng.random_range(5_000..15_000)));
            tokio::select! {
                biased;
                () = idle.as_mut() => unreachable!("idle"),
                () = close.as_mut() => unreachable!("closed"),
                () = deadline.as_mut() => unreachable!("a late response"),
                () = pace => {}
            }
            T::reset(idle.as_mut(), Instant::now() + minutes(1));
        }
    }
    RESPONSES * PACKETS
}

/// The HTTP gateway of `examples/gateway`, with its clients and backends, at full load: CPU time of all for a request.
pub(crate) fn gateway<T: Stack>() -> Measured {
    let load = Load {
        workers: WORKERS,
        connections: 64,
        requests: 500,
        limit: Duration::from_secs(5),
    };
    let mut times = Vec::new();
    let played = load.play::<T>(|| times.push(cpu_time().unwrap_or_default()));
    let requests = played.expect("a gateway");
    let cpu = (times[1] - times[0]).as_nanos() as f64;
    Measured::cancelled([cpu / requests as f64], requests as usize)
}
