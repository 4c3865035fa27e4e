//! Rows that are decoded under a timeout each. Most rows are there already when they are asked for.
//! For those, `timeout_if_pending` reads no clock and arms no timer.
//!
//! `cargo run --example decode`

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use wheel::ext::FutureExt as _;
use wheel::{Duration, Instant, sleep};

const ROWS: u32 = 100_000;

/// Decodes the next row, which is a number. Waits for the server only if the buffer has no whole row.
async fn row(server: &mut BufReader<DuplexStream>) -> io::Result<u32> {
    server.read_u32().await
}

/// Sends rows in bursts, and then falls silent.
async fn serve(mut client: DuplexStream) -> io::Result<()> {
    for first in (0..ROWS).step_by(1000) {
        let burst: Vec<u8> = (first..first + 1000).flat_map(u32::to_be_bytes).collect();
        client.write_all(&burst).await?;
        sleep(Duration::from_millis(1)).await;
    }
    std::future::pending().await
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let (client, server) = duplex(4096);
    tokio::spawn(serve(client));
    let mut server = BufReader::new(server);
    let start = Instant::now();
    let mut rows = 0;
    // The limit is for each wait. `timeout` would read the clock for each row.
    let limit = Duration::from_millis(50);
    while let Ok(next) = row(&mut server).timeout_if_pending(limit).await {
        assert_eq!(next?, rows);
        rows += 1;
    }
    println!(
        "{rows} rows, then none for {limit:?}, after {:?}",
        start.elapsed()
    );
    let armed = wheel::metrics().snapshot().armed;
    println!("{armed} timers were armed, with those of the server's sleeps");
    Ok(())
}
