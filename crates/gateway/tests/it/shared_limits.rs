//! Several processes share the limits of their account in one row. The row's clock is hours ahead of theirs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use florin_gateway_client::{
    AccountRow, AccountRowError, AccountState, AccountStep, CallError, Client, Clock, InvoiceId,
    NonceRule, PaymentGateway as _, Priority, Settings,
};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::server::{CannedResponse, Largest, Server, settings};

/// A clock that is moved by hand. A sleep ends when its time has come.
#[derive(Clone)]
struct HeldClock(Arc<watch::Sender<Timestamp>>);

impl HeldClock {
    fn new() -> Self {
        let start = Timestamp::from_second(1_700_000_000).expect("a time of 2023");
        Self(Arc::new(watch::channel(start).0))
    }

    fn pass(&self, seconds: u64) {
        self.0
            .send_modify(|now| *now += Duration::from_secs(seconds));
    }
}

#[async_trait]
impl Clock for HeldClock {
    fn now(&self) -> Timestamp {
        *self.0.borrow()
    }

    async fn sleep(&self, time: Duration) {
        let until = self.now() + time;
        let mut now = self.0.subscribe();
        let passed = now.wait_for(|now| *now >= until).await;
        passed.expect("the clock has its sender");
    }
}

#[derive(Clone)]
struct Row {
    shared: Arc<Shared>,
    is_away: Arc<AtomicBool>,
}

struct Shared {
    clock: HeldClock,
    row: tokio::sync::Mutex<(Option<String>, i64)>,
    /// `true` for each change that a crash must not lose.
    durable: Mutex<Vec<bool>>,
    /// How long a change takes, in seconds.
    takes: AtomicU64,
}

const AHEAD: SignedDuration = SignedDuration::from_hours(3);

impl Row {
    fn new(clock: &HeldClock) -> Self {
        Self {
            shared: Arc::new(Shared {
                clock: clock.clone(),
                row: tokio::sync::Mutex::new((None, 0)),
                durable: Mutex::default(),
                takes: AtomicU64::new(0),
            }),
            is_away: Arc::default(),
        }
    }

    fn of_another(&self) -> Self {
        Self {
            is_away: Arc::default(),
            ..self.clone()
        }
    }

    fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    fn check(&self) -> Result<(), AccountRowError> {
        if self.is_away.load(Ordering::SeqCst) {
            return Err(AccountRowError("the server is away".into()));
        }
        Ok(())
    }

    fn changes(&self) -> usize {
        let durable = self.shared.durable.lock();
        durable.len()
    }

    fn is_durable(&self) -> bool {
        let durable = self.shared.durable.lock();
        *durable.last().expect("there was a change")
    }

    async fn set(&self, state: &str) {
        self.shared.row.lock().await.0 = Some(state.to_owned());
    }
}

#[async_trait]
impl AccountRow for Row {
    async fn read(&self) -> Result<AccountState, AccountRowError> {
        self.check()?;
        let row = self.shared.row.lock().await;
        Ok(AccountState {
            state: row.0.clone(),
            version: row.1,
            now: self.shared.clock.now() + AHEAD,
        })
    }

    async fn change(&self, step: AccountStep) -> Result<i64, AccountRowError> {
        self.check()?;
        let mut row = self.shared.row.lock().await;
        // Others ask meanwhile.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        let now = self.shared.clock.now() + AHEAD;
        // A change whose commit failed is made again.
        step(None, now);
        if let Some(new) = step(row.0.as_deref(), now) {
            *row = (Some(new.state), row.1 + 1);
            let durable = &self.shared.durable;
            durable.lock().push(new.is_durable);
        }
        match self.shared.takes.load(Ordering::SeqCst) {
            0 => {}
            seconds => self.shared.clock.pass(seconds),
        }
        Ok(row.1)
    }
}

struct Replicas {
    clock: HeldClock,
    server: Server,
    rows: Vec<Row>,
    clients: Vec<Client>,
}

impl Replicas {
    async fn with(
        responses: impl IntoIterator<Item = CannedResponse>,
        set: impl Fn(&mut Settings),
    ) -> Self {
        let clock = HeldClock::new();
        let server = Server::start(responses).await;
        let first = Row::new(&clock);
        let rows = vec![first.clone(), first.of_another(), first.of_another()];
        let start = |row: &Row| {
            let mut settings = settings(&server.base);
            set(&mut settings);
            let client = Client::new(settings, Arc::new(clock.clone()), Arc::new(Largest));
            client
                .expect("good settings")
                .sharing(Arc::new(row.clone()))
        };
        let clients: Vec<_> = rows.iter().map(start).collect();
        for client in &clients {
            client.flush().await;
        }
        Self {
            clock,
            server,
            rows,
            clients,
        }
    }

    async fn good() -> Self {
        Self::with([response(200, &[])], |_| {}).await
    }
}

fn response(status: u16, headers: &'static [(&'static str, &'static str)]) -> CannedResponse {
    (status, headers, r#"{"data":{}}"#.to_owned())
}

async fn poll(client: &Client, invoice: usize) -> Result<(), CallError> {
    let id = InvoiceId::parse(&format!("inv_{invoice}")).expect("an id");
    client.invoice(&id, Priority::Watched).await.map(drop)
}

fn pause(seconds: u64) -> Result<(), CallError> {
    Err(CallError::RateLimited {
        retry_after: Duration::from_secs(seconds),
    })
}

#[tokio::test]
async fn three_processes_send_what_one_may_send() {
    let replicas = Replicas::good().await;
    let polls = (0..90).map(|n| poll(&replicas.clients[n % 3], n));
    let polled = futures_util::future::join_all(polls).await;
    let sent = polled.iter().filter(|poll| poll.is_ok()).count();
    assert_eq!((sent, replicas.server.count()), (10, 10));
    for refused in polled.into_iter().filter_map(Result::err) {
        assert!(
            matches!(refused, CallError::OutOfBudget { .. }),
            "{refused}"
        );
    }
    assert_eq!(replicas.clients[0].available(Priority::Watched), 0);
}

#[tokio::test]
async fn many_requests_at_once_are_few_changes_of_the_row() {
    let replicas = Replicas::with([response(200, &[])], |settings| {
        settings.requests_per_second = 1000;
    })
    .await;
    let before = replicas.rows[0].changes();
    let polls = (0..100).map(|n| poll(&replicas.clients[0], n));
    for polled in futures_util::future::join_all(polls).await {
        polled.unwrap();
    }
    replicas.clients[0].flush().await;
    let changes = replicas.rows[0].changes() - before;
    assert!(changes <= 6, "{changes} changes for a hundred requests");
    assert!(
        !replicas.rows[0].is_durable(),
        "calls that went well wait for no disk"
    );
}

/// What no call has brought is read each second.
#[tokio::test]
async fn a_pause_is_shown_by_a_process_that_sends_nothing() {
    let limited = response(429, &[("retry-after", "30")]);
    let replicas = Replicas::with([limited, response(200, &[])], |_| {}).await;
    poll(&replicas.clients[0], 1).await.unwrap_err();
    let idle = &replicas.clients[1];
    while idle.available(Priority::Create) > 0 {
        replicas.clock.pass(1);
        tokio::task::yield_now().await;
    }
    assert!(!idle.health().pause.is_zero());
}

#[tokio::test]
async fn without_the_row_nothing_is_sent_and_a_pause_is_stored_for_all_later() {
    let limited = response(429, &[("retry-after", "30")]);
    let replicas = Replicas::with([limited, response(200, &[])], |_| {}).await;
    let (row, client) = (&replicas.rows[0], &replicas.clients[0]);
    let id = InvoiceId::parse("inv_1").unwrap();
    let call = client.invoice(&id, Priority::Watched);
    // The database goes while the call is under way.
    let (response, ()) = tokio::join!(call, async {
        while replicas.server.count() == 0 {
            tokio::task::yield_now().await;
        }
        row.set_away(true);
    });
    assert_eq!(response.map(drop), pause(30));
    assert_eq!(client.health().pause, Duration::from_secs(30));
    let refused = poll(client, 2).await.unwrap_err();
    assert!(matches!(refused, CallError::NoLimits(_)), "{refused}");
    assert!(refused.definitely_not_executed());
    assert_eq!(replicas.server.count(), 1);
    replicas.clock.pass(10);
    row.set_away(false);
    // The outcome is stored before the permit beside it is given.
    for client in &replicas.clients {
        assert_eq!(poll(client, 3).await, pause(30));
    }
    assert!(row.is_durable());
    assert_eq!(replicas.server.count(), 1);
}

/// Others may have received a pause since.
#[tokio::test]
async fn a_permit_that_arrives_late_is_not_used() {
    let replicas = Replicas::with([response(200, &[])], |settings| {
        settings.nonces = NonceRule::MustIncrease;
    })
    .await;
    replicas.clock.pass(3);
    let takes = &replicas.rows[0].shared.takes;
    takes.store(3, Ordering::SeqCst);
    let refused = poll(&replicas.clients[0], 1).await.unwrap_err();
    assert!(
        matches!(refused, CallError::OutOfBudget { .. }),
        "{refused}"
    );
    takes.store(0, Ordering::SeqCst);
    replicas.clients[0].flush().await;
    assert_eq!(replicas.server.count(), 0);
    // It is given back: nothing is under way. Nonces are by the row's clock.
    poll(&replicas.clients[1], 2).await.unwrap();
    let nonce = replicas.server.nonces()[0].parse::<i64>().unwrap();
    assert!(nonce >= 1_700_000_000 + AHEAD.as_secs(), "{nonce}");
}

#[tokio::test]
async fn limits_that_cannot_be_read_begin_anew_with_an_empty_budget() {
    let replicas = Replicas::good().await;
    replicas.rows[0].set(r#"{"pause":"unreadable"}"#).await;
    let refused = poll(&replicas.clients[0], 1).await.unwrap_err();
    assert!(
        matches!(refused, CallError::OutOfBudget { .. }),
        "{refused}"
    );
    replicas.clock.pass(2);
    poll(&replicas.clients[1], 2).await.unwrap();
}
