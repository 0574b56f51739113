//! A connection that can be cut: what stands between two servers in life, a network.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// Carries connections to a server. Cut, it refuses them, as a server does that is down.
#[derive(Debug)]
pub struct Wire {
    here: SocketAddr,
    there: SocketAddr,
    carrying: Option<JoinHandle<()>>,
}

impl Wire {
    /// Lays a wire to a server on this machine.
    pub async fn to(there: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let here = listener.local_addr().expect("it is bound");
        let carrying = Some(tokio::spawn(carry(listener, there)));
        Self {
            here,
            there,
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

    /// Carries again, at the same address.
    pub async fn mend(&mut self) {
        self.cut().await;
        let listener = TcpListener::bind(self.here).await;
        let listener = listener.expect("the port is still free");
        self.carrying = Some(tokio::spawn(carry(listener, self.there)));
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if let Some(carrying) = &self.carrying {
            carrying.abort();
        }
    }
}

async fn carry(listener: TcpListener, there: SocketAddr) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok((mut near, _)) = listener.accept() => {
                connections.spawn(async move {
                    if let Ok(mut far) = TcpStream::connect(there).await {
                        let _ = copy_bidirectional(&mut near, &mut far).await;
                    }
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
