//! A socket per operation: rsntp binds a UDP socket for each query, and waits for the answer under a timeout. Opening the
//! socket costs so much more than the timer that this program has nothing to gain.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::Ordering::Relaxed;

use anyhow::Result;
use load::peer::{SERVED, against_peer, end_with_program};
use load::{Counter, LIMIT, Load};
use rsntp::{AsyncSntpClient, Config, ReferenceIdentifier};

const NAME: &str = "LOOP";

fn main() -> Result<()> {
    let start = async |port, load: &Load| {
        let server = SocketAddr::from(([127, 0, 0, 1], port));
        Ok(load.spawn(|counter| queries(counter, server)))
    };
    against_peer(start, peer)
}

async fn queries(counter: Counter, server: SocketAddr) {
    let client = Config::default()
        .bind_address(([127, 0, 0, 1], 0).into())
        .timeout(LIMIT);
    let client = AsyncSntpClient::with_config(client);
    for _ in counter.numbers() {
        // The client checks that the answer repeats the time of its query.
        let answer = client.synchronize(server).await.expect("an answer in time");
        assert_eq!(
            answer.reference_identifier(),
            &ReferenceIdentifier::ASCII(NAME.into())
        );
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
