//! A fair queue for the gateway: the clients that wait for an invoice are served in turn, whatever number of requests each
//! has sent.
//!
//! The gateway's budget is a few requests a second. Without the queue, a client that sends hundreds of requests gets
//! most of it, and the others get errors.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use florin_gateway_client::{Clock, PaymentGateway, Priority};
use florin_orders::OrderId;
use jiff::SignedDuration;
use parking_lot::Mutex;
use tokio::sync::oneshot;

const MAX_WAITING: usize = 8;
const MAX_WAIT: Duration = Duration::from_secs(15);
const MAX_BUDGET_WAIT: SignedDuration = SignedDuration::from_secs(5);
/// Between two checks of the budget: the time of one request at ten a second.
const BUDGET_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    Address(IpAddr),
    /// The order, if the client's address is not known.
    Order(OrderId),
}

/// No turn came in time, or too many requests of the client wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct QueueError;

#[derive(Debug, Default)]
pub(crate) struct FairQueue {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_taken: bool,
    waiting: HashMap<Client, VecDeque<oneshot::Sender<Permit>>>,
    turns: VecDeque<Client>,
}

/// The right to send the next request to the gateway. Dropping it gives the turn to the next client.
#[derive(Debug)]
pub(crate) struct QueuePermit {
    _permit: Permit,
    pub has_waited: bool,
}

#[derive(Debug)]
struct Permit(Option<Arc<FairQueue>>);

impl FairQueue {
    /// Waits for the client's turn and for a request that the gateway's budget allows.
    ///
    /// # Errors
    /// [`QueueError`] if it takes too long, and at once if the client has eight waiting requests.
    pub(crate) async fn take_with_budget(
        self: &Arc<Self>,
        client: Client,
        gateway: &dyn PaymentGateway,
        clock: &dyn Clock,
    ) -> Result<QueuePermit, QueueError> {
        let mut turn = self.take(client, clock).await?;
        let began = clock.now();
        // An open circuit and a pause have their own errors.
        let has_no_budget = || {
            let health = gateway.health();
            !health.is_circuit_open
                && health.pause.is_zero()
                && gateway.available(Priority::Create) == 0
        };
        while has_no_budget() {
            if clock.now().duration_since(began) >= MAX_BUDGET_WAIT {
                return Err(QueueError);
            }
            turn.has_waited = true;
            clock.sleep(BUDGET_INTERVAL).await;
        }
        Ok(turn)
    }

    async fn take(
        self: &Arc<Self>,
        client: Client,
        clock: &dyn Clock,
    ) -> Result<QueuePermit, QueueError> {
        let waiting = {
            let mut state = self.state.lock();
            if !state.is_taken {
                state.is_taken = true;
                return Ok(QueuePermit {
                    _permit: Permit(Some(self.clone())),
                    has_waited: false,
                });
            }
            state.wait(client)?
        };
        tokio::select! {
            biased;
            permit = waiting => Ok(QueuePermit {
                _permit: permit.map_err(|_| QueueError)?,
                has_waited: true,
            }),
            () = clock.sleep(MAX_WAIT) => Err(QueueError),
        }
    }
}

impl State {
    fn wait(&mut self, client: Client) -> Result<oneshot::Receiver<Permit>, QueueError> {
        let waiting = self.waiting.entry(client.clone()).or_default();
        waiting.retain(|request| !request.is_closed());
        if waiting.len() >= MAX_WAITING {
            return Err(QueueError);
        }
        if waiting.is_empty() && !self.turns.contains(&client) {
            self.turns.push_back(client);
        }
        let (sender, receiver) = oneshot::channel();
        waiting.push_back(sender);
        Ok(receiver)
    }

    /// The next waiting request: the first one of the client whose turn it is.
    fn next(&mut self) -> Option<oneshot::Sender<Permit>> {
        while let Some(client) = self.turns.pop_front() {
            let Some(waiting) = self.waiting.get_mut(&client) else {
                continue;
            };
            let next = loop {
                match waiting.pop_front() {
                    Some(request) if request.is_closed() => {}
                    other => break other,
                }
            };
            if waiting.is_empty() {
                self.waiting.remove(&client);
            } else {
                self.turns.push_back(client);
            }
            if next.is_some() {
                return next;
            }
        }
        None
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Some(queue) = self.0.take() else { return };
        let mut state = queue.state.lock();
        let mut permit = Permit(Some(queue.clone()));
        while let Some(request) = state.next() {
            match request.send(permit) {
                Ok(()) => return,
                Err(unused) => permit = unused,
            }
        }
        permit.0 = None;
        state.is_taken = false;
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::clock::SystemClock;

    const FLOOD: Client = Client::Address(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)));
    const CUSTOMER: Client = Client::Address(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)));
    const OTHER: Client = Client::Address(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 3)));

    async fn taken(queue: &Arc<FairQueue>, client: Client) -> QueuePermit {
        queue.take(client, &SystemClock).await.unwrap()
    }

    async fn until_waiting(queue: &Arc<FairQueue>, count: usize) {
        let waiting = || -> usize {
            let state = queue.state.lock();
            state.waiting.values().map(VecDeque::len).sum()
        };
        while waiting() < count {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn clients_are_served_in_turns_however_many_requests_one_sends() {
        let queue = Arc::<FairQueue>::default();
        let first = taken(&queue, FLOOD).await;
        let served = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = tokio::task::JoinSet::new();
        for (client, waiting) in [FLOOD, FLOOD, FLOOD, CUSTOMER, OTHER].into_iter().zip(1..) {
            let (of_task, served) = (queue.clone(), served.clone());
            tasks.spawn(async move {
                let turn = taken(&of_task, client.clone()).await;
                assert!(turn.has_waited);
                served.lock().push(client);
            });
            until_waiting(&queue, waiting).await;
        }
        drop(first);
        while tasks.join_next().await.is_some() {}
        assert_eq!(*served.lock(), [FLOOD, CUSTOMER, OTHER, FLOOD, FLOOD]);
        assert!(!queue.state.lock().is_taken);
    }

    #[tokio::test]
    async fn one_client_has_a_limited_number_of_waiting_requests() {
        let queue = Arc::<FairQueue>::default();
        let _first = taken(&queue, FLOOD).await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..MAX_WAITING {
            let queue = queue.clone();
            tasks.spawn(async move { taken(&queue, FLOOD).await });
        }
        until_waiting(&queue, MAX_WAITING).await;
        assert_eq!(
            queue.take(FLOOD, &SystemClock).await.unwrap_err(),
            QueueError
        );
        let queue_of_customer = queue.clone();
        tasks.spawn(async move { taken(&queue_of_customer, CUSTOMER).await });
        until_waiting(&queue, MAX_WAITING + 1).await;
    }

    #[tokio::test]
    async fn a_request_that_was_given_up_takes_no_turn() {
        let queue = Arc::<FairQueue>::default();
        let first = taken(&queue, FLOOD).await;
        let given_up = {
            let queue = queue.clone();
            tokio::spawn(async move { taken(&queue, OTHER).await })
        };
        until_waiting(&queue, 1).await;
        given_up.abort();
        assert!(given_up.await.is_err());
        drop(first);
        assert!(!queue.state.lock().is_taken);
        assert!(!taken(&queue, CUSTOMER).await.has_waited);
    }
}
