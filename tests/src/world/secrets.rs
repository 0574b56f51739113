//! The secrets of every world, each unique enough to be searched for.

use std::sync::atomic::{AtomicU32, Ordering};

pub const API_KEY: &str = "canary-api-key-5d1f0c77";
pub const API_SECRET: &str = "canary-api-secret-8e2b6a94c1d57f30aa";
pub const CALLBACK_TOKEN: &str = "canary-callback-token-0f4c9d21e7b35a68";
pub const STORE_KEY: &str = "canary-store-key-b7719e0d5c3f4a82";
pub const OTHER_STORE_KEY: &str = "canary-other-store-key-2c6e8f1b9a0d";
/// What the store signs order tokens with, under the kid `k1`.
pub const TOKEN_KEY: &str = "canary-token-key-one-6a1d9f3e70b258c4";
/// The key that replaces it, `k2`.
pub const NEXT_TOKEN_KEY: &str = "canary-token-key-two-d48e2b97f5013ca6";
/// The other store's key, of the same kid as the first store's.
pub const OTHER_TOKEN_KEY: &str = "canary-other-token-key-19c5e7a3b2f8d604";
/// What deliveries are signed with: base64 of `canary-webhook-secret-93d7`.
pub const WEBHOOK: &str = "whsec_Y2FuYXJ5LXdlYmhvb2stc2VjcmV0LTkzZDc=";
pub const WEBHOOK_BYTES: &str = "canary-webhook-secret-93d7";

/// The password of the operator `ada`, who may decide.
pub const OPERATOR_PASSWORD: &str = "correct horse battery";
pub const OPERATOR_HASH: &str =
    "$argon2id$v=19$m=8,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$6+Nntioq2R0P0pJ4LSJAHg";
pub const OPERATOR_TOKEN: &str = "canary-operator-token-5a8e3c17d2b9f406";
/// The password of the operator `rita`, who reads.
pub const READER_PASSWORD: &str = "only a reader here";
pub const READER_HASH: &str =
    "$argon2id$v=19$m=8,t=1,p=1$ZmVkY2JhOTg3NjU0MzIxMA$1KnDSxCzRiSAwNc2wSyxNA";
pub const READER_TOKEN: &str = "canary-reader-token-c60d4b82e7f1a935";

pub(crate) fn new_reference() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("cart-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}
