//! Disasters of several proxies on one server: the network between one and the server is lost, or the primary for ever.
//!
//! How each is reported, and that the proxies recover without a restart, is tested by `database_server.rs`. Here a proxy or the
//! primary is killed while a disaster lasts, or after it; what it leaves is audited.

use std::time::Duration;

use florin_servers::PostgresServer;

use super::kills::{KILLS, RUN};
use super::shard::{Shard, address_of};

/// One proxy has no way to the database server; the primary is lost for ever, and its synchronous standby takes over.
pub(super) const DISASTERS: [&str; 2] = ["Partition", "Failover"];

/// Longest time without a way to the database: longer than a response is awaited.
const CUT_OFF: Duration = Duration::from_secs(7);

impl Shard {
    /// Brings the next disaster, in turn. Returns how many processes were killed.
    pub(super) async fn kill_in_disaster(&mut self) -> u64 {
        let disaster = self.disasters % DISASTERS.len();
        self.disasters += 1;
        self.restart_exited().await;
        let at = self.any_replica();
        self.wait_until_ready(at).await;
        self.wait_up_to(RUN).await;
        let killed = match disaster {
            0 => self.kill_without_database(at).await,
            _ => self.fail_over().await,
        };
        self.counters.add("disasters", DISASTERS[disaster], killed);
        self.restart_exited().await;
        killed
    }

    /// The connections of one proxy to the database are closed, or receive nothing more; it is killed then, or when it has its
    /// way again.
    async fn kill_without_database(&mut self, at: usize) -> u64 {
        let how = self.random.below(3);
        let link = self.replicas[at].link.as_mut().expect("it has a server");
        match how {
            0 => link.cut().await,
            1 => link.freeze(),
            _ => link.silence(),
        }
        self.wait_up_to(CUT_OFF).await;
        let in_the_middle = self.random.percent(40);
        let mut killed = 0;
        if in_the_middle {
            killed = self.kill_replica(at, KILLS, "without its database").await;
        }
        let link = self.replicas[at].link.as_mut().expect("it has a server");
        link.restore().await;
        if !in_the_middle {
            self.wait_up_to(RUN).await;
            let what = "after it was without its database";
            killed = self.kill_replica(at, KILLS, what).await;
        }
        killed
    }

    /// A standby follows, each commit waits for it, and it takes the place of the primary, which is lost with its disk.
    async fn fail_over(&mut self) -> u64 {
        let standby = self.call_server(|primary| {
            let standby = primary.start_standby().expect("it follows the primary");
            primary.wait_for_standby().expect("it follows the primary");
            standby
        });
        self.wait_up_to(RUN).await;
        let stopped = self.call_server(PostgresServer::stop_at_once);
        stopped.expect("the primary runs");
        self.counters.one(KILLS, "of the primary for ever");
        self.wait_up_to(RUN).await;
        let address = address_of(&standby);
        self.server = Some(standby);
        let promoted = self.call_server(|standby| standby.promote());
        promoted.expect("it was a standby");
        for replica in &mut self.replicas {
            let link = replica.link.as_mut().expect("it has a server");
            link.redirect(address).await;
        }
        1
    }
}
