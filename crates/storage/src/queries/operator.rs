//! Queries and decisions of people.

use async_trait::async_trait;
use florin_orders::{
    Aggregate, AuditId, Event, EventId, EventType, NewRefund, OrderId, OrderStatus, Refund,
    RefundError, Snapshot, StoreId,
};
use jiff::Timestamp;

use super::dialect::{Connection, Store};
use super::{deliveries, observe, orders, outbox};
use crate::operator::search_terms;
use crate::rows::{self, Record as _, Time};
use crate::{
    Actor, AuditEntry, Credited, DecideError, GivenUpEvent, NewAuditEntry, NewDecision,
    OperatorStorage, OrderHistory, OrderSearch, Outbox, Result, Settlement, SettlementKind,
    StorageError, StoreScope,
};

#[async_trait]
impl OperatorStorage for Store {
    async fn decide(
        &self,
        order: &OrderId,
        decision: &NewDecision,
        now: Timestamp,
    ) -> Result<Snapshot, DecideError> {
        transaction!(self, Repeat, [order, decision], |tx| decide(
            tx, &order, &decision, now
        ))
    }

    async fn refund(
        &self,
        order: &OrderId,
        refund: &NewRefund,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<Snapshot, DecideError> {
        transaction!(self, Repeat, [order, refund, actor], |tx| async {
            let known = orders::locked(tx, &order).await?;
            let known = known.filter(|known| actor.scope.contains(&known.order.terms.store_id));
            let Some(mut known) = known else {
                return Err(DecideError::NoOrder(order.clone()));
            };
            // An earlier run of this transaction, whose commit had no response, or a repeated request.
            if let Some(recorded) = known.order.refunds.iter().find(|it| it.id == refund.id) {
                let (sent, asset) = (recorded.amount_in_crypto, &recorded.crypto_code);
                let named = refund.crypto_code.as_ref().unwrap_or(asset);
                let is_same = (sent, asset) == (refund.amount_in_crypto, named);
                let repeated = is_same.then(|| known.snapshot());
                return Ok(repeated.ok_or(RefundError::Recorded)?);
            }
            let found = known.order.version;
            if let Some(seen) = refund.version.filter(|seen| *seen != found) {
                return Err(DecideError::Changed { seen, found });
            }
            let refund = known.refund(&refund, now)?;
            insert_refund(tx, &order, &actor, &refund).await?;
            known.order.refunds.push(refund);
            Ok(orders::save_change(tx, known, &[EventType::Refunded], now).await?)
        })
    }

    async fn find_orders(&self, search: &OrderSearch) -> Result<Vec<Aggregate>> {
        read!(self, |reader| async {
            if let Some(text) = &search.text {
                return find_text(reader, text, search).await;
            }
            let (store, after) = (search.scope.store(), search.after.as_ref());
            let page = orders::page(reader, store, search.status, after, search.limit).await?;
            let ids = page.iter().map(|row| row.string("id"));
            load(reader, &ids.collect::<Result<Vec<_>>>()?).await
        })
    }

    async fn orders_for_attention(&self, scope: &StoreScope, limit: u32) -> Result<Vec<Aggregate>> {
        read!(self, |reader| async {
            let waiting = match scope {
                StoreScope::All => {
                    "SELECT id FROM orders WHERE attention_since IS NOT NULL ORDER BY attention_since, id LIMIT $2"
                }
                StoreScope::Store(_) => {
                    "SELECT id FROM orders WHERE store_id = $1 AND attention_since IS NOT NULL
                     ORDER BY attention_since, id LIMIT $2"
                }
            };
            let ids: Vec<String> = sqlx::query_scalar(waiting)
                .bind(scope.store().map(StoreId::as_str))
                .bind(i64::from(limit))
                .fetch_all(&mut *reader)
                .await?;
            load(reader, &ids).await
        })
    }

    async fn order_history(
        &self,
        scope: &StoreScope,
        id: &OrderId,
    ) -> Result<Option<OrderHistory>> {
        read!(self, |reader| async {
            let known = orders::aggregate(reader, id).await?;
            let known = known.filter(|known| scope.contains(&known.order.terms.store_id));
            let Some(aggregate) = known else {
                return Ok(None);
            };
            let mut observations = Vec::new();
            for attempt in &aggregate.attempts {
                let found = "SELECT * FROM observations WHERE attempt_id = $1 ORDER BY poll_seq DESC LIMIT $2";
                let found = sqlx::query(found)
                    .bind(attempt.terms.id.as_str())
                    .bind(i64::from(OrderHistory::MOST))
                    .fetch_all(&mut *reader)
                    .await?;
                for row in &found {
                    observations.push(rows::observation(row)?);
                }
            }
            let found = sqlx::query(
                "SELECT events.*, outbox.webhook, outbox.state, outbox.next_at
                 FROM events JOIN outbox USING (order_id, sequence) WHERE order_id = $1 AND sequence > $2
                 ORDER BY sequence DESC, webhook DESC",
            )
            .bind(id.as_str())
            .bind(i64::from(aggregate.order.sequence) - i64::from(OrderHistory::MOST))
            .fetch_all(&mut *reader)
            .await?;
            let mut events = Vec::with_capacity(found.len());
            for row in &found {
                let (event, webhook) = (rows::event(row)?, row.string("webhook")?);
                let most = OrderHistory::MOST;
                let tried = deliveries::of_event(reader, &event.id, Some(&webhook), i64::MAX, most);
                let tried = tried.await?;
                events.push(rows::recorded_event(row, event, tried)?);
            }
            let audit = "SELECT * FROM audit WHERE order_id = $1 ORDER BY position DESC LIMIT $2";
            let audit = sqlx::query(audit)
                .bind(id.as_str())
                .bind(i64::from(OrderHistory::MOST))
                .fetch_all(reader)
                .await?;
            Ok(Some(OrderHistory {
                aggregate,
                observations,
                events,
                audit: audit
                    .iter()
                    .map(rows::audit_entry)
                    .collect::<Result<_, _>>()?,
            }))
        })
    }

    async fn given_up_events(&self, scope: &StoreScope, limit: u32) -> Result<Vec<GivenUpEvent>> {
        read!(self, |reader| async {
            let given_up = match scope {
                StoreScope::All => {
                    "SELECT events.*, outbox.webhook FROM outbox JOIN events USING (order_id, sequence)
                     WHERE outbox.state = 'given_up' ORDER BY outbox.position DESC LIMIT $2"
                }
                StoreScope::Store(_) => {
                    "SELECT events.*, outbox.webhook FROM outbox JOIN events USING (order_id, sequence)
                     WHERE outbox.store_id = $1 AND outbox.state = 'given_up' ORDER BY outbox.position DESC LIMIT $2"
                }
            };
            let found = sqlx::query(given_up)
                .bind(scope.store().map(StoreId::as_str))
                .bind(i64::from(limit))
                .fetch_all(&mut *reader)
                .await?;
            let mut events = Vec::with_capacity(found.len());
            for row in &found {
                let (event, webhook) = (rows::event(row)?, row.string("webhook")?);
                let latest = deliveries::of_event(reader, &event.id, Some(&webhook), i64::MAX, 1);
                let latest = latest.await?.pop();
                events.push(GivenUpEvent { event, latest });
            }
            Ok(events)
        })
    }

    async fn event(&self, scope: &StoreScope, id: &EventId) -> Result<Option<Event>> {
        read!(self, |reader| async {
            let event = "SELECT * FROM events WHERE id = $1 AND (CAST($2 AS text) IS NULL OR store_id = $2)";
            let found = sqlx::query(event)
                .bind(id.as_str())
                .bind(scope.store().map(StoreId::as_str))
                .fetch_optional(reader)
                .await?;
            found.as_ref().map(rows::event).transpose()
        })
    }

    async fn record_audit(&self, entry: &NewAuditEntry) -> Result<()> {
        transaction!(self, Repeat, [entry], |tx| async {
            sqlx::query(
                "INSERT INTO audit (id, at, operator, staff_of, action, order_id, subject, reason)
                 VALUES ($1, $2, $3, $4, $5, (SELECT order_id FROM events WHERE id = $6), $6, $7) ON CONFLICT (id) DO NOTHING",
            )
            .bind(entry.id.as_str())
            .bind(Time(entry.at))
            .bind(&entry.actor.name)
            .bind(entry.actor.scope.store().map(StoreId::as_str))
            .bind(<&str>::from(entry.action))
            .bind(&entry.subject)
            .bind(&entry.reason)
            .execute(&mut **tx)
            .await?;
            Ok(())
        })
    }

    async fn audit_log(&self, after: Option<i64>, limit: u32) -> Result<Vec<AuditEntry>> {
        read!(self, |reader| async {
            let found = sqlx::query(
                "SELECT * FROM audit WHERE position < $1 ORDER BY position DESC LIMIT $2",
            )
            .bind(after.unwrap_or(i64::MAX))
            .bind(i64::from(limit))
            .fetch_all(reader)
            .await?;
            found.iter().map(rows::audit_entry).collect()
        })
    }

    async fn credited(&self, scope: &StoreScope, from: Timestamp) -> Result<Vec<Credited>> {
        let credited = match scope {
            StoreScope::All => "SELECT currency, amount FROM credits WHERE credited_at >= $1",
            StoreScope::Store(_) => {
                "SELECT credits.currency, credits.amount FROM orders JOIN credits ON credits.order_id = orders.id
                 WHERE store_id = $2 AND settled_at IS NOT NULL AND settled_at >= $1"
            }
        };
        read!(self, |reader| async {
            let found = sqlx::query(credited)
                .bind(Time(from))
                .bind(scope.store().map(StoreId::as_str))
                .fetch_all(reader)
                .await?;
            let mut sums: Vec<Credited> = Vec::new();
            for row in &found {
                let (currency, amount) = rows::credited(row)?;
                let Some((_, sum, count)) = sums.iter_mut().find(|(known, ..)| *known == currency)
                else {
                    sums.push((currency, amount, 1));
                    continue;
                };
                *sum = rows::read("a sum of credits", sum.checked_add(amount))?;
                *count += 1;
            }
            sums.sort_by_key(|(currency, ..)| *currency);
            Ok(sums)
        })
    }

    async fn settlements(
        &self,
        scope: &StoreScope,
        from: Timestamp,
        until: Timestamp,
        after: Option<(Timestamp, &str)>,
        limit: u32,
    ) -> Result<Vec<Settlement>> {
        let (start, behind) = after.unwrap_or((from, ""));
        // Of one store, by its orders.
        let credited = match scope {
            StoreScope::All => {
                "SELECT credits.order_id AS id, credited_at AS at, credits.order_id, store_id, reference, title, metadata,
                     credits.amount, orders.currency, coalesce(crypto_code, paid_in) AS asset,
                     received_crypto AS amount_in_crypto, transaction_hash, decision
                 FROM credits JOIN orders ON orders.id = credits.order_id JOIN attempts ON attempts.id = credits.attempt_id
                 WHERE (credited_at, credits.order_id) > ($1, $2) AND credited_at < $3
                 ORDER BY credited_at, credits.order_id LIMIT $4"
            }
            StoreScope::Store(_) => {
                "SELECT orders.id AS id, settled_at AS at, credits.order_id, store_id, reference, title, metadata,
                     credits.amount, orders.currency, coalesce(crypto_code, paid_in) AS asset,
                     received_crypto AS amount_in_crypto, transaction_hash, decision
                 FROM orders JOIN credits ON credits.order_id = orders.id JOIN attempts ON attempts.id = credits.attempt_id
                 WHERE store_id = $5 AND settled_at IS NOT NULL AND (settled_at, orders.id) > ($1, $2) AND settled_at < $3
                 ORDER BY settled_at, orders.id LIMIT $4"
            }
        };
        let uncredited = "SELECT attempts.id AS id, state_since AS at, order_id, store_id, reference, title, metadata,
                 '0' AS amount, currency, coalesce(crypto_code, paid_in) AS asset, received_crypto AS amount_in_crypto,
                 transaction_hash, decision
             FROM attempts JOIN orders ON orders.id = order_id
             WHERE (payment_state IN ('underpaid', 'cancelled') OR late_amount_notified IS NOT NULL)
                 AND (state_since, attempts.id) > ($1, $2) AND state_since < $3 AND CAST(received_crypto AS numeric) > 0
                 AND (status IN ('paid', 'overpaid') OR decision = 'closed')
                 AND (CAST($5 AS text) IS NULL OR store_id = $5) AND NOT EXISTS (SELECT 1 FROM credits
                     WHERE credits.order_id = attempts.order_id AND credits.attempt_id = attempts.id)
             ORDER BY state_since, attempts.id LIMIT $4";
        let refunded = "SELECT refunds.id AS id, refunds.refunded_at AS at, order_id, store_id, reference, title, metadata,
                 refunds.amount, currency, crypto_code AS asset, amount_in_crypto, transaction_hash, decision
             FROM refunds JOIN orders ON orders.id = order_id
             WHERE (refunds.refunded_at, refunds.id) > ($1, $2) AND refunds.refunded_at < $3
                 AND (CAST($5 AS text) IS NULL OR store_id = $5)
             ORDER BY refunds.refunded_at, refunds.id LIMIT $4";
        read!(self, |reader| async {
            let mut page = Vec::new();
            for (kind, statement) in [
                (SettlementKind::Payment, credited),
                (SettlementKind::Uncredited, uncredited),
                (SettlementKind::Refund, refunded),
            ] {
                let found = sqlx::query(statement)
                    .bind(Time(start))
                    .bind(behind)
                    .bind(Time(until))
                    .bind(i64::from(limit))
                    .bind(scope.store().map(StoreId::as_str))
                    .fetch_all(&mut *reader)
                    .await?;
                for row in &found {
                    page.push(rows::settlement(row, kind)?);
                }
            }
            page.sort_by(|one: &Settlement, other| (one.at, &one.id).cmp(&(other.at, &other.id)));
            page.truncate(limit as usize);
            Ok(page)
        })
    }
}

/// Locks the order: no poll and no other decision comes between reading and writing.
async fn decide(
    tx: &mut Connection,
    id: &OrderId,
    decision: &NewDecision,
    now: Timestamp,
) -> Result<Snapshot, DecideError> {
    let unknown = || DecideError::NoOrder(id.clone());
    let scope = &decision.actor.scope;
    let known = orders::locked(tx, id).await?;
    let known = known.filter(|known| scope.contains(&known.order.terms.store_id));
    let before = known.ok_or_else(unknown)?;
    // An earlier run of this transaction, whose commit had no response, or a repeated request.
    if is_recorded(tx, &decision.id).await? {
        return Ok(before.snapshot());
    }
    if before.order.version != decision.version {
        return Err(DecideError::Changed {
            seen: decision.version,
            found: before.order.version,
        });
    }
    let mut after = before.clone();
    let applied = after.decide(decision.kind, now)?;
    let statuses = (before.order.status, after.order.status);
    insert_decision(tx, id, decision, statuses, now).await?;
    if let Some(attempt) = &applied.credited_by {
        let unobserved = || StorageError::Corrupt(format!("no observation of {attempt}"));
        let latest = observe::latest(tx, attempt).await?.ok_or_else(unobserved)?;
        observe::credit(tx, &after.order, attempt, latest.id, now).await?;
    }
    orders::save(tx, &after).await?;
    let snapshot = after.snapshot();
    let first = before.order.sequence + 1;
    outbox::append(tx, &snapshot, first, &applied.events, now).await?;
    Ok(snapshot)
}

async fn insert_refund(
    tx: &mut Connection,
    order: &OrderId,
    actor: &Actor,
    refund: &Refund,
) -> Result<()> {
    let (sent, asset) = (refund.amount_in_crypto.to_string(), &refund.crypto_code);
    for statement in [
        "INSERT INTO audit (id, order_id, at, operator, staff_of, action, subject, reason)
         VALUES ($1, $2, $3, $4, $5, 'refund', $6 || ' ' || $7, '')",
        "INSERT INTO refunds (id, order_id, refunded_at, amount_in_crypto, crypto_code, amount, transaction_hash)
         VALUES ($1, $2, $3, $6, $7, $8, $9)",
    ] {
        sqlx::query(statement)
            .bind(refund.id.as_str())
            .bind(order.as_str())
            .bind(Time(refund.at))
            .bind(&actor.name)
            .bind(actor.scope.store().map(StoreId::as_str))
            .bind(&sent)
            .bind(asset.as_str())
            .bind(refund.amount.to_string())
            .bind(refund.transaction_hash.as_deref())
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}

async fn is_recorded(tx: &mut Connection, id: &AuditId) -> Result<bool> {
    let recorded = "SELECT EXISTS (SELECT 1 FROM audit WHERE id = $1)";
    let recorded = sqlx::query_scalar(recorded).bind(id.as_str());
    Ok(recorded.fetch_one(tx).await?)
}

async fn insert_decision(
    tx: &mut Connection,
    order: &OrderId,
    decision: &NewDecision,
    (before, after): (OrderStatus, OrderStatus),
    now: Timestamp,
) -> Result<()> {
    sqlx::query(
        "INSERT INTO audit (id, at, operator, staff_of, action, order_id, reason, status_before, status_after)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(decision.id.as_str())
    .bind(Time(now))
    .bind(&decision.actor.name)
    .bind(decision.actor.scope.store().map(StoreId::as_str))
    .bind(<&str>::from(decision.kind))
    .bind(order.as_str())
    .bind(&decision.reason)
    .bind(<&str>::from(before))
    .bind(<&str>::from(after))
    .execute(tx)
    .await?;
    Ok(())
}

/// One statement for each member that may be meant, each by its index. $3 is the only store, or null.
async fn find_text(
    connection: &mut Connection,
    text: &str,
    search: &OrderSearch,
) -> Result<Vec<Aggregate>> {
    const MEMBERS: [&str; 9] = [
        "SELECT id FROM orders WHERE id = $1 AND (CAST($3 AS text) IS NULL OR store_id = $3) LIMIT $2",
        "SELECT id FROM orders WHERE reference = $1 AND (CAST($3 AS text) IS NULL OR store_id = $3) LIMIT $2",
        "SELECT id FROM orders WHERE customer_email IS NOT NULL AND lower(customer_email) = lower($1) AND (CAST($3 AS text) IS NULL OR store_id = $3) LIMIT $2",
        "SELECT id FROM orders WHERE receipt_email IS NOT NULL AND lower(receipt_email) = lower($1) AND (CAST($3 AS text) IS NULL OR store_id = $3) LIMIT $2",
        "SELECT id FROM orders WHERE amount = $1 AND (CAST($3 AS text) IS NULL OR store_id = $3) LIMIT $2",
        "SELECT orders.id FROM attempts JOIN orders ON orders.id = order_id
         WHERE attempts.id = $1 AND (CAST($3 AS text) IS NULL OR store_id = $3) LIMIT $2",
        "SELECT orders.id FROM attempts JOIN orders ON orders.id = order_id
         WHERE invoice_id = $1 AND (CAST($3 AS text) IS NULL OR store_id = $3) LIMIT $2",
        "SELECT orders.id FROM attempts JOIN orders ON orders.id = order_id
         WHERE address IS NOT NULL AND lower(address) = lower($1) AND (CAST($3 AS text) IS NULL OR store_id = $3) LIMIT $2",
        "SELECT orders.id FROM attempts JOIN orders ON orders.id = order_id
         WHERE transaction_hash IS NOT NULL AND lower(transaction_hash) = lower($1) AND (CAST($3 AS text) IS NULL OR store_id = $3) LIMIT $2",
    ];
    let mut ids: Vec<String> = Vec::new();
    for term in search_terms(text) {
        for statement in MEMBERS {
            let found = sqlx::query_scalar(statement)
                .bind(&term)
                .bind(i64::from(search.limit))
                .bind(search.scope.store().map(StoreId::as_str));
            ids.extend(found.fetch_all(&mut *connection).await?);
        }
    }
    ids.sort();
    ids.dedup();
    let found = load(connection, &ids).await?;
    Ok(search.matching(found))
}

async fn load(connection: &mut Connection, ids: &[String]) -> Result<Vec<Aggregate>> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let id = rows::read("an order id", OrderId::parse(id))?;
        found.extend(orders::aggregate(connection, &id).await?);
    }
    Ok(found)
}

pub(super) async fn needing_review(connection: &mut Connection) -> Result<u64> {
    let count = "SELECT count(*) FROM attempts WHERE needs_review
             AND EXISTS (SELECT 1 FROM polls WHERE attempt_id = attempts.id AND next_poll_at IS NOT NULL)
             AND EXISTS (SELECT 1 FROM orders WHERE orders.id = order_id AND attention_since IS NOT NULL)";
    let count: i64 = sqlx::query_scalar(count).fetch_one(connection).await?;
    rows::read("a count", u64::try_from(count))
}

/// One row for each webhook. The index has the waiting events alone: they are counted one by one.
pub(super) async fn outboxes(connection: &mut Connection) -> Result<Vec<Outbox>> {
    let found = sqlx::query(
        "SELECT store_id, webhook,
             (SELECT count(*) FROM outbox WHERE state = 'pending' AND outbox.store_id = hooks.store_id
                  AND outbox.webhook = hooks.webhook) AS waiting,
             (SELECT events.created_at FROM outbox JOIN events USING (order_id, sequence)
              WHERE state = 'pending' AND outbox.store_id = hooks.store_id AND outbox.webhook = hooks.webhook
              ORDER BY outbox.position LIMIT 1) AS oldest_at,
             EXISTS (SELECT 1 FROM disabled_endpoints AS disabled
                 WHERE disabled.store_id = hooks.store_id AND disabled.webhook = hooks.webhook) AS is_disabled
         FROM (SELECT store_id, webhook FROM webhooks
               UNION SELECT store_id, webhook FROM disabled_endpoints
               UNION SELECT store_id, webhook FROM outbox WHERE state = 'pending') AS hooks",
    )
    .fetch_all(connection)
    .await?;
    found.iter().map(rows::outbox).collect()
}
