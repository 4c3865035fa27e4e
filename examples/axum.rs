//! An axum service with a timeout for each request, and one for a call that the handler makes.
//!
//! `cargo run --example axum --features tower`

use axum::{Router, http::StatusCode, routing::get};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wheel::ext::{FutureExt, tower::TimeoutLayer};
use wheel::{Duration, sleep};

/// A backend that is too slow.
async fn price() -> u32 {
    sleep(Duration::from_secs(60)).await;
    42
}

/// Answers without the price if that takes too long.
async fn page() -> String {
    match price().timeout(Duration::from_millis(50)).await {
        Ok(price) => format!("it costs {price}"),
        Err(_) => "ask again for the price".to_owned(),
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    // A request that takes longer than 200 ms is answered with 504.
    let limit =
        TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, Duration::from_millis(200));
    let app: Router = Router::new()
        .route("/", get(page))
        .route("/slow", get(async || price().await.to_string()))
        .layer(limit);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async { axum::serve(listener, app).await });

    for path in ["/", "/slow"] {
        let mut client = TcpStream::connect(address).await?;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        client.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        client.read_to_string(&mut answer).await?;
        let (status, body) = (answer.lines().next(), answer.lines().last());
        println!(
            "{path}: {} {}",
            status.unwrap_or_default(),
            body.unwrap_or_default()
        );
    }
    Ok(())
}
