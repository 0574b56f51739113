//! The connections of a listener: bounded in number, and in the size and the time of what comes before a request's body.
//!
//! The loop is written here and not with `axum::serve`, which has no limit of connections and no timeout of a request's head.
//! A limit of `tower` counts requests: connections that send none would hold all places. hyper speaks the protocol.
//!
//! HTTP/1.1 alone: browsers speak HTTP/2 with TLS only, and reverse proxies default to HTTP/1.1.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request};
use axum::serve::Listener;
use futures_util::FutureExt as _;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::connection_slots::{End, InProgress, Slot, Slots};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// From the connection to the whole head of its first request.
    pub first_request: Duration,
    /// From a response to the whole head of the next request.
    ///
    /// Must exceed the reverse proxy's keep-alive, or the proxy reuses a connection that is being closed and loses a request.
    /// Source: nginx, `ngx_http_upstream_module`, `keepalive_timeout` (60 s).
    pub next_request: Duration,
}

impl Timeouts {
    pub(crate) const DEFAULT: Self = Self {
        first_request: Duration::from_secs(10),
        next_request: Duration::from_secs(75),
    };
}

/// The first line and the headers of a request. Ours have 2 KiB, and proxies on the way add some; more is answered 431.
const MAX_HEAD_BYTES: usize = 32 * 1024;

/// The longest time that the process waits for requests in progress when it ends.
const LONGEST_END: Duration = Duration::from_secs(10);

/// Returns the address that a connection counts for, or `None` if it counts for none.
pub(crate) type CountedAddress = Arc<dyn Fn(SocketAddr) -> Option<IpAddr> + Send + Sync>;

pub(crate) struct Server {
    pub listener: TcpListener,
    pub routes: Router,
    pub timeouts: Timeouts,
    pub slots: Arc<Slots>,
    pub counted_address: CountedAddress,
}

const SWEEP: Duration = Duration::from_secs(1);

/// Serves until `shutdown` is cancelled; then accepts nothing new, and finishes the requests in progress.
pub(crate) async fn serve(server: Server, shutdown: CancellationToken) {
    let Server {
        mut listener,
        routes,
        timeouts,
        slots,
        counted_address,
    } = server;
    let connections = TaskTracker::new();
    let mut accept = async || {
        loop {
            // It waits while the machine cannot open another file.
            let (stream, peer) = Listener::accept(&mut listener).await;
            if let Some(slot) = slots.take(counted_address(peer)).await {
                connections.spawn(connection(stream, peer, routes.clone(), slot));
            }
        }
    };
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = accept() => {}
        () = sweep(&slots, timeouts) => {}
    }
    // What the machine has accepted for the listener would be reset with it.
    for (stream, peer) in waiting(listener) {
        if let Some(Some(slot)) = slots.take(counted_address(peer)).now_or_never() {
            connections.spawn(connection(stream, peer, routes.clone(), slot));
        }
    }
    connections.close();
    // The reactor wakes the connections for what has arrived, before idle ones are closed.
    tokio::task::yield_now().await;
    slots.shut_down();
    let ended = tokio::time::timeout(LONGEST_END, connections.wait()).await;
    if ended.is_err() {
        tracing::debug!(left = connections.len(), "connections were closed");
    }
}

fn waiting(listener: TcpListener) -> Vec<(TcpStream, SocketAddr)> {
    // tokio's accept tries only what the reactor has seen.
    let accept = |listener: &std::net::TcpListener| {
        let (stream, peer) = listener.accept().ok()?;
        stream.set_nonblocking(true).ok()?;
        Some((TcpStream::from_std(stream).ok()?, peer))
    };
    let Ok(listener) = listener.into_std() else {
        return Vec::new();
    };
    std::iter::from_fn(|| accept(&listener)).collect()
}

/// Enforces the time limits of all connections: a timer of each would cost more than all else that a connection adds to a
/// request.
async fn sweep(slots: &Slots, timeouts: Timeouts) {
    let Timeouts {
        first_request,
        next_request,
    } = timeouts;
    let pause = SWEEP.min(first_request.min(next_request) / 10);
    let mut turns = tokio::time::interval(pause);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        slots.close_overdue(first_request, next_request);
    }
}

async fn connection(stream: TcpStream, peer: SocketAddr, routes: Router, slot: Slot) {
    let response = service_fn(|request: Request<Incoming>| {
        let in_progress = slot.begin();
        let mut request = request.map(|body| {
            // Most requests have none, and this one needs no memory.
            if body.is_end_stream() {
                Body::empty()
            } else {
                Body::new(body)
            }
        });
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = routes.clone().oneshot(request);
        async move {
            let track = |body| TrackedBody {
                body,
                _in_progress: in_progress,
            };
            response.await.map(|response| response.map(track))
        }
    });
    let connection = http1::Builder::new()
        .header_read_timeout(None)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), response);
    let mut connection = std::pin::pin!(connection);
    let ended = async {
        tokio::select! {
            biased;
            end = slot.end() => {
                // A request may have arrived at the same moment.
                if end == End::Evicted && !slot.is_in_progress() {
                    return Ok(());
                }
            }
            ended = connection.as_mut() => return ended,
        }
        // A request that has arrived is read: only then is the connection known to be idle.
        if let Some(ended) = connection.as_mut().now_or_never() {
            return ended;
        }
        connection.as_mut().graceful_shutdown();
        connection.await
    };
    if let Err(error) = ended.await {
        tracing::debug!(%error, "a connection ended");
    }
}

/// A response body with its request in progress, which lasts until the body is sent.
struct TrackedBody {
    body: Body,
    _in_progress: InProgress,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::connection_slots::ConnectionLimits;

    const HEAD: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n";

    const SHORT: Duration = Duration::from_millis(200);
    const LONG: Duration = Duration::from_mins(1);

    async fn started(timeouts: Timeouts, all: usize) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let routes = Router::new()
            .route("/", get(|| async { "here" }))
            .route("/endless", get(endless));
        let server = Server {
            listener,
            routes,
            timeouts,
            slots: Slots::new(ConnectionLimits {
                all,
                per_address: usize::MAX,
            }),
            counted_address: Arc::new(|peer| Some(peer.ip())),
        };
        tokio::spawn(serve(server, shutdown.clone()));
        TestServer { address, shutdown }
    }

    struct TestServer {
        address: SocketAddr,
        shutdown: CancellationToken,
    }

    impl TestServer {
        async fn connect(&self) -> TcpStream {
            TcpStream::connect(self.address).await.unwrap()
        }

        async fn get(&self, path: &str) -> TcpStream {
            let mut stream = self.connect().await;
            let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut first = [0; 12];
            let read = tokio::time::timeout(Duration::from_secs(5), stream.read_exact(&mut first));
            read.await.expect("a response begins in time").unwrap();
            assert_eq!(&first, b"HTTP/1.1 200");
            stream
        }

        async fn answered(&self) -> TcpStream {
            let mut stream = self.get("/").await;
            let mut rest = Vec::new();
            while !rest.ends_with(b"here") {
                rest.push(stream.read_u8().await.unwrap());
            }
            stream
        }
    }

    async fn endless() -> Body {
        Body::from_stream(futures_util::stream::pending::<Result<Bytes, axum::Error>>())
    }

    async fn connected(first_request: Duration, next_request: Duration) -> (TcpStream, TestServer) {
        let timeouts = Timeouts {
            first_request,
            next_request,
        };
        let server = started(timeouts, 10).await;
        (server.connect().await, server)
    }

    /// What comes until the connection is closed, which must be within five seconds.
    async fn until_closed(stream: &mut TcpStream) -> String {
        let mut text = String::new();
        let read = tokio::time::timeout(Duration::from_secs(5), stream.read_to_string(&mut text));
        read.await.expect("it is closed in time").unwrap();
        text
    }

    #[tokio::test]
    async fn a_silent_connection_and_an_incomplete_first_head_time_out() {
        for head in [HEAD, b""] {
            let (mut stream, _server) = connected(SHORT, LONG).await;
            stream.write_all(head).await.unwrap();
            let response = until_closed(&mut stream).await;
            assert!(!response.contains("here"), "{response}");
            assert!(!head.is_empty() || response.is_empty(), "{response}");
        }
    }

    #[tokio::test]
    async fn an_idle_connection_is_kept_after_its_first_request_and_times_out_later() {
        let (mut stream, _server) = connected(LONG, SHORT).await;
        stream.write_all(HEAD).await.unwrap();
        stream.write_all(b"\r\n").await.unwrap();
        let response = until_closed(&mut stream).await;
        assert!(response.starts_with("HTTP/1.1 200 OK"), "{response}");
        assert!(response.ends_with("here"), "{response}");
    }

    #[tokio::test]
    async fn a_full_listener_closes_the_connection_that_waits_longest() {
        let server = started(Timeouts::DEFAULT, 3).await;
        let mut silent = server.connect().await;
        let _streaming = server.get("/endless").await;
        let mut idle = server.get("/").await;
        let _customer = server.get("/").await;
        assert_eq!(until_closed(&mut silent).await, "");
        let _next = server.get("/").await;
        until_closed(&mut idle).await;
    }

    #[tokio::test]
    async fn what_arrives_at_the_end_is_answered() {
        let server = started(Timeouts::DEFAULT, 10).await;
        let mut kept = server.answered().await;
        // Nothing runs between these: the machine has taken the connection, and the server has not.
        let request = [HEAD, b"\r\n"].concat();
        kept.try_write(&request).unwrap();
        let mut new = std::net::TcpStream::connect(server.address).unwrap();
        std::io::Write::write_all(&mut new, &request).unwrap();
        server.shutdown.cancel();
        new.set_nonblocking(true).unwrap();
        let mut new = TcpStream::from_std(new).unwrap();
        for stream in [&mut kept, &mut new] {
            let response = until_closed(stream).await;
            assert!(response.ends_with("here"), "{response}");
        }
    }
}
