//! Invariants at every moment and at the end, checked by plain SQL and the model, without the code under test.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::decimal::units;
use crate::invoice::{Invoice, Price};
use crate::stores::STORES;
use crate::timeline::Millis;
use crate::world::World;

const HOUR: Millis = 3_600_000;
/// A payment must be detected within this time, and for an expired invoice a quarter of the time since its end, a day at most.
const NOTICED_WITHIN: Millis = 6 * 60_000;

fn text(row: &SqliteRow, column: &str) -> String {
    row.try_get::<Option<String>, _>(column)
        .unwrap_or_else(|error| panic!("{column}: {error}"))
        .unwrap_or_default()
}

fn number(row: &SqliteRow, column: &str) -> i64 {
    row.try_get(column)
        .unwrap_or_else(|error| panic!("{column}: {error}"))
}

fn noticed_within(invoice: &Invoice, now: Millis) -> Millis {
    let over_for = (now - invoice.expires_at).max(0);
    NOTICED_WITHIN + (over_for / 4).min(24 * HOUR)
}

impl World {
    /// Called after every write: credits are checked at the moment when they are written.
    pub(crate) fn after_write(&self, call: &'static str) {
        if call == "record_observation" {
            self.check_credits();
        }
        if !matches!(call, "due_attempts" | "due_deliveries" | "order_of_token") {
            self.wakeup.notify_one();
        }
    }

    fn check_credits(&self) {
        let last = self.expectations().last_credit;
        let latest = "SELECT credits.rowid AS number, credits.order_id, credits.amount, attempts.invoice_id
             FROM credits JOIN attempts ON attempts.id = credits.attempt_id WHERE credits.rowid > ?";
        let credits = self.queries.rows_after(latest, last);
        for credit in credits {
            let order = text(&credit, "order_id");
            let invoice = self.gateway.invoice(&text(&credit, "invoice_id"));
            let mut expectations = self.expectations();
            expectations.last_credit = number(&credit, "number");
            let price = expectations.prices.get(&order).copied();
            drop(expectations);
            let now = self.timeline.now();
            let is_true = price
                .zip(invoice.as_ref())
                .is_some_and(|(price, invoice)| invoice.was_completed(price, now));
            let amount = units(&text(&credit, "amount"));
            if !is_true || amount != price.map(|price| price.amount) {
                let details = format!("{order} by {invoice:?}");
                self.violated("credit only for money that arrived", &details);
            }
        }
    }

    /// Reports every row of a query as a violation.
    fn none(&self, invariant: &str, sql: &str) {
        for row in self.queries.rows(sql) {
            self.violated(invariant, &text(&row, "id"));
        }
    }

    /// Checks the invariants that hold between commits.
    pub(crate) fn audit(&self) {
        let wall = self.wall();
        self.none(
            "every attempt that can still change is polled again",
            &format!(
                "SELECT id FROM attempts WHERE state = 'open' AND next_poll_at IS NULL AND (
                     (standing <> 'settled' AND expires_at > {wall} - {})
                     OR (standing = 'settled' AND standing_since > {wall} - {}))",
                59 * 24 * HOUR,
                24 * HOUR
            ),
        );
        self.none(
            "an order's events have no gap",
            "SELECT orders.id AS id FROM orders LEFT JOIN events ON events.order_id = orders.id
             GROUP BY orders.id HAVING count(events.id) <> orders.sequence
                 OR max(events.sequence) <> orders.sequence OR min(events.sequence) <> 1",
        );
        self.none(
            "every event is in the outbox",
            "SELECT events.id AS id FROM events LEFT JOIN outbox USING (position) WHERE outbox.position IS NULL",
        );
        self.none(
            "status, credit and event of a payment are written together, once",
            "SELECT orders.id AS id FROM orders WHERE
                 (SELECT count(*) FROM credits WHERE order_id = orders.id)
                     <> (orders.status IN ('paid', 'overpaid'))
                 OR (SELECT count(*) FROM events WHERE order_id = orders.id AND type IN ('order.paid', 'donation.paid'))
                     <> (orders.status IN ('paid', 'overpaid'))",
        );
        self.none(
            "every status has an event",
            "SELECT orders.id AS id FROM orders WHERE status NOT IN ('open', 'awaiting_payment', 'checking')
                 AND NOT EXISTS (SELECT 1 FROM events WHERE order_id = orders.id AND type IN ('order.' || orders.status, 'donation.' || orders.status))",
        );
        self.none(
            "an order's events are delivered in order",
            "SELECT mine.position || '' AS id FROM outbox AS mine JOIN outbox AS earlier ON earlier.order_id = mine.order_id
                 AND earlier.position < mine.position AND earlier.state = 'pending'
             WHERE mine.state <> 'pending'",
        );
        self.none(
            "a donation is reported only as a donation",
            "SELECT events.id AS id FROM events JOIN orders ON orders.id = events.order_id
             WHERE (events.type LIKE 'donation.%') <> (orders.price_source = 'customer')",
        );
        self.none(
            "an older response is never recorded after a newer one",
            "SELECT older.attempt_id AS id FROM observations AS older JOIN observations AS newer USING (attempt_id)
             WHERE older.id > newer.id AND older.look <= newer.look",
        );
        self.none(
            "a credit has an observation with COMPLETED",
            "SELECT credits.order_id AS id FROM credits JOIN observations ON observations.id = credits.observation_id
             WHERE observations.attempt_id <> credits.attempt_id OR observations.raw NOT LIKE '%COMPLETED%'",
        );
        self.audit_paid();
        self.audit_invoices();
    }

    fn audit_paid(&self) {
        let rows = self
            .queries
            .rows("SELECT id FROM orders WHERE status IN ('paid', 'overpaid')");
        let paid: BTreeSet<String> = rows.iter().map(|row| text(row, "id")).collect();
        let before = std::mem::replace(&mut self.expectations().paid, paid.clone());
        for order in before.difference(&paid) {
            self.violated("paid stays paid", order);
        }
    }

    /// Checks that every stored invoice is the gateway's, unchanged and allowed to be shown.
    fn audit_invoices(&self) {
        let held = "SELECT attempts.id, invoice_id, address, page_url, asked_crypto, asked_usd, orders.amount, orders.currency
                    FROM attempts JOIN orders ON orders.id = attempts.order_id WHERE state = 'open'";
        for row in self.queries.rows(held) {
            let id = text(&row, "id");
            let Some(invoice) = self.gateway.invoice(&text(&row, "invoice_id")) else {
                self.violated("a stored invoice is the gateway's", &id);
                continue;
            };
            if let Some(session) = &invoice.session {
                let same = units(&text(&row, "amount")) == Some(invoice.asked[2])
                    && text(&row, "currency") == invoice.local_currency;
                if invoice.is_tainted || session.page != text(&row, "page_url") || !same {
                    self.violated("a stored session is the gateway's, at our price", &id);
                }
                continue;
            }
            let asked = [
                units(&text(&row, "asked_crypto")),
                units(&text(&row, "asked_usd")),
            ];
            let same = asked == [Some(invoice.asked[0]), Some(invoice.asked[1])];
            if invoice.is_tainted || invoice.address != text(&row, "address") || !same {
                self.violated("a stored invoice is the gateway's", &id);
            }
        }
    }

    /// Checks the invariants that hold after the recovery phase.
    pub(crate) fn audit_end(&self) {
        self.audit();
        self.none(
            "no attempt stays in `creating`",
            "SELECT id FROM attempts WHERE state = 'creating'",
        );
        self.none(
            "every event is delivered in the end",
            "SELECT events.id AS id FROM events JOIN outbox USING (position) WHERE outbox.state = 'pending'",
        );
        self.audit_prices();
        self.audit_posts();
        self.audit_sessions();
        self.audit_liveness();
        self.audit_shortfalls();
        self.audit_deliveries();
        for details in self.gateway.low_requests() {
            self.violated("no attempt requests less than the price", &details);
        }
    }

    fn audit_prices(&self) {
        let prices = self.expectations().prices.clone();
        for row in self.queries.rows("SELECT id, amount FROM orders") {
            let id = text(&row, "id");
            let Some(Price { amount, .. }) = prices.get(&id) else {
                continue;
            };
            if units(&text(&row, "amount")) != Some(*amount) {
                self.violated("the price is the one agreed on", &id);
            }
        }
        self.none(
            "an attempt requests its order's price",
            "SELECT attempts.id AS id FROM attempts JOIN orders ON orders.id = attempts.order_id
             WHERE attempts.flow = 'custom'
                 AND NOT (orders.currency = 'USD' AND attempts.asked_usd = orders.amount)
                 AND NOT (orders.currency = attempts.local_currency AND attempts.asked_local = orders.amount)",
        );
    }

    /// Checks that one attempt sends at most one POST /invoice.
    fn audit_posts(&self) {
        let mut rows: BTreeMap<(String, i128, i128), u64> = BTreeMap::new();
        let asked =
            "SELECT conversion_id, asked_crypto, asked_usd FROM attempts WHERE flow = 'custom'";
        for row in self.queries.rows(asked) {
            let amount = |column| units(&text(&row, column)).unwrap_or(-1);
            let key = (
                text(&row, "conversion_id"),
                amount("asked_crypto"),
                amount("asked_usd"),
            );
            *rows.entry(key).or_default() += 1;
        }
        for (asked, times) in self.gateway.posts() {
            let attempts = rows.get(&asked).copied().unwrap_or_default();
            if times > attempts {
                let details = format!("{asked:?} was sent {times} times for {attempts} attempts");
                self.violated("one attempt requests one invoice", &details);
            }
        }
    }

    /// Checks that one hosted attempt sends at most one POST /checkout.
    fn audit_sessions(&self) {
        let begun = "SELECT orders.customer_email, count(*) AS n FROM attempts JOIN orders ON orders.id = attempts.order_id
                     WHERE attempts.flow = 'hosted' GROUP BY 1";
        let rows = self.queries.rows(begun);
        let count = |row: &SqliteRow| u64::try_from(number(row, "n")).unwrap_or_default();
        let rows: BTreeMap<String, u64> = rows
            .iter()
            .map(|row| (text(row, "customer_email"), count(row)))
            .collect();
        for (email, times) in self.gateway.sessions() {
            let attempts = rows.get(&email).copied().unwrap_or_default();
            if times > attempts {
                let details = format!("{email} was sent {times} times for {attempts} attempts");
                self.violated("one attempt requests one session", &details);
            }
        }
        self.none(
            "a key opens one order",
            "SELECT min(id) AS id FROM orders WHERE price_source = 'customer' GROUP BY store_id, amount HAVING count(*) > 1",
        );
    }

    /// Checks that money for a stored invoice is credited.
    fn audit_liveness(&self) {
        let held = "SELECT attempts.order_id, attempts.invoice_id, EXISTS
                        (SELECT 1 FROM credits WHERE order_id = attempts.order_id) AS is_credited
                    FROM attempts WHERE state = 'open'";
        let prices = self.expectations().prices.clone();
        let now = self.timeline.now();
        for row in self.queries.rows(held) {
            let order = text(&row, "order_id");
            let Some(invoice) = self.gateway.invoice(&text(&row, "invoice_id")) else {
                continue;
            };
            let Some(price) = prices.get(&order) else {
                continue;
            };
            let is_owed = !invoice.is_contradicted
                && invoice.is_completed(*price, now)
                && invoice.is_completed(*price, now - noticed_within(&invoice, now));
            let is_credited = number(&row, "is_credited") == 1;
            if is_owed && !is_credited {
                let details = format!("{order} by {invoice:?}");
                self.violated("money that arrived is credited", &details);
            }
            if is_credited {
                self.counters.one("totals", "credited orders' attempts");
            }
        }
    }

    /// Checks that an underpayment is reported only where one existed. A hosted order's response states its own
    /// amount, which may be wrong.
    fn audit_shortfalls(&self) {
        let details = "SELECT order_id AS id, group_concat(invoice_id) AS invoices FROM attempts
                    JOIN orders ON orders.id = attempts.order_id
                    WHERE orders.flow = 'custom' AND order_id IN
                        (SELECT order_id FROM events WHERE type IN ('order.underpaid', 'donation.underpaid'))
                    GROUP BY 1";
        let (prices, now) = (self.expectations().prices.clone(), self.timeline.now());
        for row in self.queries.rows(details) {
            let order = text(&row, "id");
            let was_short = |price: Price| {
                text(&row, "invoices")
                    .split(',')
                    .filter_map(|id| self.gateway.invoice(id))
                    .any(|invoice| invoice.was_short(price, now))
            };
            if !prices.get(&order).copied().is_some_and(was_short) {
                self.violated("an underpayment is reported only where one exists", &order);
            }
        }
    }

    /// Checks that every store has received all its events, in order, and nothing else.
    fn audit_deliveries(&self) {
        let received = self.shop.received();
        let mut last: BTreeMap<String, (usize, String)> = BTreeMap::new();
        let details = "SELECT events.id, events.order_id, events.store_id, events.payload, outbox.state FROM events
                    JOIN outbox USING (position) ORDER BY events.order_id, events.sequence";
        let mut known = BTreeSet::new();
        for row in self.queries.rows(details) {
            let (id, order) = (text(&row, "id"), text(&row, "order_id"));
            known.insert(id.clone());
            let store = STORES
                .iter()
                .find(|store| store.id == text(&row, "store_id"));
            let wants = store.is_some_and(|store| store.has_webhook);
            match received.get(&id) {
                None if wants && text(&row, "state") != "given_up" => {
                    self.violated("every store receives everything", &id);
                }
                None => {}
                Some(_) if !wants => self.violated("no store receives events of another", &id),
                Some(first) => {
                    self.counters
                        .add("totals", "repeated deliveries", first.times - 1);
                    if first.payload != text(&row, "payload") {
                        self.violated("an event never changes", &id);
                    }
                    if let Some((place, earlier)) = last.get(&order)
                        && *place > first.place
                    {
                        let details = format!("{id} was heard before {earlier}");
                        self.violated("an order's events are received in order", &details);
                    }
                    last.insert(order, (first.place, id));
                }
            }
        }
        for id in received.keys().filter(|id| !known.contains(*id)) {
            self.violated("no store receives an unknown event", id);
        }
    }

    /// Counts the results of the world.
    pub(crate) fn count(&self) {
        let counts = [
            ("orders", "SELECT status AS kind, count(*) AS n FROM orders GROUP BY 1"),
            ("attempts", "SELECT state AS kind, count(*) AS n FROM attempts GROUP BY 1"),
            (
                "verdicts",
                "SELECT CASE WHEN instr(verdict, ':') THEN substr(verdict, 1, instr(verdict, ':') - 1)
                     ELSE verdict END AS kind, count(*) AS n FROM observations GROUP BY 1",
            ),
            ("events", "SELECT type AS kind, count(*) AS n FROM events GROUP BY 1"),
            ("outbox", "SELECT state AS kind, count(*) AS n FROM outbox GROUP BY 1"),
        ];
        for (theme, sql) in counts {
            for row in self.queries.rows(sql) {
                let count = u64::try_from(number(&row, "n")).unwrap_or_default();
                self.counters.add(theme, text(&row, "kind"), count);
            }
        }
        let invoices = self.gateway.invoices();
        let paid = invoices
            .iter()
            .filter(|invoice| !invoice.payments.is_empty());
        self.counters
            .add("totals", "invoices with payments", paid.count() as u64);
    }
}
