//! Names to addresses, of which only those of the public internet are reached.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::special_purpose::is_public;

/// Who is asked for a name's addresses.
pub(super) type Lookup =
    Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// Resolves names and keeps public addresses only. It is asked at the moment of connecting and its answer is what is
/// connected to: a name that first resolves to a public address and then to a private one gets nowhere.
pub(super) struct PublicOnly(pub(super) Lookup);

/// The machine's own resolver.
pub(super) fn system() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
    })
}

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let found = (self.0)(name.as_str().to_owned());
        Box::pin(async move {
            let found = found.await?;
            let public: Vec<SocketAddr> = found
                .into_iter()
                .filter(|address| is_public(address.ip()))
                .collect();
            if public.is_empty() {
                return Err("the name resolves to no public address".into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}
