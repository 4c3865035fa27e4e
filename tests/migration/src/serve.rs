//! An axum router on hyper-util, with a limit for each request's head.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tower_http::timeout::{RequestBodyTimeoutLayer, TimeoutLayer};

use crate::clock::{self, Duration, HyperTimer};

const LIMIT: Duration = Duration::from_millis(50);

pub fn app() -> Router {
    Router::new()
        .route("/", get(async || "hello"))
        .route("/slow", get(std::future::pending::<String>))
        .layer(RequestBodyTimeoutLayer::new(LIMIT))
        .layer(TimeoutLayer::with_status_code(
            StatusCode::GATEWAY_TIMEOUT,
            LIMIT,
        ))
}

pub async fn serve(listener: tokio::net::TcpListener, head: Duration) -> std::io::Result<()> {
    let mut server = Builder::new(TokioExecutor::new()).http1_only();
    server
        .http1()
        .timer(HyperTimer::new())
        .header_read_timeout(head);
    loop {
        let (socket, _) = clock::timeout(Duration::from_secs(3600), listener.accept()).await??;
        let (server, app) = (server.clone(), TowerToHyperService::new(app()));
        tokio::spawn(async move {
            server
                .serve_connection(TokioIo::new(socket), app)
                .await
                .ok()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::{TcpListener, TcpStream},
        time::timeout,
    };

    #[tokio::test]
    async fn half_a_head_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, Duration::from_millis(50)));
        let mut socket = TcpStream::connect(at).await.unwrap();
        socket.write_all(b"GET / HT").await.unwrap();
        let mut answer = Vec::new();
        let end = timeout(Duration::from_secs(60), socket.read_to_end(&mut answer));
        assert!(end.await.is_ok(), "it is closed");
    }

    #[tokio::test]
    async fn a_request_is_answered() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, Duration::from_secs(60)));
        let text = crate::upstream::fetch(&format!("http://{at}/"), Duration::from_secs(60)).await;
        assert_eq!(text.unwrap(), "hello");
        let slow = format!("http://{at}/slow");
        let late = crate::upstream::fetch(&slow, Duration::from_secs(60)).await;
        assert!(late.unwrap_err().to_string().contains("504"));
    }
}
