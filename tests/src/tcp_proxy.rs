//! A TCP proxy that can cut or freeze connections, as a network between two servers, and report the HTTP that passes.

use std::net::SocketAddr;

use florin_servers::free_port;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::wait::eventually;

/// Forwards connections to a server. Cut, it refuses them, as a server that is down. Frozen, it accepts everything and
/// forwards nothing, as a broken network.
#[derive(Debug)]
pub struct TcpProxy {
    here: SocketAddr,
    servers: Vec<SocketAddr>,
    traffic: Option<Traffic>,
    frozen: watch::Sender<bool>,
    silenced: watch::Sender<u64>,
    carrying: Option<JoinHandle<()>>,
}

impl TcpProxy {
    pub async fn to(there: SocketAddr) -> Self {
        Self::balanced(vec![there], None).await
    }

    /// Starts forwarding each connection to the next of several servers, and reports the HTTP that passes.
    pub(crate) async fn balanced(servers: Vec<SocketAddr>, traffic: Option<Traffic>) -> Self {
        // It is bound again after a cut.
        let here = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let listener = bind(here).await;
        let mut proxy = Self {
            here,
            servers,
            traffic,
            frozen: watch::channel(false).0,
            silenced: watch::channel(0).0,
            carrying: None,
        };
        proxy.carry(listener);
        proxy
    }

    pub fn address(&self) -> SocketAddr {
        self.here
    }

    pub async fn cut(&mut self) {
        if let Some(carrying) = self.carrying.take() {
            carrying.abort();
            let _ = carrying.await;
        }
    }

    /// Forwards nothing more; connections stay open.
    pub fn freeze(&self) {
        self.frozen.send_replace(true);
    }

    /// Forwards nothing more of the open connections, which stay open: a firewall that forgot them. New ones are forwarded.
    pub fn silence(&self) {
        self.silenced.send_modify(|times| *times += 1);
    }

    /// Forwards to another server from now on. Earlier connections are closed.
    pub async fn redirect(&mut self, there: SocketAddr) {
        self.servers = vec![there];
        self.restore().await;
    }

    fn carry(&mut self, listener: TcpListener) {
        let link = Link {
            servers: self.servers.clone(),
            traffic: self.traffic.clone(),
            frozen: self.frozen.subscribe(),
            silenced: self.silenced.subscribe(),
        };
        self.carrying = Some(tokio::spawn(carry(listener, link)));
    }

    /// Forwards again at the same address. Earlier connections are closed.
    pub async fn restore(&mut self) {
        self.cut().await;
        self.frozen.send_replace(false);
        let listener = bind(self.here).await;
        self.carry(listener);
    }
}

/// Opens a port. A program that another test starts holds a closed listener until it is executed.
async fn bind(address: SocketAddr) -> TcpListener {
    let free = "the port is free";
    eventually(free, async || TcpListener::bind(address).await.ok()).await
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        if let Some(carrying) = &self.carrying {
            carrying.abort();
        }
    }
}

#[derive(Clone)]
struct Link {
    /// The first one that accepts a connection.
    servers: Vec<SocketAddr>,
    traffic: Option<Traffic>,
    frozen: watch::Receiver<bool>,
    silenced: watch::Receiver<u64>,
}

async fn carry(listener: TcpListener, mut link: Link) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok((near, _)) = listener.accept() => {
                connections.spawn(link.clone().connect(near));
                link.servers.rotate_left(1);
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

impl Link {
    async fn connect(mut self, mut near: TcpStream) {
        let times = *self.silenced.borrow();
        let Some((there, mut far)) = self.reach().await else {
            return;
        };
        let observed = self.traffic.map(|traffic| traffic.between(there));
        let freezes = async {
            // An error means that the proxy was dropped.
            tokio::select! {
                _ = self.frozen.wait_for(|is| *is) => {}
                _ = self.silenced.wait_for(|now| *now > times) => {}
            }
        };
        tokio::select! {
            biased;
            () = freezes => {
                // Both ends stay open and receive nothing.
                std::future::pending::<()>().await;
            }
            () = forward(&mut near, &mut far, observed.as_ref()) => {}
        }
    }

    async fn reach(&self) -> Option<(SocketAddr, TcpStream)> {
        for server in &self.servers {
            if let Ok(connection) = TcpStream::connect(server).await {
                return Some((*server, connection));
            }
        }
        None
    }
}

/// Forwards in both directions until both ends have closed theirs.
async fn forward(near: &mut TcpStream, far: &mut TcpStream, observed: Option<&Observed>) {
    let (near_reader, near_writer) = near.split();
    let (far_reader, far_writer) = far.split();
    let on_request = |bytes: &[u8]| observed.iter().for_each(|it| it.request(bytes));
    let on_response = |_: &[u8]| observed.iter().for_each(|it| it.response());
    tokio::join!(
        copy(near_reader, far_writer, on_request),
        copy(far_reader, near_writer, on_response),
    );
}

/// `on_bytes` is called before they are written.
async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    on_bytes: impl Fn(&[u8]),
) {
    let mut bytes = [0; 16 * 1024];
    // A connection that was reset ends like one that was closed.
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        on_bytes(&bytes[..count]);
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}

/// Where a connection leads to: the proxy, the gateway, or the shop's endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Proxy,
    Gateway,
    Shop,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) route: Route,
    pub(crate) there: SocketAddr,
    pub(crate) is_response: bool,
    /// `POST /api/invoice`: method and path of the request, without its query.
    pub(crate) request: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    pub(crate) route: Route,
    pub(crate) passed: broadcast::Sender<Passed>,
}

pub(crate) struct Observed {
    traffic: Traffic,
    there: SocketAddr,
    /// The request without a response so far.
    outstanding: Mutex<Option<String>>,
}

impl Traffic {
    pub(crate) fn between(self, there: SocketAddr) -> Observed {
        Observed {
            traffic: self,
            there,
            outstanding: Mutex::default(),
        }
    }
}

impl Observed {
    pub(crate) fn request(&self, bytes: &[u8]) {
        if let Some(request) = request_line(bytes) {
            *self.outstanding.lock() = Some(request.clone());
            self.report(false, request);
        }
    }

    pub(crate) fn response(&self) {
        let request = self.outstanding.lock().take();
        if let Some(request) = request {
            self.report(true, request);
        }
    }

    fn report(&self, is_response: bool, request: String) {
        // An error means that no kill plan listens at the moment.
        let _ = self.traffic.passed.send(Passed {
            route: self.traffic.route,
            there: self.there,
            is_response,
            request,
        });
    }
}

fn request_line(bytes: &[u8]) -> Option<String> {
    let line = bytes.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let method = words
        .next()
        .filter(|word| matches!(*word, "GET" | "POST" | "PUT"))?;
    let path = words.next()?.split('?').next()?;
    Some(format!("{method} {path}"))
}
