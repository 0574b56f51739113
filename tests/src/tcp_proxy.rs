//! A TCP proxy that can cut or freeze connections, as a network between two servers, and report the HTTP that passes;
//! and the machine of a proxy that runs as a program: its disk can fail and its database can be moved or overwritten, without the
//! rights of root.
//!
//! A library between the program and the C library reads the faults of the disk from a file that both map. It is compiled by the
//! C compiler that the build needs too.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

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

const SOURCE: &str = include_str!("faulty_machine.c");

/// An error of the disk. Source: errno(3), the numbers of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskError {
    NoSpace,
    Write,
    Sync,
    Read,
}

#[derive(Debug)]
pub struct FaultyMachine {
    faults: File,
    path: PathBuf,
    library: PathBuf,
}

impl FaultyMachine {
    /// A machine without faults, whose files are in this folder.
    pub fn build(folder: &Path) -> Self {
        let [source, library, path] = ["faulty_machine.c", "faulty_machine.so", "machine_faults"]
            .map(|name| folder.join(name));
        fs::write(&source, SOURCE).expect("the folder is writable");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .status();
        let compiled = compiled.expect("the build needs a C compiler too");
        assert!(compiled.success(), "faulty_machine.c does not compile");
        let faults = File::create(&path).expect("the folder is writable");
        let machine = Self {
            faults,
            path,
            library,
        };
        (0..3).for_each(|place| machine.write(place, 0));
        machine
    }

    pub fn variables(&self) -> [(&'static str, String); 2] {
        [
            ("MACHINE_FAULTS", self.path.display().to_string()),
            ("LD_PRELOAD", self.library.display().to_string()),
        ]
    }

    pub fn set_disk(&self, error: Option<DiskError>) {
        const ENOSPC: i64 = 28;
        const EIO: i64 = 5;
        let faults = match error {
            None => [0, 0, 0],
            Some(DiskError::NoSpace) => [ENOSPC, 0, 0],
            Some(DiskError::Write) => [EIO, 0, 0],
            Some(DiskError::Sync) => [0, EIO, 0],
            Some(DiskError::Read) => [0, 0, EIO],
        };
        for (place, fault) in (0..).zip(faults) {
            self.write(place, fault);
        }
    }

    /// The members of `struct faults` in `faulty_machine.c`.
    fn write(&self, place: u64, fault: i64) {
        let written = self.faults.write_all_at(&fault.to_ne_bytes(), place * 8);
        written.expect("the file of the faults is writable");
    }
}

#[derive(Debug)]
pub struct MovedFile {
    here: PathBuf,
    away: PathBuf,
}

impl MovedFile {
    pub fn move_away(here: &Path) -> Self {
        let away = here.with_extension("away");
        fs::rename(here, &away).expect("the database exists");
        Self {
            here: here.to_owned(),
            away,
        }
    }

    pub fn replace_by_copy(&self) {
        fs::copy(&self.away, &self.here).expect("the folder is writable");
    }

    pub fn put_back(self) {
        fs::rename(&self.away, &self.here).expect("the folder is writable");
    }
}

/// The bytes by which SQLite recognises a file. The proxy never changes them.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

#[derive(Debug)]
pub struct SpoiledFile(File);

impl SpoiledFile {
    pub fn spoil(path: &Path) -> Self {
        let file = File::options().write(true).open(path);
        let file = Self(file.expect("the database exists"));
        file.write(&[0; 16]);
        file
    }

    pub fn repair(self) {
        self.write(MAGIC);
    }

    fn write(&self, begin: &[u8; 16]) {
        let written = self.0.write_all_at(begin, 0);
        written.expect("the database is writable");
    }
}
