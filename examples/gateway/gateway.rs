//! The gateway: three kinds of timers around every request.

use std::net::SocketAddr;
use std::ops::AddAssign;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::Result;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::task::JoinSet;

use crate::frame::{self, Frame, Frames};
use crate::link::Link;
use crate::plan::{Fate, Plan};
use crate::timers::{Instant, Timers};

/// What came of a request, a connection or all of them.
#[derive(Debug, Default)]
pub(crate) struct Served {
    pub(crate) connections: u64,
    pub(crate) requests: u64,
    pub(crate) calls: u64,
    pub(crate) answered: u64,
    pub(crate) call_fired: u64,
    pub(crate) request_fired: u64,
    pub(crate) idle_fired: u64,
    /// Calls that were not to be answered, ended by their own timer.
    pub(crate) never_fired: u64,
    /// Calls that were not to be answered, ended by their request's timer before it.
    pub(crate) never_dropped: u64,
    /// Timers that fired before their time; there must be none.
    pub(crate) early: u64,
}

impl Served {
    fn of_connection() -> Self {
        Served {
            connections: 1,
            ..Served::default()
        }
    }

    fn of_request(plan: &Plan) -> Self {
        Served {
            requests: 1,
            calls: plan.backends,
            ..Served::default()
        }
    }
}

impl AddAssign for Served {
    fn add_assign(&mut self, more: Served) {
        self.connections += more.connections;
        self.requests += more.requests;
        self.calls += more.calls;
        self.answered += more.answered;
        self.call_fired += more.call_fired;
        self.request_fired += more.request_fired;
        self.idle_fired += more.idle_fired;
        self.never_fired += more.never_fired;
        self.never_dropped += more.never_dropped;
        self.early += more.early;
    }
}

/// Serves one client until it closes its connection or the idle timer does.
pub(crate) async fn serve<T: Timers>(
    socket: TcpStream,
    backends: Arc<[SocketAddr]>,
    plan: Plan,
) -> Result<Served> {
    let mut link_tasks = JoinSet::new();
    let mut links = Vec::new();
    for &backend in &*backends {
        links.push(Link::open(backend, &mut link_tasks).await?);
    }
    let connection = Connection::<T>::new(socket, links.into(), plan);
    let served = connection.run().await?;
    // The links were dropped with the connection: their tasks end when the backends have closed.
    while let Some(ended) = link_tasks.join_next().await {
        ended??;
    }
    Ok(served)
}

/// A client's connection.
struct Connection<T: Timers> {
    requests: Frames<OwnedReadHalf>,
    answers: OwnedWriteHalf,
    running: JoinSet<Result<(Frame, Served)>>,
    links: Arc<[Link]>,
    /// One timer for the life of the connection: requests move it, nothing re-creates it.
    idle: Pin<Box<T::Sleep>>,
    /// What `idle` is set to.
    deadline: Instant,
    served: Served,
    plan: Plan,
}

impl<T: Timers> Connection<T> {
    fn new(socket: TcpStream, links: Arc<[Link]>, plan: Plan) -> Self {
        let (requests, answers) = socket.into_split();
        let deadline = Instant::now() + plan.idle_timeout;
        Connection {
            requests: Frames::new(requests),
            answers,
            running: JoinSet::new(),
            links,
            idle: Box::pin(T::sleep_until(deadline)),
            deadline,
            served: Served::of_connection(),
            plan,
        }
    }

    async fn run(mut self) -> Result<Served> {
        loop {
            tokio::select! {
                // In this order, a request that has come beats a deadline that has passed: a
                // connection is not closed as idle because the gateway was late to read.
                biased;
                request = self.requests.next() => match request? {
                    Some(request) => self.begin(request),
                    None => break,
                },
                Some(ended) = self.running.join_next() => self.finish(ended?).await?,
                () = self.idle.as_mut() => if self.is_idle() { break },
            }
        }
        Ok(self.served)
    }

    fn begin(&mut self, request: Frame) {
        let answer = answer::<T>(request, self.links.clone(), self.plan);
        self.running.spawn(answer);
        self.restart_idle();
    }

    async fn finish(&mut self, ended: Result<(Frame, Served)>) -> Result<()> {
        let (answer, request) = ended?;
        self.served += request;
        frame::send(&mut self.answers, &[answer]).await?;
        if self.running.is_empty() {
            // The client's turn begins now, not when it sent what took us so long.
            self.restart_idle();
        }
        Ok(())
    }

    /// Whether the timer that has fired means an idle client, or one that waits for us.
    fn is_idle(&mut self) -> bool {
        self.served.early += u64::from(Instant::now() < self.deadline);
        let idle = self.running.is_empty();
        if idle {
            self.served.idle_fired = 1;
        } else {
            self.restart_idle();
        }
        idle
    }

    fn restart_idle(&mut self) {
        self.deadline = Instant::now() + self.plan.idle_timeout;
        T::reset(self.idle.as_mut(), self.deadline);
    }
}

/// Calls every backend, and answers with those that answered in time.
async fn answer<T: Timers>(
    request: Frame,
    links: Arc<[Link]>,
    plan: Plan,
) -> Result<(Frame, Served)> {
    let started = Instant::now();
    let numbers = plan.calls_of(request.number);
    let mut calls: FuturesUnordered<_> = numbers
        .zip(&*links)
        .map(|(number, link)| call::<T>(number, link, &plan))
        .collect();
    let mut served = Served::of_request(&plan);
    // Counted as they end, so that what has come is kept when the request's own timer fires.
    let fan_out = async {
        while let Some(ended) = calls.next().await {
            served += ended?;
        }
        anyhow::Ok(())
    };
    match T::timeout(plan.request_timeout, fan_out).await {
        Ok(all_ended) => all_ended?,
        Err(_) => {
            served.request_fired = 1;
            served.never_dropped = plan.never_answered(request.number) - served.never_fired;
            served.early += u64::from(started.elapsed() < plan.request_timeout);
        }
    }
    Ok((
        Frame {
            value: served.answered,
            ..request
        },
        served,
    ))
}

async fn call<T: Timers>(number: u64, link: &Link, plan: &Plan) -> Result<Served> {
    let started = Instant::now();
    let mut served = Served::default();
    match T::timeout(plan.call_timeout, link.call(number)).await {
        Ok(answered) => {
            answered?;
            served.answered = 1;
        }
        Err(_) => {
            served.call_fired = 1;
            served.never_fired = u64::from(plan.fate(number) == Fate::Never);
            served.early = u64::from(started.elapsed() < plan.call_timeout);
        }
    }
    Ok(served)
}
