//! A client for the servers of this machine.

/// A client without a proxy and without the machine's root certificates, which each client would read and parse anew:
/// it speaks plain HTTP alone.
///
/// The crypto provider must be installed before it is built.
pub(crate) fn client() -> reqwest::ClientBuilder {
    reqwest::Client::builder().no_proxy().tls_certs_only([])
}
