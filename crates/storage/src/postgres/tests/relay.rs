//! A relay between a store and the server, which cuts connections around a commit, and stops before a message.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use super::server::server;

/// Source: "Frontend/Backend Protocol": a simple query ends with a zero byte.
const COMMIT: &[u8] = b"COMMIT\0";

/// When the next commit's connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Before the server receives it: nothing was committed.
    Before = 1,
    /// After the server has answered it, without the response: everything was committed.
    After = 2,
}

/// A running relay.
pub(super) struct Relay {
    port: u16,
    state: Arc<State>,
    cut_all: watch::Sender<()>,
}

#[derive(Debug)]
struct State {
    next_cut: AtomicU8,
    is_stalled: AtomicBool,
    /// Messages of clients that still pass.
    left: AtomicUsize,
    stopped: Semaphore,
    opened: Semaphore,
}

impl Relay {
    pub(super) async fn start() -> Self {
        Self::to(server().port()).await
    }

    /// A relay to another port of this machine.
    pub(super) async fn to(there: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            next_cut: AtomicU8::new(0),
            is_stalled: AtomicBool::new(false),
            left: AtomicUsize::new(usize::MAX),
            stopped: Semaphore::new(0),
            opened: Semaphore::new(0),
        });
        let shared = state.clone();
        let cut_all = watch::Sender::new(());
        let all = cut_all.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", there)).await;
                let relay = relay(client, server.unwrap(), shared.clone());
                let mut cut = all.subscribe();
                tokio::spawn(async move {
                    tokio::select! {
                        () = relay => {}
                        _ = cut.changed() => {}
                    }
                });
            }
        });
        Self {
            port,
            state,
            cut_all,
        }
    }

    /// Closes all open connections, and passes others on.
    pub(super) fn cut_all(&self) {
        self.cut_all.send_replace(());
    }

    pub(super) fn url(&self, database: &str) -> String {
        format!("{}?sslmode=disable", server().url_at(self.port, database))
    }

    /// Cuts at the next commit.
    pub(super) fn arm(&self, cut: Cut) {
        self.state.next_cut.store(cut as u8, Ordering::SeqCst);
    }

    /// Passes nothing on any more, and leaves all connections open.
    pub(super) fn stall(&self) {
        self.state.is_stalled.store(true, Ordering::SeqCst);
    }

    /// Returns `true` once the cut has happened.
    pub(super) fn has_cut(&self) -> bool {
        self.state.next_cut.load(Ordering::SeqCst) == 0
    }

    /// Lets a number of messages pass and stops the next one.
    pub(super) fn stop_after(&self, messages: usize) {
        self.state.left.store(messages, Ordering::SeqCst);
    }

    /// Waits until a message was stopped.
    pub(super) async fn stopped(&self) {
        self.state.stopped.acquire().await.unwrap().forget();
    }

    /// Lets the stopped message and all others pass.
    pub(super) fn open(&self) {
        self.state.left.store(usize::MAX, Ordering::SeqCst);
        self.state.opened.add_permits(1);
    }
}

impl State {
    async fn stalled(&self) {
        if self.is_stalled.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    /// Waits before the message that is to be stopped.
    async fn pass(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            self.left.store(usize::MAX, Ordering::SeqCst);
            self.stopped.add_permits(1);
            self.opened.acquire().await.unwrap().forget();
        }
    }
}

async fn relay(mut client: TcpStream, mut server: TcpStream, state: Arc<State>) {
    let (mut sent, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            read = client.read(&mut sent) => {
                let Ok(length @ 1..) = read else { return };
                state.stalled().await;
                state.pass().await;
                let is_commit = sent[..length].windows(COMMIT.len()).any(|bytes| bytes == COMMIT);
                let cut = if is_commit { state.next_cut.swap(0, Ordering::SeqCst) } else { 0 };
                if cut == Cut::Before as u8 || server.write_all(&sent[..length]).await.is_err() {
                    return;
                }
                if cut == Cut::After as u8 {
                    let _ = server.read(&mut answered).await;
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                state.stalled().await;
                if client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}
