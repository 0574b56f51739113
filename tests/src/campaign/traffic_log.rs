//! A wire that is listened to: it carries connections, and says when which request and answer passes.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;

/// Which wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// Customers, stores and the service's callbacks to the proxy.
    EverybodyAndProxy,
    /// The proxy to the service.
    ProxyAndService,
    /// The proxy to the shop's endpoint.
    ProxyAndShop,
}

/// Something that passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) between: Between,
    /// Whether it was the answer; otherwise the question.
    pub(super) is_answer: bool,
    /// `POST /api/invoice`: method and path of the question, without its query.
    pub(super) request: String,
}

/// The wire. Dropping it ends what it carries.
#[derive(Debug)]
pub(super) struct Tap {
    pub(super) address: SocketAddr,
    cut: watch::Sender<bool>,
    _carrying: JoinSet<()>,
}

impl Tap {
    pub(super) async fn to(
        there: SocketAddr,
        between: Between,
        moments: broadcast::Sender<Moment>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let cut = watch::channel(false).0;
        let mut carrying = JoinSet::new();
        let is_cut = cut.subscribe();
        carrying.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    Ok((near, _)) = listener.accept() => {
                        let (moments, is_cut) = (moments.clone(), is_cut.clone());
                        connections.spawn(carry(near, there, between, moments, is_cut));
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Self {
            address,
            cut,
            _carrying: carrying,
        }
    }

    /// Cuts every connection, and those that are tried; or carries again.
    pub(super) fn cut(&self, is_cut: bool) {
        self.cut.send_replace(is_cut);
    }
}

async fn carry(
    near: TcpStream,
    there: SocketAddr,
    between: Between,
    moments: broadcast::Sender<Moment>,
    mut is_cut: watch::Receiver<bool>,
) {
    if *is_cut.borrow() {
        return;
    }
    let Ok(far) = TcpStream::connect(there).await else {
        return;
    };
    let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
    let asked = Arc::new(Mutex::new(None));
    let tell = |is_answer, request| {
        // Nobody listens between two blows.
        let _ = moments.send(Moment {
            between,
            is_answer,
            request,
        });
    };
    let hears_question = |bytes: &[u8]| {
        if let Some(request) = request_line(bytes) {
            *asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.clone());
            tell(false, request);
        }
    };
    let hears_answer = |_: &[u8]| {
        if let Some(request) = asked.lock().unwrap_or_else(PoisonError::into_inner).take() {
            tell(true, request);
        }
    };
    tokio::select! {
        () = pass(near_in, far_out, hears_question) => {}
        () = pass(far_in, near_out, hears_answer) => {}
        _ = is_cut.wait_for(|is| *is) => {}
    }
}

/// Passes bytes on until one side ends, and lets them be heard before.
async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, hears: impl Fn(&[u8])) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        hears(&bytes[..count]);
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
    fn a_request_is_known_by_its_first_line() {
        let line = request_line(b"GET /api/invoice?id=inv_1 HTTP/1.1\r\nhost: x\r\n\r\n");
        assert_eq!(line.as_deref(), Some("GET /api/invoice"));
        assert_eq!(request_line(b"{\"POST\": 1}"), None);
    }
}
