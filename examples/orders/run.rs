//! One run: the orders of a plan through a queue, on a clock that jumps.

use std::future::poll_fn;
use std::pin::pin;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use indicatif::{ProgressBar, ProgressStyle};

use crate::plan::{Event, Outcome, PATIENCE, Plan};
use crate::queues::Queue;
use crate::report::Figures;
use common::memory;

/// Events are looked at once in so many milliseconds of the shop's time.
const STEP: u32 = 1000;

pub(crate) fn run<Q: Queue>(plan: &Plan) -> Result<Figures> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;
    let expected = plan.outcome();
    memory::forget_peak();
    let before = memory::resident();
    let begun = Instant::now();
    let shop = runtime.block_on(Shop::<Q>::run(plan))?;
    let time = begun.elapsed();
    ensure!(
        shop.outcome == expected,
        "{:?} is not {expected:?}",
        shop.outcome
    );
    ensure!(shop.queue.len() == 0, "orders are left");
    Ok(Figures {
        outcome: shop.outcome,
        most: shop.most as u64,
        time,
        peak: memory::peak(),
        queue: memory::peak()
            .zip(before)
            .map(|(peak, before)| peak.saturating_sub(before)),
    })
}

struct Shop<'a, Q: Queue> {
    plan: &'a Plan,
    queue: Q,
    keys: Vec<Option<Q::Key>>,
    opened: tokio::time::Instant,
    outcome: Outcome,
    /// The most orders that waited at the same time.
    most: usize,
    bar: ProgressBar,
}

impl<'a, Q: Queue> Shop<'a, Q> {
    async fn run(plan: &'a Plan) -> Result<Self> {
        let mut shop = Self::new(plan);
        let mut events = plan.events.as_slice();
        let mut now = 0;
        while !events.is_empty() || shop.queue.len() > 0 {
            now += STEP;
            let (past, to_come) = events.split_at(events.partition_point(|event| event.at < now));
            events = to_come;
            shop.undo_until(shop.opened + ms(now)).await?;
            past.iter().for_each(|event| shop.handle(event));
            shop.show();
        }
        shop.bar.finish_and_clear();
        Ok(shop)
    }

    fn new(plan: &'a Plan) -> Self {
        let style = "{msg:11} {wide_bar} {human_pos} of {human_len} orders settled";
        let style =
            ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
        Shop {
            plan,
            queue: Q::new(),
            keys: vec![None; plan.placed.len()],
            opened: tokio::time::Instant::now(),
            outcome: Outcome::default(),
            most: 0,
            bar: ProgressBar::new(plan.placed.len() as u64)
                .with_style(style)
                .with_message(Q::NAME),
        }
    }

    fn handle(&mut self, event: &Event) {
        let key = &mut self.keys[event.order as usize];
        if !event.is_confirmation {
            *key = Some(self.queue.insert(event.order, ms(PATIENCE)));
            self.most = self.most.max(self.queue.len());
        } else if let Some(key) = key.take() {
            self.outcome.confirmed += 1;
            assert_eq!(self.queue.remove(&key), event.order, "another's order");
        }
    }

    /// Undoes orders whose time is up, until it is this late.
    async fn undo_until(&mut self, late: tokio::time::Instant) -> Result<()> {
        let mut closing = pin!(Q::sleep_until(late));
        loop {
            tokio::select! {
                biased;
                Some(order) = poll_fn(|cx| self.queue.poll(cx)) => self.undo(order)?,
                () = &mut closing => return Ok(()),
            }
        }
    }

    fn undo(&mut self, order: u32) -> Result<()> {
        let key = self.keys[order as usize].take();
        ensure!(key.is_some(), "order {order} was settled before");
        // It has been seen at the end of its step.
        let placed = self.plan.placed[order as usize] / STEP * STEP + STEP;
        let waited = self.opened.elapsed() - ms(placed);
        // Not early; and the shop does not close a step before what is due has come out, but for
        // what a queue leaves to its next poll.
        ensure!(
            (ms(PATIENCE)..=ms(PATIENCE + STEP)).contains(&waited),
            "order {order} has waited for {waited:?}"
        );
        self.outcome.undone += 1;
        self.outcome.checksum += u64::from(order);
        Ok(())
    }

    fn show(&self) {
        self.bar
            .set_position(self.outcome.confirmed + self.outcome.undone);
    }
}

fn ms(millis: u32) -> Duration {
    Duration::from_millis(millis.into())
}
