//! A TCP proxy that can cut or freeze connections, as a network between two servers.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// Forwards connections to a server. Cut, it refuses them, as a server that is down. Frozen, it accepts everything and
/// forwards nothing, as a broken network.
#[derive(Debug)]
pub struct TcpProxy {
    here: SocketAddr,
    there: SocketAddr,
    frozen: watch::Sender<bool>,
    carrying: Option<JoinHandle<()>>,
}

impl TcpProxy {
    /// Starts forwarding to a server on this machine.
    pub async fn to(there: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let here = listener.local_addr().expect("it is bound");
        let frozen = watch::channel(false).0;
        let carrying = Some(tokio::spawn(carry(listener, there, frozen.subscribe())));
        Self {
            here,
            there,
            frozen,
            carrying,
        }
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

    /// Forwards again at the same address. Earlier connections are closed.
    pub async fn restore(&mut self) {
        self.cut().await;
        self.frozen.send_replace(false);
        let listener = TcpListener::bind(self.here).await;
        let listener = listener.expect("the port is still free");
        self.carrying = Some(tokio::spawn(carry(
            listener,
            self.there,
            self.frozen.subscribe(),
        )));
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        if let Some(carrying) = &self.carrying {
            carrying.abort();
        }
    }
}

async fn carry(listener: TcpListener, there: SocketAddr, frozen: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok((near, _)) = listener.accept() => {
                connections.spawn(connect(near, there, frozen.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connect(mut near: TcpStream, there: SocketAddr, mut frozen: watch::Receiver<bool>) {
    let Ok(mut far) = TcpStream::connect(there).await else {
        return;
    };
    let freezes = async {
        // An error means that the proxy was dropped.
        let _ = frozen.wait_for(|is| *is).await;
    };
    tokio::select! {
        biased;
        () = freezes => {
            // Both ends stay open and receive nothing.
            std::future::pending::<()>().await;
        }
        _ = copy_bidirectional(&mut near, &mut far) => {}
    }
}
