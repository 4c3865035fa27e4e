//! The *peer*: the other end of a program's connections, in a process of its own. Every side uses the peer of the build with
//! Tokio's timers.
//!
//! The peer prints the port that it listens on. (That of `delay` gets the program's port, and connects to it.) When its
//! standard input is closed, which also happens if the program dies, it prints how many operations it has counted, and
//! ends.

use std::env;
use std::io::{BufRead, BufReader, Read, stdin};
use std::process::{Child, ChildStdout, Command, Stdio, exit};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::task::JoinHandle;

use crate::{CALLERS, Load, block_on, main};

/// The environment variable with the path of the binary that is the peer of all sides.
pub const BINARY: &str = "PROGRAMS_PEER";

/// A running peer.
pub struct Peer {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts this program's peer.
    pub fn start(number: u16) -> Result<Self> {
        let binary = env::var_os(BINARY).map_or_else(env::current_exe, |path| Ok(path.into()))?;
        let mut process = Command::new(binary)
            .args(["peer", &number.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = BufReader::new(process.stdout.take().context("its output")?);
        Ok(Self { process, output })
    }

    /// Reads the port that the peer listens on.
    pub fn port(&mut self) -> Result<u16> {
        Ok(self.line()?.parse()?)
    }

    /// Ends the peer, and returns how many operations it has counted.
    pub fn served(mut self) -> Result<u64> {
        drop(self.process.stdin.take());
        let served = self.line()?.parse()?;
        ensure!(self.process.wait()?.success(), "the peer failed");
        Ok(served)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }
}

/// Runs a program against its peer. `start` gets the peer's port, and spawns the tasks of the load.
pub fn against_peer(
    start: impl AsyncFnOnce(u16, &Load) -> Result<Vec<JoinHandle<()>>>,
    peer: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let run = |seconds| {
        let (mut peer, load) = (Peer::start(0)?, Load::new(CALLERS));
        block_on(async {
            let tasks = start(peer.port()?, &load).await?;
            load.finish(seconds, tasks, || peer.served()).await
        })
    };
    main(run, |_| peer())
}

/// Operations that this process has counted as a peer.
pub static SERVED: AtomicU64 = AtomicU64::new(0);

/// Waits, on a thread of its own, until the standard input has ended.
pub fn at_end_of_input(then: impl FnOnce() + Send + 'static) {
    thread::spawn(move || {
        let _ = stdin().read_to_end(&mut Vec::new());
        then();
    });
}

/// Prints the number of operations and ends this process, once the program has closed the standard input, which it does
/// after its last operation.
pub fn end_with_program() {
    at_end_of_input(|| {
        println!("{}", SERVED.load(Relaxed));
        exit(0);
    });
}

/// Runs a TCP server on a current-thread runtime. `answer` appends the answers to all whole requests at the front of what
/// was read, and returns the requests' bytes and number.
pub fn serve(answer: fn(&[u8], &mut Vec<u8>) -> (usize, u64)) -> Result<()> {
    end_with_program();
    let mut builder = Builder::new_current_thread();
    builder.enable_io().build()?.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        println!("{}", listener.local_addr()?.port());
        loop {
            tokio::spawn(serve_connection(listener.accept().await?.0, answer));
        }
    })
}

/// Runs a TCP server that sends back the whole numbers that it reads.
pub fn echo() -> Result<()> {
    serve(|requests, answers| {
        let length = requests.len() / 8 * 8;
        answers.extend_from_slice(&requests[..length]);
        (length, length as u64 / 8)
    })
}

async fn serve_connection(
    mut stream: TcpStream,
    answer: fn(&[u8], &mut Vec<u8>) -> (usize, u64),
) -> Result<()> {
    stream.set_nodelay(true)?;
    let (mut requests, mut answers) = (Vec::new(), Vec::new());
    while stream.read_buf(&mut requests).await? > 0 {
        let (length, count) = answer(&requests, &mut answers);
        requests.drain(..length);
        SERVED.fetch_add(count, Relaxed);
        stream.write_all(&answers).await?;
        answers.clear();
    }
    Ok(())
}
