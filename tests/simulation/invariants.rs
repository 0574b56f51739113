//! What must hold at every moment, and what must have come true at the end: judged by plain SQL and by what the model
//! knows, with nothing of the code that decided it.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::decimal::units;
use crate::invoice::Price;
use crate::stores::STORES;
use crate::timeline::Millis;
use crate::world::World;

const HOUR: Millis = 3_600_000;
/// A payment that completed so long before the end has been noticed by then.
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

impl World {
    /// After every call of the ledger: credits are judged at the moment at which they are given.
    pub(crate) fn after_write(&self, call: &'static str) {
        if call == "record_observation" {
            self.judge_credits();
        }
        if !matches!(call, "due_attempts" | "due_deliveries" | "order_of_token") {
            self.stirred.notify_one();
        }
    }

    fn judge_credits(&self) {
        let last = self.memory().last_credit;
        let latest = "SELECT credits.rowid AS number, credits.order_id, credits.amount, attempts.invoice_id
             FROM credits JOIN attempts ON attempts.id = credits.attempt_id WHERE credits.rowid > ?";
        let credits = self.books.rows_after(latest, last);
        for credit in credits {
            let order = text(&credit, "order_id");
            let invoice = self.service.invoice(&text(&credit, "invoice_id"));
            let mut memory = self.memory();
            memory.last_credit = number(&credit, "number");
            let price = memory.prices.get(&order).copied();
            drop(memory);
            let now = self.timeline.now();
            let is_true = price
                .zip(invoice.as_ref())
                .is_some_and(|(price, invoice)| invoice.was_completed(price, now));
            let amount = units(&text(&credit, "amount"));
            if !is_true || amount != price.map(|price| price.amount) {
                let told = format!("{order} by {invoice:?}");
                self.complain("credit only for money that truly arrived", &told);
            }
        }
    }

    /// Complains of every row that a query finds: it should find none.
    fn none(&self, invariant: &str, sql: &str) {
        for row in self.books.rows(sql) {
            self.complain(invariant, &text(&row, "id"));
        }
    }

    /// What must hold whenever nothing is in the middle of a commit.
    pub(crate) fn audit(&self) {
        let wall = self.wall();
        self.none(
            "every attempt that can still change is looked at again",
            &format!(
                "SELECT id FROM attempts WHERE state = 'open' AND next_poll_at IS NULL AND (
                     (standing <> 'settled' AND expires_at > {wall} - {})
                     OR (standing = 'settled' AND standing_since > {wall} - {}))",
                6 * 24 * HOUR,
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
            "paid, credit and the event of it come together, once",
            "SELECT orders.id AS id FROM orders WHERE
                 (SELECT count(*) FROM credits WHERE order_id = orders.id)
                     <> (orders.status IN ('paid', 'overpaid'))
                 OR (SELECT count(*) FROM events WHERE order_id = orders.id AND type IN ('order.paid', 'donation.paid'))
                     <> (orders.status IN ('paid', 'overpaid'))",
        );
        self.none(
            "a status is told",
            "SELECT orders.id AS id FROM orders WHERE status NOT IN ('open', 'awaiting_payment', 'checking')
                 AND NOT EXISTS (SELECT 1 FROM events WHERE order_id = orders.id AND type IN ('order.' || orders.status, 'donation.' || orders.status))",
        );
        self.none(
            "an order's events are told in order",
            "SELECT mine.position || '' AS id FROM outbox AS mine JOIN outbox AS earlier ON earlier.order_id = mine.order_id
                 AND earlier.position < mine.position AND earlier.state = 'pending'
             WHERE mine.state <> 'pending'",
        );
        self.none(
            "a donation is told as a donation, and nothing else is",
            "SELECT events.id AS id FROM events JOIN orders ON orders.id = events.order_id
             WHERE (events.type LIKE 'donation.%') <> (orders.price_source = 'customer')",
        );
        self.none(
            "an older answer is never recorded after a newer one",
            "SELECT older.attempt_id AS id FROM observations AS older JOIN observations AS newer USING (attempt_id)
             WHERE older.id > newer.id AND older.look <= newer.look",
        );
        self.none(
            "a credit rests on an answer that said COMPLETED",
            "SELECT credits.order_id AS id FROM credits JOIN observations ON observations.id = credits.observation_id
             WHERE observations.attempt_id <> credits.attempt_id OR observations.raw NOT LIKE '%COMPLETED%'",
        );
        self.audit_paid();
        self.audit_invoices();
    }

    fn audit_paid(&self) {
        let rows = self
            .books
            .rows("SELECT id FROM orders WHERE status IN ('paid', 'overpaid')");
        let paid: BTreeSet<String> = rows.iter().map(|row| text(row, "id")).collect();
        let before = std::mem::replace(&mut self.memory().paid, paid.clone());
        for order in before.difference(&paid) {
            self.complain("paid stays paid", order);
        }
    }

    /// Every invoice that we hold is the service's, as the service made it, and fit to be shown.
    fn audit_invoices(&self) {
        let held = "SELECT attempts.id, invoice_id, address, page_url, asked_crypto, asked_usd, orders.amount, orders.currency
                    FROM attempts JOIN orders ON orders.id = attempts.order_id WHERE state = 'open'";
        for row in self.books.rows(held) {
            let id = text(&row, "id");
            let Some(invoice) = self.service.invoice(&text(&row, "invoice_id")) else {
                self.complain("an invoice that we hold is the service's", &id);
                continue;
            };
            if let Some(session) = &invoice.session {
                let same = units(&text(&row, "amount")) == Some(invoice.asked[2])
                    && text(&row, "currency") == invoice.local_currency;
                if invoice.is_tainted || session.page != text(&row, "page_url") || !same {
                    self.complain("a session that we hold is the service's, at our price", &id);
                }
                continue;
            }
            let asked = [
                units(&text(&row, "asked_crypto")),
                units(&text(&row, "asked_usd")),
            ];
            let same = asked == [Some(invoice.asked[0]), Some(invoice.asked[1])];
            if invoice.is_tainted || invoice.address != text(&row, "address") || !same {
                self.complain("an invoice that we hold is the service's", &id);
            }
        }
    }

    /// What must have come true once the storm is over for long enough.
    pub(crate) fn audit_the_end(&self) {
        self.audit();
        self.none(
            "no attempt stays in the making",
            "SELECT id FROM attempts WHERE state = 'creating'",
        );
        self.none(
            "every event is told in the end",
            "SELECT events.id AS id FROM events JOIN outbox USING (position) WHERE outbox.state = 'pending'",
        );
        self.audit_prices();
        self.audit_posts();
        self.audit_sessions();
        self.audit_liveness();
        self.audit_shortfalls();
        self.audit_telling();
        for told in self.service.asked_too_little() {
            self.complain("no less is asked than the price", &told);
        }
    }

    fn audit_prices(&self) {
        let prices = self.memory().prices.clone();
        for row in self.books.rows("SELECT id, amount FROM orders") {
            let id = text(&row, "id");
            let Some(Price { amount, .. }) = prices.get(&id) else {
                continue;
            };
            if units(&text(&row, "amount")) != Some(*amount) {
                self.complain("the price is the one agreed on", &id);
            }
        }
        self.none(
            "an attempt asks for its order's price",
            "SELECT attempts.id AS id FROM attempts JOIN orders ON orders.id = attempts.order_id
             WHERE attempts.flow = 'custom'
                 AND NOT (orders.currency = 'USD' AND attempts.asked_usd = orders.amount)
                 AND NOT (orders.currency = attempts.local_currency AND attempts.asked_local = orders.amount)",
        );
    }

    /// One attempt, one POST /invoice at most.
    fn audit_posts(&self) {
        let mut rows: BTreeMap<(String, i128, i128), u64> = BTreeMap::new();
        let asked =
            "SELECT conversion_id, asked_crypto, asked_usd FROM attempts WHERE flow = 'custom'";
        for row in self.books.rows(asked) {
            let amount = |column| units(&text(&row, column)).unwrap_or(-1);
            let key = (
                text(&row, "conversion_id"),
                amount("asked_crypto"),
                amount("asked_usd"),
            );
            *rows.entry(key).or_default() += 1;
        }
        for (asked, times) in self.service.posts() {
            let attempts = rows.get(&asked).copied().unwrap_or_default();
            if times > attempts {
                let told = format!("{asked:?} was sent {times} times for {attempts} attempts");
                self.complain("one attempt asks for one invoice", &told);
            }
        }
    }

    /// One hosted attempt, one POST /checkout at most.
    fn audit_sessions(&self) {
        let begun = "SELECT orders.customer_email, count(*) AS n FROM attempts JOIN orders ON orders.id = attempts.order_id
                     WHERE attempts.flow = 'hosted' GROUP BY 1";
        let rows = self.books.rows(begun);
        let count = |row: &SqliteRow| u64::try_from(number(row, "n")).unwrap_or_default();
        let rows: BTreeMap<String, u64> = rows
            .iter()
            .map(|row| (text(row, "customer_email"), count(row)))
            .collect();
        for (email, times) in self.service.sessions() {
            let attempts = rows.get(&email).copied().unwrap_or_default();
            if times > attempts {
                let told = format!("{email} was sent {times} times for {attempts} attempts");
                self.complain("one attempt asks for one session", &told);
            }
        }
        self.none(
            "a key opens one order",
            "SELECT min(id) AS id FROM orders WHERE price_source = 'customer' GROUP BY store_id, amount HAVING count(*) > 1",
        );
    }

    /// Money that truly arrived for an invoice that we hold is credited.
    fn audit_liveness(&self) {
        let held = "SELECT attempts.order_id, attempts.invoice_id, EXISTS
                        (SELECT 1 FROM credits WHERE order_id = attempts.order_id) AS is_credited
                    FROM attempts WHERE state = 'open'";
        let prices = self.memory().prices.clone();
        let now = self.timeline.now();
        for row in self.books.rows(held) {
            let order = text(&row, "order_id");
            let Some(invoice) = self.service.invoice(&text(&row, "invoice_id")) else {
                continue;
            };
            let Some(price) = prices.get(&order) else {
                continue;
            };
            let is_owed = !invoice.is_contradicted
                && invoice.is_completed(*price, now)
                && invoice.is_completed(*price, now - NOTICED_WITHIN);
            let is_credited = number(&row, "is_credited") == 1;
            if is_owed && !is_credited {
                let told = format!("{order} by {invoice:?}");
                self.complain("money that arrived is credited", &told);
            }
            if is_credited {
                self.tally.one("truths", "credited orders' attempts");
            }
        }
    }

    /// Nobody is told that money is missing unless it once was. A hosted order's answer says itself what it asks for,
    /// and may lie about that.
    fn audit_shortfalls(&self) {
        let told = "SELECT order_id AS id, group_concat(invoice_id) AS invoices FROM attempts
                    JOIN orders ON orders.id = attempts.order_id
                    WHERE orders.flow = 'custom' AND order_id IN
                        (SELECT order_id FROM events WHERE type IN ('order.underpaid', 'donation.underpaid'))
                    GROUP BY 1";
        let (prices, now) = (self.memory().prices.clone(), self.timeline.now());
        for row in self.books.rows(told) {
            let order = text(&row, "id");
            let was_short = |price: Price| {
                text(&row, "invoices")
                    .split(',')
                    .filter_map(|id| self.service.invoice(id))
                    .any(|invoice| invoice.was_short(price, now))
            };
            if !prices.get(&order).copied().is_some_and(was_short) {
                self.complain("missing money is told only where it is missing", &order);
            }
        }
    }

    /// Every store has heard everything, in its order, and nothing else.
    fn audit_telling(&self) {
        let heard = self.shop.heard();
        let mut last: BTreeMap<String, (usize, String)> = BTreeMap::new();
        let told = "SELECT events.id, events.order_id, events.store_id, events.payload, outbox.state FROM events
                    JOIN outbox USING (position) ORDER BY events.order_id, events.sequence";
        let mut known = BTreeSet::new();
        for row in self.books.rows(told) {
            let (id, order) = (text(&row, "id"), text(&row, "order_id"));
            known.insert(id.clone());
            let store = STORES
                .iter()
                .find(|store| store.id == text(&row, "store_id"));
            let wants = store.is_some_and(|store| store.has_webhook);
            match heard.get(&id) {
                None if wants && text(&row, "state") != "given_up" => {
                    self.complain("every store hears everything", &id);
                }
                None => {}
                Some(_) if !wants => self.complain("nobody hears what is not his", &id),
                Some(first) => {
                    self.tally
                        .add("truths", "repeated deliveries", first.times - 1);
                    if first.payload != text(&row, "payload") {
                        self.complain("an event never changes", &id);
                    }
                    if let Some((place, earlier)) = last.get(&order)
                        && *place > first.place
                    {
                        let told = format!("{id} was heard before {earlier}");
                        self.complain("an order's events are heard in order", &told);
                    }
                    last.insert(order, (first.place, id));
                }
            }
        }
        for id in heard.keys().filter(|id| !known.contains(*id)) {
            self.complain("nobody hears what never happened", id);
        }
    }

    /// Counts what the world came to.
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
            for row in self.books.rows(sql) {
                let count = u64::try_from(number(&row, "n")).unwrap_or_default();
                self.tally.add(theme, text(&row, "kind"), count);
            }
        }
        let invoices = self.service.invoices();
        let paid = invoices
            .iter()
            .filter(|invoice| !invoice.payments.is_empty());
        self.tally
            .add("truths", "invoices that were paid to", paid.count() as u64);
    }
}
