//! Serving what connects to a listener: bounded in the size and the time of what comes before a request's body.
//!
//! HTTP/1.1 alone: browsers speak HTTP/2 with TLS only, and reverse proxies default to HTTP/1.1.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

/// How long a connection may take until its next request's head is there.
///
/// Must exceed the reverse proxy's keep-alive, or the proxy reuses a connection that is being closed and loses a request.
/// Source: nginx, `ngx_http_upstream_module`, `keepalive_timeout` (60 s).
pub(crate) const LONGEST_HEAD: Duration = Duration::from_secs(75);

/// The first line and the headers of a request. Ours have 2 KiB, and proxies on the way add some; more is answered 431.
const MAX_HEAD_BYTES: usize = 32 * 1024;

/// A connection that does not let go does not keep the process from ending.
const LONGEST_END: Duration = Duration::from_secs(10);

/// Serves until `shutdown` is cancelled: then nothing new is accepted, and what is under way finishes.
pub(crate) async fn serve(
    mut listener: TcpListener,
    routes: Router,
    longest_head: Duration,
    shutdown: CancellationToken,
) {
    let connections = TaskTracker::new();
    loop {
        // A failure to accept is waited out in there: it is the machine's, and mends itself.
        let (stream, peer) = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = Listener::accept(&mut listener) => accepted,
        };
        let one = connection(stream, peer, routes.clone(), longest_head, shutdown.clone());
        connections.spawn(one);
    }
    drop(listener);
    connections.close();
    let ended = tokio::time::timeout(LONGEST_END, connections.wait()).await;
    if ended.is_err() {
        tracing::debug!(left = connections.len(), "connections were cut off");
    }
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    routes: Router,
    longest_head: Duration,
    shutdown: CancellationToken,
) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        routes.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(longest_head)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), answer);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const HEAD: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n";

    /// A connection to a server that waits a fifth of a second for heads.
    async fn connected() -> (TcpStream, CancellationToken) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let routes = Router::new().route("/", get(|| async { "here" }));
        let patience = Duration::from_millis(200);
        tokio::spawn(serve(listener, routes, patience, shutdown.clone()));
        (TcpStream::connect(address).await.unwrap(), shutdown)
    }

    /// What comes until the connection is closed, which must be within five seconds.
    async fn until_closed(stream: &mut TcpStream) -> String {
        let mut text = String::new();
        let read = tokio::time::timeout(Duration::from_secs(5), stream.read_to_string(&mut text));
        read.await.expect("it is closed in time").unwrap();
        text
    }

    #[tokio::test]
    async fn a_head_that_never_ends_is_given_up() {
        let (mut stream, _shutdown) = connected().await;
        stream.write_all(HEAD).await.unwrap();
        let answer = until_closed(&mut stream).await;
        assert!(!answer.contains("here"), "{answer}");
    }

    #[tokio::test]
    async fn a_connection_that_says_nothing_is_given_up() {
        let (mut stream, _shutdown) = connected().await;
        assert_eq!(until_closed(&mut stream).await, "");
    }

    #[tokio::test]
    async fn a_whole_head_is_answered_and_the_idle_connection_given_up() {
        let (mut stream, _shutdown) = connected().await;
        stream.write_all(HEAD).await.unwrap();
        stream.write_all(b"\r\n").await.unwrap();
        let answer = until_closed(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        assert!(answer.ends_with("here"), "{answer}");
    }

    #[tokio::test]
    async fn an_idle_connection_ends_with_the_server() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let served = serve(listener, Router::new(), LONGEST_HEAD, shutdown.clone());
        let served = tokio::spawn(served);
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            .await
            .unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 404");
        shutdown.cancel();
        until_closed(&mut stream).await;
        let ended = tokio::time::timeout(Duration::from_secs(5), served).await;
        ended.expect("it ends in time").unwrap();
    }
}
