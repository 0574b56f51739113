//! Authentication: client tokens, signed order tokens, store keys.

pub(crate) mod client_token;
pub(crate) mod order_token;
pub(crate) mod store_key;
