//! A connection that can be cut: what stands between two servers in life, a network.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// Carries connections to a server. Cut, it refuses them, as a server does that is down. Frozen, it takes everything
/// and hands on nothing, as a network does that is gone.
#[derive(Debug)]
pub struct TcpProxy {
    here: SocketAddr,
    there: SocketAddr,
    frozen: watch::Sender<bool>,
    carrying: Option<JoinHandle<()>>,
}

impl TcpProxy {
    /// Lays a wire to a server on this machine.
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

    /// Hands on nothing more; nobody is told.
    pub fn freeze(&self) {
        self.frozen.send_replace(true);
    }

    /// Carries again, at the same address. Connections of before are gone.
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
        // An error means that the wire itself is gone, and this with it.
        let _ = frozen.wait_for(|is| *is).await;
    };
    tokio::select! {
        biased;
        () = freezes => {
            // Both ends stay open, and hear nothing.
            std::future::pending::<()>().await;
        }
        _ = copy_bidirectional(&mut near, &mut far) => {}
    }
}
