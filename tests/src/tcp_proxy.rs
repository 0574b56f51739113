//! A TCP proxy that can cut or freeze connections, as a network between two servers.

use std::net::SocketAddr;

use florin_postgres::free_port;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::wait::eventually;

/// Forwards connections to a server. Cut, it refuses them, as a server that is down. Frozen, it accepts everything and
/// forwards nothing, as a broken network.
#[derive(Debug)]
pub struct TcpProxy {
    here: SocketAddr,
    there: SocketAddr,
    frozen: watch::Sender<bool>,
    /// How often the open connections were silenced.
    silenced: watch::Sender<u64>,
    carrying: Option<JoinHandle<()>>,
}

impl TcpProxy {
    /// Starts forwarding to a server on this machine.
    pub async fn to(there: SocketAddr) -> Self {
        // It is bound again after a cut.
        let here = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let listener = bind(here).await;
        let mut proxy = Self {
            here,
            there,
            frozen: watch::channel(false).0,
            silenced: watch::channel(0).0,
            carrying: None,
        };
        proxy.carry(listener);
        proxy
    }

    /// Where the near end is.
    pub fn address(&self) -> SocketAddr {
        self.here
    }

    /// Ends every connection and refuses new ones.
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
        self.there = there;
        self.restore().await;
    }

    fn carry(&mut self, listener: TcpListener) {
        let link = Link {
            there: self.there,
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

/// Where one proxy forwards to, and how.
#[derive(Clone)]
struct Link {
    there: SocketAddr,
    frozen: watch::Receiver<bool>,
    silenced: watch::Receiver<u64>,
}

async fn carry(listener: TcpListener, link: Link) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok((near, _)) = listener.accept() => {
                connections.spawn(connect(near, link.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connect(mut near: TcpStream, link: Link) {
    let Link {
        there,
        mut frozen,
        mut silenced,
    } = link;
    let times = *silenced.borrow();
    let Ok(mut far) = TcpStream::connect(there).await else {
        return;
    };
    let freezes = async {
        // An error means that the proxy was dropped.
        tokio::select! {
            _ = frozen.wait_for(|is| *is) => {}
            _ = silenced.wait_for(|now| *now > times) => {}
        }
    };
    tokio::select! {
        biased;
        () = freezes => {
            // Both ends stay open and receive nothing.
            std::future::pending::<()>().await;
        }
        // A connection that was reset ends like one that was closed.
        _ = copy_bidirectional(&mut near, &mut far) => {}
    }
}
