//! The proxy of the demo, or several on one PostgreSQL, behind one address. Each is a process, so that it can be killed; beside a
//! command, a single one is a part of the demo's process.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use florin_proxy::clock::{SystemClock, SystemRandom};
use florin_proxy::webhooks::WebhookSender;
use florin_proxy::{Dependencies, Listeners};
use florin_servers::{Durability, PostgresServer};
use florin_storage::Database;
use parking_lot::Mutex;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::settings::Ports;

const START_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) async fn run(
    file: PathBuf,
    listeners: Listeners,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let config = florin_proxy::config::load(Some(&file), &BTreeMap::new());
    let config = config.map_err(|problems| anyhow::anyhow!("its configuration: {problems}"))?;
    let database = Database::open(&config.database_url, config.environment.as_str()).await?;
    let settings = config.gateway.client.clone();
    let client = florin_proxy::gateway_account::client(settings, &database, Arc::new(SystemClock));
    let dependencies = Dependencies {
        storage: database.storage(),
        gateway: Arc::new(client?),
        webhooks: Arc::new(WebhookSender::new()?),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    };
    let ended = florin_proxy::run(listeners, config, dependencies, shutdown, None).await;
    database.close().await;
    ended
}

/// One of several proxies, in a process of the demo.
pub(crate) async fn run_replica(config: PathBuf, listen: &str, admin: &str) -> anyhow::Result<()> {
    let log = tracing_subscriber::fmt().with_ansi(false);
    let Ok(()) = log.try_init() else {
        bail!("another log is in use")
    };
    let shutdown = CancellationToken::new();
    let ended = shutdown.clone();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        ended.cancel();
    });
    let bind = async |address: &str| {
        let listener = TcpListener::bind(address).await;
        listener.with_context(|| format!("{address} cannot be opened"))
    };
    let listeners = Listeners {
        public: bind(listen).await?,
        admin: bind(admin).await?,
        public_connections: 1_000,
    };
    run(config, listeners, shutdown).await
}

pub(crate) async fn ready(admin: u16) -> anyhow::Result<()> {
    answers(&format!("http://127.0.0.1:{admin}/health/ready"), "").await
}

/// Waits until an asset can be chosen.
pub(crate) async fn offers(proxy: u16) -> anyhow::Result<()> {
    let offer = format!("http://127.0.0.1:{proxy}/v1/checkout/offer?store=demo&product=mug");
    answers(&offer, "\"available\":true").await
}

async fn answers(url: &str, part: &str) -> anyhow::Result<()> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    let is_ready = async || {
        let response = client.get(url).send().await.ok()?;
        let is_success = response.status().is_success();
        let text = response.text().await.ok()?;
        (is_success && text.contains(part)).then_some(())
    };
    let poll = async {
        let mut every = tokio::time::interval(Duration::from_millis(50));
        while is_ready().await.is_none() {
            every.tick().await;
        }
    };
    let waited = tokio::time::timeout(START_TIMEOUT, poll).await;
    ensure!(
        waited.is_ok(),
        "{url} has not answered as it should after {} s",
        START_TIMEOUT.as_secs()
    );
    Ok(())
}

const DATABASE: &str = "florin";

/// Starts a server with an empty, migrated database. It ends with the value.
pub(crate) async fn start_database() -> anyhow::Result<(PostgresServer, String)> {
    let started = tokio::task::spawn_blocking(|| {
        let server = PostgresServer::start(Durability::Full)?;
        server.create_database(DATABASE, None)?;
        Ok::<_, std::io::Error>(server)
    });
    let server = started.await?.context("PostgreSQL")?;
    let url = server.url(DATABASE);
    Ok((server, url))
}

pub(crate) struct Replicas {
    program: PathBuf,
    config: PathBuf,
    folder: PathBuf,
    ports: Ports,
    /// By number, from 1; `None` while it is down.
    running: Mutex<Vec<Option<Child>>>,
}

impl Replicas {
    /// Starts proxies with one configuration, as processes of `program`, which is the demo itself.
    pub(crate) fn start(
        program: PathBuf,
        count: u8,
        config: &Path,
        folder: &Path,
        ports: Ports,
    ) -> anyhow::Result<Self> {
        let replicas = Self {
            program,
            config: config.to_owned(),
            folder: folder.to_owned(),
            ports,
            running: Mutex::default(),
        };
        for number in 1..=count {
            let child = replicas.spawn(number)?;
            replicas.running.lock().push(Some(child));
        }
        Ok(replicas)
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = u8> + use<> {
        let count = self.running.lock().len();
        (1..=9).take(count)
    }

    fn spawn(&self, number: u8) -> anyhow::Result<Child> {
        let log = self.log(number);
        let file = File::options().create(true).append(true).open(&log);
        let file = file.with_context(|| format!("{} cannot be written", log.display()))?;
        let address = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)).to_string();
        let child = Command::new(&self.program)
            .arg("--serve")
            .arg(&self.config)
            .arg("--listen")
            .arg(address(self.ports.replica(number)))
            .arg("--admin-listen")
            .arg(address(self.ports.replica_admin(number)))
            // It ends when this process does, however that ends.
            .stdin(Stdio::piped())
            .stdout(file.try_clone()?)
            .stderr(file)
            // Ctrl-C is for the demo, which ends them.
            .process_group(0)
            .spawn();
        child.with_context(|| format!("proxy {number} cannot be started"))
    }

    pub(crate) fn log(&self, number: u8) -> PathBuf {
        self.folder.join(format!("florin-{number}.log"))
    }

    /// Kills a proxy that runs, or starts one that does not. Returns a sentence for the user.
    pub(crate) fn toggle(&self, number: u8) -> anyhow::Result<&'static str> {
        if self.set_running(number, false)? {
            return Ok("It was killed; the others go on. Enter the number again to start it.");
        }
        self.set_running(number, true)?;
        Ok("It starts again.")
    }

    /// Starts or kills a proxy. Returns `false` if nothing was to be done.
    pub(crate) fn set_running(&self, number: u8, is_wanted: bool) -> anyhow::Result<bool> {
        let mut running = self.running.lock();
        let replica = running.get_mut(usize::from(number).wrapping_sub(1));
        let replica = replica.context("there is no proxy with this number")?;
        let exited = replica.as_mut().map(Child::try_wait).transpose()?;
        let is_up = matches!(exited, Some(None));
        if is_wanted && !is_up {
            *replica = Some(self.spawn(number)?);
        } else if is_up
            && !is_wanted
            && let Some(mut child) = replica.take()
        {
            // SIGKILL: it finishes nothing.
            child.kill()?;
            child.wait()?;
        }
        Ok(is_up != is_wanted)
    }

    pub(crate) async fn stop(&self) {
        let children: Vec<Child> = self
            .running
            .lock()
            .iter_mut()
            .filter_map(Option::take)
            .collect();
        let ended = children.into_iter().map(|mut child| {
            drop(child.stdin.take());
            tokio::task::spawn_blocking(move || child.wait())
        });
        for ended in ended.collect::<Vec<_>>() {
            let _ = ended.await;
        }
    }
}

/// Passes connections on to the proxies in turn, and past those that are down.
pub(crate) async fn forward(
    listener: TcpListener,
    proxies: Vec<SocketAddr>,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let (proxies, next) = (Arc::new(proxies), AtomicUsize::new(0));
    loop {
        let mut client = tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => client,
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    continue;
                }
            },
        };
        let (proxies, first) = (proxies.clone(), next.fetch_add(1, Ordering::Relaxed));
        let shutdown = shutdown.clone();
        tokio::spawn(async move {
            let pass = async {
                for turn in 0..proxies.len() {
                    let proxy = proxies[(first + turn) % proxies.len()];
                    if let Ok(mut server) = TcpStream::connect(proxy).await {
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                        return;
                    }
                }
            };
            tokio::select! {
                () = pass => {}
                () = shutdown.cancelled() => {}
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpSocket;

    use super::*;

    #[tokio::test]
    async fn connections_go_to_the_proxies_that_are_up_in_turn() {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        // It has an address and takes no connection, as a proxy that was killed.
        let killed = TcpSocket::new_v4().unwrap();
        killed.bind(any).unwrap();
        let mut proxies = Vec::new();
        for byte in [1, 2] {
            let listener = TcpListener::bind(any).await.unwrap();
            proxies.push(listener.local_addr().unwrap());
            tokio::spawn(async move {
                while let Ok((mut client, _)) = listener.accept().await {
                    client.write_all(&[byte]).await.unwrap();
                }
            });
        }
        proxies.push(killed.local_addr().unwrap());
        let front = TcpListener::bind(any).await.unwrap();
        let address = front.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let forwarding = tokio::spawn(forward(front, proxies, shutdown.clone()));
        for expected in [1, 2, 1, 1, 2, 1] {
            let mut client = TcpStream::connect(address).await.unwrap();
            assert_eq!(client.read_u8().await.unwrap(), expected);
        }
        shutdown.cancel();
        forwarding.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_number_kills_its_proxy_alone_and_starts_it_again() {
        let folder = tempfile::tempdir().unwrap();
        // In place of the demo: it ends with its input.
        let program = folder.path().join("program");
        fs::write(&program, "#!/bin/sh\necho \"$@\"; cat\n").unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o700)).unwrap();
        let (config, ports) = (folder.path().join("florin.toml"), Ports::from_base(20_000));
        let replicas = Replicas::start(program, 2, &config, folder.path(), ports).unwrap();
        let is_up = |number: usize| {
            let mut running = replicas.running.lock();
            let child = running[number - 1].as_mut();
            child.is_some_and(|child| matches!(child.try_wait(), Ok(None)))
        };
        for number in [0, 3, 9] {
            assert!(replicas.toggle(number).is_err());
        }
        assert!(replicas.toggle(2).unwrap().starts_with("It was killed"));
        assert!(is_up(1) && !is_up(2));
        assert_eq!(replicas.toggle(2).unwrap(), "It starts again.");
        assert!(is_up(2));
        assert!(!replicas.set_running(2, true).unwrap(), "it runs already");
        replicas.stop().await;
        let log = fs::read_to_string(replicas.log(2)).unwrap();
        let arguments = format!(
            "--serve {} --listen 127.0.0.1:{} --admin-listen 127.0.0.1:{}",
            config.display(),
            ports.replica(2),
            ports.replica_admin(2)
        );
        assert_eq!(log.lines().last(), Some(arguments.as_str()));
    }
}
