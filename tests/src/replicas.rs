//! Several proxies, each a process, on the database and with the configuration of a world.

use std::net::SocketAddr;

use florin_postgres::free_port;

use crate::customer::Checkout;
use crate::program::Program;
use crate::wait::eventually;
use crate::world::World;

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
    /// Starts the program, and waits until it is ready.
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
