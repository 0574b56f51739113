//! An HTTP server of a test, on a separate port of this machine.

use std::net::SocketAddr;

use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

#[derive(Debug)]
pub(crate) struct LocalServer {
    pub(crate) address: SocketAddr,
    /// Without a slash at its end.
    pub(crate) url: String,
    serving: JoinHandle<()>,
}

impl LocalServer {
    pub(crate) async fn start(routes: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let serving = axum::serve(listener, routes).into_future();
        Self {
            address,
            url: format!("http://{address}"),
            serving: tokio::spawn(async { serving.await.expect("a bound listener serves") }),
        }
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
