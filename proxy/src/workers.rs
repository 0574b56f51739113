//! Background workers.

pub(crate) mod cleanup;
pub(crate) mod currency_check;
pub(crate) mod payment_poller;
pub(crate) mod webhook_dispatcher;

pub(crate) use cleanup::{keep, tidy};
pub(crate) use currency_check::compare_currencies;
pub(crate) use payment_poller::{look, watch};
pub(crate) use webhook_dispatcher::{tell, tell_all};
