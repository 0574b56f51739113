//! What holds for PostgreSQL alone. The contract of every store is in `crate::contract`.

pub(crate) mod server;
