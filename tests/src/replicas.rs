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
            let (listen, admin) = (address.to_string(), free_address().to_string());
            let mut variables = vec![
                ("FLORIN_LISTEN", listen.as_str()),
                ("FLORIN_ADMIN_LISTEN", admin.as_str()),
            ];
            variables.extend(more);
            let log = world.file(&format!("replica-{number}.log"));
            let program = Program::start(&world.config_file(), &log, &variables);
            let ready = format!("http://{admin}/health/ready");
            eventually("a proxy is ready", async || {
                let response = world.http().get(&ready).send().await.ok()?;
                response.status().is_success().then_some(())
            })
            .await;
            replicas.push(Replica {
                program: Some(program),
                address,
            });
        }
        Self(replicas)
    }

    /// The address of one.
    pub fn url(&self, number: usize) -> String {
        format!("http://{}", self.0[number].address)
    }

    /// The same page, served by one of them.
    pub fn page(&self, number: usize, world: &World, checkout: &Checkout) -> Checkout {
        let customer = world.customer();
        let customer = customer.through(&self.url(number), world.http().clone());
        customer.with_token(checkout.token(), &checkout.order)
    }

    /// What one of them printed.
    pub fn printed(&self, number: usize) -> String {
        self.0[number]
            .program
            .as_ref()
            .map_or_else(String::new, Program::printed)
    }

    /// Kills one by SIGKILL.
    pub fn kill(&mut self, number: usize) {
        if let Some(mut program) = self.0[number].program.take() {
            program.kill();
        }
    }

    /// Ends all in order, and starts the world's own proxy again.
    pub async fn stop(self, world: &mut World) {
        for replica in self.0 {
            if let Some(mut program) = replica.program {
                assert_eq!(program.stop().await, Some(0), "{}", program.printed());
            }
        }
        world.start_proxy().await;
    }
}

fn free_address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], free_port()))
}
