//! The same programs run on both crates' streams in virtual time, and agree to the millisecond. Also tested is what this
//! crate's types add.

use support::prelude::*;

use std::fmt::Debug;
use std::io::{self, IoSlice};

use tokio::io::{AsyncReadExt, AsyncWriteExt, BufWriter, DuplexStream};
use tokio_io_timeout as tokios;
use tokio_test::{assert_pending, assert_ready_ok, task};
use wheel::ext::io::TimeoutStream;

/// Runs a test on a paused clock. If the test hangs, it fails after ten virtual minutes.
fn virtually<T>(test: impl Future<Output = T>) -> T {
    let ended = paused().block_on(async { tokio::time::timeout(secs(600), test).await });
    ended.expect("it hangs")
}

/// When a step of a program ended, and how.
type Event = (Duration, String);

/// Reads and writes with timeouts that change, and abandons some of them.
macro_rules! program {
    ($Stream:ty) => {
        async |stream: DuplexStream, seed: u64| -> Vec<Event> {
            let mut random = Random::new(seed);
            let mut stream = <$Stream>::new(stream);
            let limits = (stream.read_timeout(), stream.write_timeout());
            assert_eq!(limits, (None, None));
            stream.set_read_timeout(Some(ms(7)));
            stream.set_write_timeout(Some(ms(8)));
            let limits = (stream.read_timeout(), stream.write_timeout());
            assert_eq!(limits, (Some(ms(7)), Some(ms(8))));
            stream.set_read_timeout(None);
            stream.set_write_timeout(None);
            let mut stream = Box::pin(stream);
            let start = Instant::now();
            let mut events = Vec::new();
            for _ in 0..60 {
                // No sum of a few of these is a whole second, which is when the peer acts.
                let time = ms(1 + random.below(397));
                let limit = (random.below(4) > 0).then_some(time);
                let size = 1 + random.below(12) as usize;
                let step = random.below(9);
                let mut buffer = [0; 12];
                let part = &mut buffer[..size];
                let given_up = |_| "given up".to_owned();
                let outcome = match step {
                    0 => format!("{:?}", stream.as_mut().set_read_timeout_pinned(limit)),
                    1 => format!("{:?}", stream.as_mut().set_write_timeout_pinned(limit)),
                    2 => {
                        tokio::time::sleep(time).await;
                        continue;
                    }
                    3 => ended(stream.flush().await),
                    4 => {
                        let read = tokio::time::timeout(time, stream.read(part)).await;
                        read.map_or_else(given_up, ended)
                    }
                    5 => {
                        let wrote = tokio::time::timeout(time, stream.write(part)).await;
                        wrote.map_or_else(given_up, ended)
                    }
                    6 => ended(stream.write_vectored(&[IoSlice::new(part)]).await),
                    7 => ended(stream.write(part).await),
                    _ => ended(stream.read(part).await),
                };
                events.push((start.elapsed(), format!("step {step}: {outcome}")));
            }
            events
        }
    };
}

fn ended<T: Debug>(result: io::Result<T>) -> String {
    format!("{:?}", result.map_err(|error| error.kind()))
}

/// Sends and receives some bytes at whole seconds, and then closes the stream.
async fn peer(mut stream: DuplexStream, seed: u64) {
    let mut random = Random::new(seed);
    let second = ms(1000);
    for _ in 0..20 {
        tokio::time::sleep(random.below(3) as u32 * second).await;
        let mut buffer = [0; 12];
        let part = &mut buffer[..random.below(12) as usize];
        match random.below(2) {
            0 => _ = tokio::time::timeout(second, stream.write_all(part)).await,
            _ => _ = tokio::time::timeout(second, stream.read(part)).await,
        }
    }
}

fn run(seed: u64, program: impl AsyncFnOnce(DuplexStream, u64) -> Vec<Event>) -> Vec<Event> {
    virtually(async {
        let (stream, other) = tokio::io::duplex(16);
        tokio::spawn(peer(other, seed + 1));
        program(stream, seed).await
    })
}

#[test]
fn random_programs_end_every_step_at_the_same_time_in_the_same_way() {
    let mut late = 0;
    for seed in 1..=400 {
        let theirs = run(seed, program!(tokios::TimeoutStream<_>));
        let ours = run(seed, program!(TimeoutStream<_>));
        assert_eq!(ours, theirs, "seed {seed}");
        let is_late = |event: &&Event| event.1.contains("TimedOut");
        late += ours.iter().filter(is_late).count();
    }
    assert!(late > 1000, "{late} steps ended late");
}

/// Each wait extends the same timer. (tokio-io-timeout also wakes the task after each wait.)
#[test]
fn a_busy_reader_arms_one_timer_and_wakes_nothing() {
    virtually(async {
        let (stream, mut peer) = tokio::io::duplex(16);
        let mut reader = TimeoutStream::new(stream);
        reader.set_read_timeout(Some(ms(100)));
        let (waker, count) = new_count_waker();
        for _ in 0..500 {
            let mut buffer = [0; 4];
            let mut read = Box::pin(reader.read(&mut buffer));
            assert_pending!(poll(&mut read, &waker));
            peer.write_all(b"word").await.unwrap();
            assert_ready_ok!(poll(&mut read, &waker));
            wheel::advance(ms(1)).await;
        }
        let now = wheel::metrics().snapshot();
        assert_eq!((now.armed, now.reset, now.fired), (1, 499, 0));
        assert_eq!(count, 500, "by the data alone");
        drop(reader);
        assert_eq!(wheel::metrics().snapshot().pending, 0);
    });
}

#[test]
fn only_waiting_with_a_timeout_needs_a_runtime() {
    let (stream, _peer) = tokio::io::duplex(16);
    let mut reader = TimeoutStream::new(stream);
    let mut buffer = [0; 4];
    assert_pending!(task::spawn(reader.read(&mut buffer)).poll());
    reader.set_read_timeout(Some(ms(1)));
    let mut read = task::spawn(reader.read(&mut buffer));
    assert_eq!(message_of(|| read.poll()), NO_RUNTIME);
}

/// The timeout also applies to a flush and a shutdown that wait because the peer does not read.
#[test]
fn flushes_and_shutdowns_time_out() {
    macro_rules! ends {
        ($Stream:ty) => {
            virtually(async {
                let (stream, _peer) = tokio::io::duplex(1);
                let mut writer = <$Stream>::new(BufWriter::new(stream));
                writer.set_write_timeout(Some(ms(5)));
                let (mut writer, start) = (Box::pin(writer), Instant::now());
                let wrote = ended(writer.write(b"word").await);
                let flushed = ended(writer.flush().await);
                let shut = ended(writer.shutdown().await);
                ([wrote, flushed, shut], start.elapsed())
            })
        };
    }
    let words = ["Ok(4)", "Err(TimedOut)", "Err(TimedOut)"];
    let ours = ends!(TimeoutStream<_>);
    assert_eq!(ours, (words.map(str::to_owned), ms(10)));
    assert_eq!(ends!(tokios::TimeoutStream<_>), ours);
}
