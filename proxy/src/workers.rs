//! Background workers.

pub(crate) mod change_exchange;
pub(crate) mod cleanup;
pub(crate) mod currency_check;
pub(crate) mod payment_poller;
pub(crate) mod replanning;
pub(crate) mod storage_monitor;
pub(crate) mod webhook_dispatcher;
