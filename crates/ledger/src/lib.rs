//! Orders, attempts, events and the outbox: a pure state machine and its store.
