//! A backend: answers a call at once, after a while or never, as the plan has it.

use anyhow::Result;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::net::TcpStream;

use crate::frame::{self, Frame, Frames};
use crate::plan::{Fate, Plan};
use crate::timers::Timers;

/// Serves one link until the gateway closes it; how many calls came over it.
///
/// Calls are answered as they get ready, not in turn: a slow one does not hold up those behind it.
pub(crate) async fn serve<T: Timers>(socket: TcpStream, plan: Plan) -> Result<u64> {
    let (reader, mut writer) = socket.into_split();
    let mut calls = Frames::new(reader);
    let mut slow = FuturesUnordered::new();
    let mut seen = 0;
    let mut open = true;
    while open || !slow.is_empty() {
        tokio::select! {
            call = calls.next(), if open => {
                let Some(call) = call? else {
                    open = false;
                    continue;
                };
                seen += 1;
                match plan.fate(call.number) {
                    Fate::Fast => frame::send(&mut writer, &[call]).await?,
                    Fate::Slow => slow.push(later::<T>(call, plan)),
                    Fate::Never => {}
                }
            }
            Some(answer) = slow.next() => frame::send(&mut writer, &[answer]).await?,
        }
    }
    Ok(seen)
}

async fn later<T: Timers>(answer: Frame, plan: Plan) -> Frame {
    T::sleep(plan.slow_delay).await;
    answer
}
