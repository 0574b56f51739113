//! A TCP proxy that reports every HTTP request and response that passes.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;

/// A connection between two parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// From customers, stores and the gateway's callbacks to the proxy.
    Proxy,
    /// From the proxy to the gateway.
    Gateway,
    /// From the proxy to the shop's endpoint.
    Shop,
}

/// A request or response that passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passed {
    pub(super) link: Link,
    /// Where the near end is.
    pub(super) here: SocketAddr,
    /// The server that it passed to or from.
    pub(super) there: SocketAddr,
    /// `true` for a response, `false` for a request.
    pub(super) is_response: bool,
    /// `POST /api/invoice`: method and path of the request, without its query.
    pub(super) request: String,
}

/// Forwards connections; closes them when dropped.
#[derive(Debug)]
pub(super) struct TrafficLog {
    pub(super) address: SocketAddr,
    set_cut: watch::Sender<bool>,
    _forwarding: JoinSet<()>,
}

impl TrafficLog {
    pub(super) async fn to(
        there: SocketAddr,
        link: Link,
        traffic: broadcast::Sender<Passed>,
    ) -> Self {
        Self::balanced(vec![there], link, traffic).await
    }

    /// Forwards each connection to the next of several servers that accepts one.
    pub(super) async fn balanced(
        servers: Vec<SocketAddr>,
        link: Link,
        traffic: broadcast::Sender<Passed>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let set_cut = watch::channel(false).0;
        let mut forwarding = JoinSet::new();
        let is_cut = set_cut.subscribe();
        forwarding.spawn(async move {
            let mut connections = JoinSet::new();
            let mut servers = servers;
            loop {
                tokio::select! {
                    Ok((near, _)) = listener.accept() => {
                        let (traffic, is_cut) = (traffic.clone(), is_cut.clone());
                        let relay = Relay { here: address, servers: servers.clone(), link, traffic };
                        connections.spawn(relay.forward(near, is_cut));
                        servers.rotate_left(1);
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Self {
            address,
            set_cut,
            _forwarding: forwarding,
        }
    }

    /// Cuts every connection and refuses new ones; `false` forwards again.
    pub(super) fn set_cut(&self, is_cut: bool) {
        self.set_cut.send_replace(is_cut);
    }
}

/// What one connection is forwarded to.
struct Relay {
    here: SocketAddr,
    /// The first one that accepts a connection.
    servers: Vec<SocketAddr>,
    link: Link,
    traffic: broadcast::Sender<Passed>,
}

impl Relay {
    async fn forward(self, near: TcpStream, mut is_cut: watch::Receiver<bool>) {
        if *is_cut.borrow() {
            return;
        }
        let Some((there, far)) = self.connect().await else {
            return;
        };
        let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
        let outstanding = Arc::new(Mutex::new(None));
        let publish = |is_response, request| {
            // No kill plan listens at the moment.
            let _ = self.traffic.send(Passed {
                link: self.link,
                here: self.here,
                there,
                is_response,
                request,
            });
        };
        let on_request = |bytes: &[u8]| {
            if let Some(request) = request_line(bytes) {
                *outstanding.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.clone());
                publish(false, request);
            }
        };
        let on_response = |_: &[u8]| {
            let request = outstanding
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            if let Some(request) = request {
                publish(true, request);
            }
        };
        tokio::select! {
            () = forward(near_in, far_out, on_request) => {}
            () = forward(far_in, near_out, on_response) => {}
            _ = is_cut.wait_for(|is| *is) => {}
        }
    }

    async fn connect(&self) -> Option<(SocketAddr, TcpStream)> {
        for server in &self.servers {
            if let Ok(connection) = TcpStream::connect(server).await {
                return Some((*server, connection));
            }
        }
        None
    }
}

/// Forwards bytes until one side ends; `on_bytes` is called before they are written.
async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, on_bytes: impl Fn(&[u8])) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        on_bytes(&bytes[..count]);
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

/// Method and path, when these bytes begin a request.
fn request_line(bytes: &[u8]) -> Option<String> {
    let line = bytes.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let method = words
        .next()
        .filter(|word| matches!(*word, "GET" | "POST" | "PUT"))?;
    let path = words.next()?.split('?').next()?;
    Some(format!("{method} {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_recognised_by_its_first_line() {
        let line = request_line(b"GET /api/invoice?id=inv_1 HTTP/1.1\r\nhost: x\r\n\r\n");
        assert_eq!(line.as_deref(), Some("GET /api/invoice"));
        assert_eq!(request_line(b"{\"POST\": 1}"), None);
    }
}
