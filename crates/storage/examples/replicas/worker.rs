//! One process with customers, as a proxy is: a store with connections that it shares with no other.
//!
//! The starter writes a line for each measurement. The worker answers by a line with what it has done.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use florin_orders::fixtures::{at, exact, invoice, new_attempt, terms};
use florin_orders::{AttemptId, InvoiceId, Observation, OrderId, PollPriority, TokenHash};
use florin_storage::{Database, Storage};
use tokio::task::JoinSet;

use crate::machine::{Usage, Used};

pub(crate) const COMMAND: &str = "worker";
const ADDRESS: &str = "DATABASE_URL";
/// How long customers buy in a measurement.
pub(crate) const LENGTH: Duration = Duration::from_secs(4);
/// Attempts that are leased together.
pub(crate) const BATCH: u32 = 8;
/// All polls are due by then, and no order has expired.
const NOW: i64 = 20;
const LEASED_UNTIL: i64 = 80;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Orders are opened.
    Open,
    /// Orders are opened and paid: order, attempt, invoice, lease of the poll, and the observation that credits the order.
    Pay,
    /// Due attempts are leased until none is left.
    Lease,
}

impl Task {
    const ALL: [(Self, &str); 3] = [
        (Self::Open, "open"),
        (Self::Pay, "pay"),
        (Self::Lease, "lease"),
    ];
}

/// A running worker. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts a process with so many customers. `number` differs from that of every other worker on the database.
    pub(crate) fn start(url: &str, number: u32, customers: u32) -> Self {
        let program = std::env::current_exe().expect("this program has a path");
        let mut child = Command::new(program)
            .args([COMMAND, &number.to_string(), &customers.to_string()])
            .env(ADDRESS, url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started");
        let input = child.stdin.take().expect("it is piped");
        let output = child.stdout.take().expect("it is piped");
        let mut worker = Self {
            child,
            input,
            output: BufReader::new(output),
        };
        assert_eq!(worker.response(), "ready");
        worker
    }

    fn begin(&mut self, task: Task) {
        let word = Task::ALL.into_iter().find(|(known, _)| *known == task);
        let (_, word) = word.expect("each task has a word");
        writeln!(self.input, "{word}").expect("the worker reads");
    }

    /// How much it has done: orders, paid orders, or leased attempts.
    fn count(&mut self) -> u64 {
        let response = self.response();
        response.parse().expect("a worker answers with a number")
    }

    fn response(&mut self) -> String {
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .expect("the worker answers");
        line.trim().to_owned()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Both do nothing to a process that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What several workers did at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// Orders, paid orders, or leased attempts.
    pub(crate) count: u64,
    /// In a second.
    pub(crate) rate: u64,
    /// Of the machine.
    pub(crate) used: Used,
}

/// Lets all workers do the same at the same time.
#[expect(clippy::disallowed_methods, reason = "a stopwatch")]
pub(crate) fn together(workers: &mut [Worker], task: Task) -> Done {
    let (before, began) = (Usage::now(), Instant::now());
    for worker in &mut *workers {
        worker.begin(task);
    }
    let count = workers.iter_mut().map(Worker::count).sum();
    let took = began.elapsed().as_millis().max(1);
    let rate = u128::from(count) * 1000 / took;
    Done {
        count,
        rate: u64::try_from(rate).unwrap_or(u64::MAX),
        used: Usage::now().since(before),
    }
}

/// The worker itself.
pub(crate) async fn serve(arguments: &[String]) -> ExitCode {
    let url = std::env::var(ADDRESS).expect("the starter sets it");
    let [number, customers] = arguments else {
        panic!("usage: {COMMAND} NUMBER CUSTOMERS");
    };
    let number: u32 = number.parse().expect("a number");
    let customers: u32 = customers.parse().expect("a number");
    let database = Database::open(&url, "test").await.expect("it has a schema");
    let shop = Shop {
        storage: database.storage(),
        number,
        orders: Arc::default(),
    };
    println!("ready");
    for line in std::io::stdin().lines() {
        let line = line.expect("a line of text");
        let task = Task::ALL.into_iter().find(|(_, word)| *word == line);
        let (task, _) = task.expect("a task");
        println!("{}", shop.run(task, customers).await);
    }
    database.close().await;
    ExitCode::SUCCESS
}

#[derive(Clone)]
struct Shop {
    storage: Arc<dyn Storage>,
    number: u32,
    /// Orders that were begun.
    orders: Arc<AtomicU32>,
}

impl Shop {
    async fn run(&self, task: Task, customers: u32) -> u64 {
        let done = Arc::new(AtomicU64::new(0));
        let mut running = JoinSet::new();
        for _ in 0..customers {
            let (shop, done) = (self.clone(), done.clone());
            running.spawn(async move {
                loop {
                    let count = match task {
                        Task::Open => shop.open(shop.next()).await,
                        Task::Pay => shop.pay(shop.next()).await,
                        Task::Lease => match shop.lease().await {
                            0 => return,
                            count => count,
                        },
                    };
                    done.fetch_add(count, Ordering::Relaxed);
                }
            });
        }
        let all = async {
            while let Some(ended) = running.join_next().await {
                ended.expect("a customer does not panic");
            }
        };
        // What is not done by then does not count. It is completed by the store.
        let _ = tokio::time::timeout(LENGTH, all).await;
        running.shutdown().await;
        done.load(Ordering::Relaxed)
    }

    /// The bytes of the next id.
    fn next(&self) -> [u8; 16] {
        let order = self.orders.fetch_add(1, Ordering::Relaxed);
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&self.number.to_be_bytes());
        bytes[4..8].copy_from_slice(&order.to_be_bytes());
        bytes
    }

    async fn open(&self, bytes: [u8; 16]) -> u64 {
        let mut token = [0; 32];
        token[..16].copy_from_slice(&bytes);
        let id = OrderId::from_random(bytes);
        let terms = terms(id.as_str());
        let opened = self
            .storage
            .open_order(&id, &terms, TokenHash(token), at(86_400), at(0));
        let opened = opened.await.expect("each order is new");
        u64::from(opened.is_new)
    }

    /// Buys, and polls for whichever customer waits longest. Returns the number of orders that were credited.
    async fn pay(&self, bytes: [u8; 16]) -> u64 {
        self.open(bytes).await;
        let mut attempt = new_attempt(1);
        attempt.id = AttemptId::from_random(bytes);
        let order = OrderId::from_random(bytes);
        let begun = self.storage.begin_attempt(&order, &attempt, at(0)).await;
        begun.expect("an order without an attempt takes one");
        let mut invoice = invoice(1);
        invoice.id = InvoiceId::parse(attempt.id.as_str()).expect("it is short and plain");
        let opened = self
            .storage
            .open_attempt(&attempt.id, &invoice, at(0))
            .await;
        opened.expect("each invoice is new");
        // Two, so that none is left when another one was quicker.
        let due = self
            .storage
            .due_attempts(PollPriority::Unwatched, at(NOW), at(LEASED_UNTIL), 2);
        let mut paid = 0;
        for due in due.await.expect("the database answers") {
            let observation = Observation {
                invoice_id: Some(due.invoice_id.to_string()),
                ..exact("COMPLETED")
            };
            let recorded = self.storage.record_observation(&due, &observation).await;
            let recorded = recorded.expect("the database answers");
            let recorded = recorded.expect("no lease ends so soon");
            assert!(
                recorded.snapshot.order.status.is_settled(),
                "{:?}",
                recorded.assessment
            );
            paid += 1;
        }
        paid
    }

    async fn lease(&self) -> u64 {
        let due =
            self.storage
                .due_attempts(PollPriority::Unwatched, at(NOW), at(LEASED_UNTIL), BATCH);
        due.await.expect("the database answers").len() as u64
    }
}
