//! The PostgreSQL server of a test program, with a database for each test; and several proxies, each a process, on the database
//! and with the configuration of a world.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use florin_servers::{Durability, Pooler, PostgresServer, free_port};

use crate::customer::Checkout;
use crate::program::Program;
use crate::wait::eventually;
use crate::world::World;

/// Fewer connections than one proxy opens.
const POOLED: u32 = 4;

pub async fn postgres_database() -> String {
    let url = empty_postgres_database();
    let migrated = florin_storage::migrate_postgres(&url, "test").await;
    migrated.expect("an empty database can be migrated");
    url
}

/// The address of a new database without a schema.
pub fn empty_postgres_database() -> String {
    server().url(&new_database())
}

/// The address of a new database with what a dump has, as [`dump_postgres_database`] writes it.
pub fn load_postgres_database(dump: &Path) -> String {
    let name = new_database();
    let loaded = server().load_statements(&name, dump);
    loaded.unwrap_or_else(|error| panic!("{}: {error}", dump.display()));
    server().url(&name)
}

/// Writes the statements that make a database of this server, without the files of the checkout.
pub fn dump_postgres_database(url: &str, file: &Path) {
    let (_, name) = url.rsplit_once('/').expect("an address has a database");
    let written = server().dump_statements(name, "static_files", file);
    written.expect("the database can be dumped");
    // `\restrict` and `\unrestrict` are for psql of this version, with random keys.
    let text = std::fs::read_to_string(file).expect("a dump is text");
    let is_kept = |line: &&str| !line.starts_with(['\\']);
    let lines: Vec<&str> = text.lines().filter(is_kept).collect();
    std::fs::write(file, lines.join("\n") + "\n").expect("the file is writable");
}

/// The address of the same database through a PgBouncer in transaction mode.
pub fn pooled(url: &str) -> String {
    static POOLER: OnceLock<Pooler> = OnceLock::new();
    let start = || Pooler::start(server(), POOLED).expect("PgBouncer is installed");
    let (_, name) = url.rsplit_once('/').expect("the address of a database");
    server().url_at(POOLER.get_or_init(start).port(), name)
}

fn server() -> &'static PostgresServer {
    static SERVER: OnceLock<PostgresServer> = OnceLock::new();
    let start = || PostgresServer::start(Durability::None).expect("PostgreSQL is installed");
    SERVER.get_or_init(start)
}

fn new_database() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let created = server().create_database(&name, None);
    created.expect("the server makes databases");
    name
}

/// Running proxies; they are killed when dropped.
#[derive(Debug)]
pub struct Replicas(Vec<Replica>);

#[derive(Debug)]
struct Replica {
    program: Option<Program>,
    address: SocketAddr,
    admin: SocketAddr,
    number: usize,
    variables: Vec<(String, String)>,
}

impl Replica {
    async fn start(&mut self, world: &World) {
        let variables = self.variables.iter();
        let variables: Vec<_> = variables.map(|(name, value)| (&**name, &**value)).collect();
        let log = world.file(&format!("replica-{}.log", self.number));
        self.program = Some(Program::start(&world.config_file(), &log, &variables));
        let ready = format!("http://{}/health/ready", self.admin);
        eventually("a proxy is ready", async || {
            let response = world.http().get(&ready).send().await.ok()?;
            response.status().is_success().then_some(())
        })
        .await;
    }

    async fn stop(&mut self) {
        if let Some(mut program) = self.program.take() {
            assert_eq!(program.stop().await, Some(0), "{}", program.printed());
        }
    }
}

impl Replicas {
    /// Stops the world's own proxy and starts others in its place. The first listens at the world's address, where callbacks
    /// arrive.
    pub async fn start<const COUNT: usize>(
        world: &mut World,
        variables: [&[(&str, &str)]; COUNT],
    ) -> Self {
        world.stop_proxy().await;
        let mut replicas = Vec::new();
        for (number, more) in variables.into_iter().enumerate() {
            let address = match number {
                0 => world.listen_address(),
                _ => free_address(),
            };
            let admin = free_address();
            let own = [("FLORIN_LISTEN", address), ("FLORIN_ADMIN_LISTEN", admin)];
            let own = own.map(|(name, address)| (name.to_owned(), address.to_string()));
            let more = more.iter();
            let more = more.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let mut replica = Replica {
                program: None,
                address,
                admin,
                number,
                variables: own.into_iter().chain(more).collect(),
            };
            replica.start(world).await;
            replicas.push(replica);
        }
        Self(replicas)
    }

    pub async fn replace(&mut self, number: usize, world: &World) {
        self.0[number].stop().await;
        self.0[number].start(world).await;
    }

    pub fn url(&self, number: usize) -> String {
        format!("http://{}", self.0[number].address)
    }

    pub fn page(&self, number: usize, world: &World, checkout: &Checkout) -> Checkout {
        let customer = world.customer();
        let customer = customer.through(&self.url(number), world.http().clone());
        customer.with_token(checkout.token(), &checkout.order)
    }

    pub fn printed(&self, number: usize) -> String {
        self.0[number]
            .program
            .as_ref()
            .map_or_else(String::new, Program::printed)
    }

    pub fn kill(&mut self, number: usize) {
        if let Some(mut program) = self.0[number].program.take() {
            program.kill();
        }
    }

    pub async fn stop(self, world: &mut World) {
        for mut replica in self.0 {
            replica.stop().await;
        }
        world.start_proxy().await;
    }
}

pub(crate) fn free_address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], free_port()))
}
