//! The tables of both databases, column by column.

use self::Kind::{Bytes, Number, Text, Time, Truth};

/// How a column is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    /// 0 or 1 in SQLite.
    Truth,
    /// Unix milliseconds in SQLite.
    Time,
    Bytes,
}

/// A table of the target and where its rows come from.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// Column of the target, expression of the source, kind.
    pub(super) fields: &'static [(&'static str, &'static str, Kind)],
    source: &'static str,
    source_key: &'static str,
    pub(super) target_key: &'static str,
}

impl Table {
    pub(super) fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|(column, _, _)| *column)
    }

    /// The first table of the source.
    #[cfg(test)]
    pub(super) fn source_table(&self) -> &'static str {
        self.source.split(' ').next().unwrap_or(self.source)
    }

    /// The source's rows, every value as text.
    pub(super) fn select(&self) -> String {
        let values = self.fields.iter().map(|(_, value, kind)| match kind {
            Bytes => format!("CASE WHEN {value} IS NOT NULL THEN hex({value}) END"),
            Text | Number | Truth | Time => format!("CAST({value} AS TEXT)"),
        });
        let values = values.collect::<Vec<_>>().join(", ");
        format!(
            "SELECT {values} FROM {} ORDER BY {}",
            self.source, self.source_key
        )
    }
}

pub(super) const TABLES: [Table; 12] = [
    Table {
        name: "orders",
        fields: &[
            ("id", "id", Text),
            ("store_id", "store_id", Text),
            ("reference", "reference", Text),
            ("amount", "amount", Text),
            ("currency", "currency", Text),
            ("price_source", "price_source", Text),
            ("title", "title", Text),
            ("lines", "lines", Text),
            ("customer_email", "customer_email", Text),
            ("receipt_email", "receipt_email", Text),
            ("return_url", "return_url", Text),
            ("cancel_url", "cancel_url", Text),
            ("metadata", "metadata", Text),
            ("assets", "assets", Text),
            ("flow", "flow", Text),
            ("tolerance", "tolerance", Text),
            ("expires_at", "expires_at", Time),
            ("created_at", "created_at", Time),
            ("status", "status", Text),
            ("current_attempt", "current_attempt", Text),
            ("sequence", "sequence", Number),
            ("version", "version", Number),
            ("settled_at", "settled_at", Time),
            ("reverted_at", "reverted_at", Time),
            ("reverted_to", "reverted_to", Text),
            ("cancelled_at", "cancelled_at", Time),
            ("has_money", "has_money", Truth),
            ("late_payment", "late_payment", Text),
            ("late_event_at", "late_event_at", Time),
            ("decision", "decision", Text),
            ("decided_at", "decided_at", Time),
            ("attention_since", "attention_since", Time),
            ("traceparent", "traceparent", Text),
        ],
        source: "orders",
        source_key: "id",
        target_key: "id COLLATE \"C\"",
    },
    Table {
        name: "client_tokens",
        fields: &[
            ("hash", "hash", Bytes),
            ("order_id", "order_id", Text),
            ("expires_at", "expires_at", Time),
        ],
        source: "client_tokens",
        source_key: "hash",
        target_key: "hash",
    },
    Table {
        name: "requests",
        fields: &[
            ("id", "id", Bytes),
            ("fingerprint", "fingerprint", Bytes),
            ("kept_until", "kept_until", Time),
            ("leased_until", "kept_until", Time),
            ("status", "status", Number),
            ("body", "body", Text),
        ],
        source: "requests",
        source_key: "id",
        target_key: "id",
    },
    Table {
        name: "attempts",
        fields: &[
            ("id", "id", Text),
            ("order_id", "order_id", Text),
            ("flow", "flow", Text),
            ("crypto_code", "crypto_code", Text),
            ("conversion_id", "conversion_id", Text),
            ("requested_crypto", "asked_crypto", Text),
            ("requested_usd", "asked_usd", Text),
            ("requested_local", "asked_local", Text),
            ("local_currency", "local_currency", Text),
            ("begun_at", "begun_at", Time),
            ("begun_clock", "begun_at", Time),
            ("state", "state", Text),
            ("invoice_id", "invoice_id", Text),
            ("address", "address", Text),
            ("qr_string", "qr_string", Text),
            ("warnings", "warnings", Text),
            ("page_url", "page_url", Text),
            ("opened_at", "opened_at", Time),
            ("expires_at", "expires_at", Time),
            ("marked_as_paid_at", "marked_as_paid_at", Time),
            ("transaction_hint", "transaction_hint", Text),
            ("payment_state", "standing", Text),
            ("state_since", "standing_since", Time),
            ("received_crypto", "received_crypto", Text),
            ("received_usd", "received_usd", Text),
            ("received_local", "received_local", Text),
            ("confirmations", "confirmations", Number),
            ("confirmations_required", "confirmations_required", Number),
            ("transaction_hash", "transaction_hash", Text),
            ("paid_in", "paid_in", Text),
            ("was_seen", "was_seen", Truth),
            ("needs_review", "needs_review", Truth),
            ("late_amount_notified", "late_amount_notified", Text),
            ("observed_at", "observed_at", Time),
        ],
        source: "attempts",
        source_key: "id",
        target_key: "id COLLATE \"C\"",
    },
    Table {
        name: "polls",
        fields: &[
            ("attempt_id", "id", Text),
            ("order_id", "order_id", Text),
            ("invoice_id", "invoice_id", Text),
            ("payment_state", "standing", Text),
            ("priority", "urgency", Text),
            ("opened_at", "opened_at", Time),
            ("next_poll_at", "next_poll_at", Time),
            ("polled_at", "looked_at", Time),
            ("poll_seq", "look", Number),
            ("recorded_seq", "recorded_look", Number),
        ],
        source: "attempts WHERE state = 'open'",
        source_key: "id",
        target_key: "attempt_id COLLATE \"C\"",
    },
    Table {
        name: "observations",
        fields: &[
            ("id", "id", Number),
            ("attempt_id", "attempt_id", Text),
            ("poll_seq", "look", Number),
            ("last_poll_seq", "last_look", Number),
            ("observed_at", "observed_at", Time),
            ("last_at", "last_at", Time),
            ("times", "times", Number),
            ("raw", "raw", Text),
            ("assessment", "verdict", Text),
            ("facts", "facts", Bytes),
        ],
        source: "observations",
        source_key: "id",
        target_key: "id",
    },
    Table {
        name: "credits",
        fields: &[
            ("order_id", "order_id", Text),
            ("attempt_id", "attempt_id", Text),
            ("observation_id", "observation_id", Number),
            ("amount", "amount", Text),
            ("currency", "currency", Text),
            ("credited_at", "credited_at", Time),
        ],
        source: "credits",
        source_key: "order_id",
        target_key: "order_id COLLATE \"C\"",
    },
    Table {
        name: "events",
        fields: &[
            ("order_id", "order_id", Text),
            ("sequence", "sequence", Number),
            ("id", "id", Text),
            ("store_id", "store_id", Text),
            ("type", "type", Text),
            ("created_at", "created_at", Time),
            ("payload", "payload", Text),
            ("position", "position", Number),
        ],
        source: "events",
        source_key: "position",
        target_key: "position",
    },
    Table {
        name: "outbox",
        fields: &[
            ("order_id", "outbox.order_id", Text),
            ("sequence", "events.sequence", Number),
            ("position", "outbox.position", Number),
            ("store_id", "outbox.store_id", Text),
            ("state", "outbox.state", Text),
            ("tries", "outbox.tries", Number),
            ("next_at", "outbox.next_at", Time),
            ("planned_at", "outbox.planned_at", Time),
            ("retry_at", "outbox.retry_at", Time),
            ("early_from", "outbox.early_from", Time),
            ("wakes", "outbox.wakes", Number),
            ("priority", "outbox.priority", Number),
            ("was_taken", "outbox.was_taken", Truth),
            ("is_head", "outbox.is_head", Truth),
        ],
        source: "outbox JOIN events ON events.position = outbox.position",
        source_key: "outbox.position",
        target_key: "position",
    },
    Table {
        name: "deliveries",
        fields: &[
            ("id", "id", Number),
            ("event_id", "event_id", Text),
            ("store_id", "store_id", Text),
            ("number", "number", Number),
            ("tried_at", "tried_at", Time),
            ("took_ms", "took_ms", Number),
            ("http_status", "http_status", Number),
            ("note", "note", Text),
        ],
        source: "deliveries",
        source_key: "id",
        target_key: "id",
    },
    Table {
        name: "gone_endpoints",
        fields: &[
            ("store_id", "store_id", Text),
            ("endpoint", "endpoint", Bytes),
            ("event_id", "event_id", Text),
            ("since", "since", Time),
        ],
        source: "gone_endpoints",
        source_key: "store_id",
        target_key: "store_id COLLATE \"C\"",
    },
    Table {
        name: "audit",
        fields: &[
            ("position", "position", Number),
            ("id", "id", Text),
            ("at", "at", Time),
            ("operator", "operator", Text),
            ("staff_of", "staff_of", Text),
            ("action", "action", Text),
            ("order_id", "order_id", Text),
            ("subject", "subject", Text),
            ("reason", "reason", Text),
            ("status_before", "status_before", Text),
            ("status_after", "status_after", Text),
        ],
        source: "audit",
        source_key: "position",
        target_key: "position",
    },
];
