//! tower's retries, with its back-off as tower has it, and as the page of `ext::tower` has it.

use support::prelude::*;

use std::future::ready;

use tower::retry::backoff::{Backoff, ExponentialBackoff, ExponentialBackoffMaker, MakeBackoff};
use tower::retry::{Policy, Retry};
use tower::util::rng::Rng;
use tower::{ServiceExt, service_fn};

use super::paused::Refused;

trait Pause: Clone {
    type Future: Future<Output = ()>;
    fn new(pause: tokio::time::Sleep) -> Self::Future;
}

#[derive(Clone)]
struct Tokios;

impl Pause for Tokios {
    type Future = tokio::time::Sleep;
    fn new(pause: tokio::time::Sleep) -> tokio::time::Sleep {
        pause
    }
}

#[derive(Clone)]
struct Ours;

impl Pause for Ours {
    type Future = wheel::Sleep;
    fn new(pause: tokio::time::Sleep) -> wheel::Sleep {
        wheel::sleep_until(pause.deadline())
    }
}

#[derive(Clone)]
struct Seed(u64);

impl Rng for Seed {
    fn next_u64(&mut self) -> u64 {
        self.0 += 1;
        Random::new(self.0).number()
    }
}

#[derive(Clone)]
struct Retries<P> {
    left: u32,
    backoff: ExponentialBackoff<Seed>,
    _pause: P,
}

impl<P: Pause> Policy<(), (), Refused> for Retries<P> {
    type Future = P::Future;

    fn retry(&mut self, (): &mut (), _: &mut Result<(), Refused>) -> Option<P::Future> {
        self.left = self.left.checked_sub(1)?;
        Some(P::new(self.backoff.next_backoff()))
    }

    fn clone_request(&mut self, (): &()) -> Option<()> {
        Some(())
    }
}

async fn attempts(pause: impl Pause) -> Vec<Duration> {
    let backoff = ExponentialBackoffMaker::new(ms(10), secs(1), 0.5, Seed(0));
    let policy = Retries {
        left: 9,
        backoff: backoff.unwrap().make_backoff(),
        _pause: pause,
    };
    let (start, seen) = (Instant::now(), Log::new());
    let log = seen.clone();
    let refuses = service_fn(move |()| {
        log.push(start.elapsed());
        ready(Err(Refused))
    });
    let late = Retry::new(policy, refuses).oneshot(()).await;
    assert_eq!(late, Err(Refused));
    seen.entries()
}

#[tokio::test(start_paused = true)]
async fn attempts_are_as_far_apart_as_on_tokios_timers() {
    let ours = attempts(Ours).await;
    assert_eq!(ours, attempts(Tokios).await);
    assert_eq!((ours.len(), ours[0]), (10, ms(0)));
    assert!(ours[9] > secs(2), "{ours:?}");
    assert_eq!(wheel::metrics().snapshot().fired, 9);
}
