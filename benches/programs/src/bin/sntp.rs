//! A socket per operation: rsntp binds a UDP socket for each query, and waits for the answer under a timeout. Opening the
//! socket costs so much more than the timer that this program has nothing to gain.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::Ordering::Relaxed;

use anyhow::Result;
use load::peer::{Peer, SERVED, end_with_program};
use load::{LIMIT, Load, finish, two_workers};
use rsntp::{AsyncSntpClient, Config, ReferenceIdentifier};

const NAME: &str = "LOOP";

fn main() -> Result<()> {
    load::main(run, |_| peer())
}

fn run(seconds: f64, size: usize) -> Result<()> {
    let mut peer = Peer::start(0)?;
    let server = SocketAddr::from(([127, 0, 0, 1], peer.port()?));
    two_workers()?.block_on(async {
        let load = Load::new(size);
        let tasks = load.spawn(|task| queries(task, server, load.clone()));
        finish(load, tasks, seconds, || peer.served()).await
    })
}

async fn queries(task: usize, server: SocketAddr, load: Load) {
    let client = Config::default()
        .bind_address(([127, 0, 0, 1], 0).into())
        .timeout(LIMIT);
    let client = AsyncSntpClient::with_config(client);
    loop {
        // The client checks that the answer repeats the time of its query.
        let answer = client.synchronize(server).await.expect("an answer in time");
        assert_eq!(
            answer.reference_identifier(),
            &ReferenceIdentifier::ASCII(NAME.into())
        );
        if !load.done(task) {
            break;
        }
    }
}

/// Answers each query with the time at which it was sent.
fn peer() -> Result<()> {
    let socket = UdpSocket::bind(("127.0.0.1", 0))?;
    println!("{}", socket.local_addr()?.port());
    end_with_program();
    let mut packet = [0; 48];
    loop {
        let (_, client) = socket.recv_from(&mut packet)?;
        // The answer has version 4, and comes from a server of stratum 1.
        packet[..2].copy_from_slice(&[0x24, 1]);
        packet[12..16].copy_from_slice(NAME.as_bytes());
        // The last field of a query is the time at which the client sent it.
        for timestamp in [16, 24, 32] {
            packet.copy_within(40..48, timestamp);
        }
        SERVED.fetch_add(1, Relaxed);
        socket.send_to(&packet, client)?;
    }
}
