//! Disasters in which a proxy or the primary is killed: the disk fails, the database's file is lost, a clock is wrong, another
//! process takes over, the network or the primary is lost.
//!
//! How each is reported, and that the proxy recovers without a restart, is tested by `tests/api/disasters.rs` and
//! `database_server.rs`. Here it is killed while a disaster lasts, or after it; what it leaves is audited.

use std::time::Duration;

use florin_servers::PostgresServer;
use jiff::SignedDuration;

use super::DATABASE;
use super::kills::{KILLS, RUN};
use super::shard::{Shard, address_of};
use crate::faulty_machine::{DiskError, MovedFile, SpoiledFile, limit_files};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disaster {
    Disk(DiskError),
    /// Files may not grow.
    FilesLimited,
    /// The database is moved away and put back.
    FileMoved,
    /// A copy takes its place until it is put back.
    FileReplaced,
    /// Its first bytes are overwritten and repaired.
    FileSpoiled,
    /// Another process wants the database, and gets it when the first is killed.
    OverlappingRestart,
    /// The clock of one proxy's machine is wrong until the next such disaster.
    WrongClock,
    /// One proxy has no way to the database server.
    Partition,
    /// The primary is lost for ever; its synchronous standby takes over.
    Failover,
}

pub(super) const OF_FILE: [Disaster; 10] = [
    Disaster::Disk(DiskError::NoSpace),
    Disaster::Disk(DiskError::Write),
    Disaster::Disk(DiskError::Sync),
    Disaster::Disk(DiskError::Read),
    Disaster::FilesLimited,
    Disaster::FileMoved,
    Disaster::FileReplaced,
    Disaster::FileSpoiled,
    Disaster::OverlappingRestart,
    Disaster::WrongClock,
];
pub(super) const OF_SERVER: [Disaster; 3] = [
    Disaster::Partition,
    Disaster::Failover,
    Disaster::WrongClock,
];

/// How long an outage lasts after it was noticed.
const LASTS: Duration = Duration::from_millis(500);
/// Longest time without a way to the database: longer than a response is awaited.
const CUT_OFF: Duration = Duration::from_secs(7);
const OFF: SignedDuration = SignedDuration::from_secs(10);
/// Longest time under a wrong clock before the kill. The proxy that is started next has the same clock.
const OFF_FOR: Duration = Duration::from_secs(2);

impl Disaster {
    pub(super) fn name(self) -> String {
        format!("{self:?}")
    }
}

impl Shard {
    /// Brings the next disaster, in turn. Returns how many processes were killed.
    pub(super) async fn kill_in_disaster(&mut self) -> u64 {
        let disasters: &[Disaster] = match self.server {
            Some(_) => &OF_SERVER,
            None => &OF_FILE,
        };
        let disaster = disasters[self.disasters % disasters.len()];
        self.disasters += 1;
        self.restart_exited().await;
        let at = self.any_replica();
        self.wait_until_ready(at).await;
        self.wait_up_to(RUN).await;
        let killed = match disaster {
            Disaster::OverlappingRestart => self.kill_before_successor(at).await,
            Disaster::WrongClock => self.kill_with_wrong_clock(at).await,
            Disaster::Partition => self.kill_without_database(at).await,
            Disaster::Failover => self.fail_over().await,
            outage => self.kill_in_outage(outage, at).await,
        };
        self.counters.add("disasters", disaster.name(), killed);
        self.restart_exited().await;
        killed
    }

    /// Nothing can be stored for a while. The proxy is killed while that lasts, or afterwards.
    async fn kill_in_outage(&mut self, outage: Disaster, at: usize) -> u64 {
        let end = self.begin_outage(outage, at);
        self.wait_until(at, false).await;
        self.wait_up_to(LASTS).await;
        let in_the_middle = outage != Disaster::FilesLimited && self.random.percent(30);
        if in_the_middle {
            let what = "in an outage of the storage";
            let killed = self.kill_replica(at, KILLS, what).await;
            end();
            return killed;
        }
        end();
        self.wait_until_ready(at).await;
        self.wait_up_to(RUN).await;
        let what = "after an outage of the storage";
        self.kill_replica(at, KILLS, what).await
    }

    /// Returns how the outage ends.
    fn begin_outage(&self, outage: Disaster, at: usize) -> Box<dyn FnOnce()> {
        let (database, replica) = (self.folder.file(DATABASE), &self.replicas[at]);
        match outage {
            Disaster::Disk(error) => {
                let machine = replica.machine.clone();
                machine.set_disk(Some(error));
                Box::new(move || machine.set_disk(None))
            }
            Disaster::FilesLimited => {
                let process = replica.id();
                limit_files(process, Some(0));
                Box::new(move || limit_files(process, None))
            }
            Disaster::FileSpoiled => {
                let spoiled = SpoiledFile::spoil(&database);
                Box::new(|| spoiled.repair())
            }
            _ => {
                let moved = MovedFile::move_away(&database);
                if outage == Disaster::FileReplaced {
                    moved.replace_by_copy();
                }
                Box::new(|| moved.put_back())
            }
        }
    }

    /// A second process waits for the database, and takes over when the first one is killed.
    async fn kill_before_successor(&mut self, at: usize) -> u64 {
        let mut second = self.spare(&self.folder.file(DATABASE));
        second.start();
        self.wait_up_to(2 * LASTS).await;
        assert_eq!(second.exit_status(), None, "{}", second.log_tail());
        let killed = self.kill_replica(at, KILLS, "before a successor").await;
        self.wait_for_spare(&second).await;
        self.wait_up_to(RUN).await;
        killed
    }

    /// The clock of a proxy goes wrong, or is put right. It is wrong until the next time, for all that happens meanwhile.
    async fn kill_with_wrong_clock(&mut self, at: usize) -> u64 {
        let was_wrong = self.wrong_clock.take();
        let at = was_wrong.unwrap_or(at);
        if was_wrong.is_some() {
            self.set_clock(at, SignedDuration::ZERO);
        } else {
            let ahead = if self.random.percent(50) { OFF } else { -OFF };
            self.set_clock(at, ahead);
            self.wrong_clock = Some(at);
        }
        self.wait_up_to(OFF_FOR).await;
        let what = "after its clock was changed";
        self.kill_replica(at, KILLS, what).await
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
