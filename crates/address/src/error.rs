//! The networks of an asset, and the refusals of addresses and of payment URIs.

/// Which chain of an asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Where coins have a price.
    Main,
    /// Where they have none.
    Test,
    /// A private network: regtest, or a development node.
    Regtest,
}

/// Why a text is not an address that may be paid to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum AddressError {
    /// Its length, characters or structure are those of no address of this asset.
    #[error("it is not written like an address of this asset")]
    Malformed,
    /// It has the form of an address, but its checksum does not match.
    #[error("its checksum does not match")]
    Checksum,
    #[error("it is an address of another coin or network")]
    Foreign,
    /// An intact address of a kind without keys: anyone may spend what is paid to it.
    #[error("it is of a kind that is not in use")]
    Unowned,
    #[error("addresses of this asset cannot be checked")]
    NoRules,
}

/// What the gateway's text names instead of the payment that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part}: {found:?}")]
pub struct UriError {
    pub(crate) part: Part,
    /// What stands there, its first 80 characters; empty if it is missing.
    pub(crate) found: String,
}

/// The part of the text that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Part {
    /// What stands before the colon; the whole text if it has no colon.
    #[error("it is no payment URI of this asset")]
    Scheme,
    #[error("it names another address")]
    Address,
    /// In the text's own unit.
    #[error("it names another amount")]
    Amount,
    #[error("it names another chain")]
    Chain,
    /// The token's contract; empty for the chain's own coin.
    #[error("it asks for another token")]
    Token,
    /// Even with one and the same value.
    #[error("it carries a parameter twice")]
    Twice,
    #[error("it is not encoded as URIs are")]
    Encoding,
    /// It may change where the payment goes, or what it costs.
    #[error("it carries a parameter that is not expected")]
    Parameter,
}

impl UriError {
    /// Texts of the gateway go into errors and logs, but not whole.
    pub(crate) fn new(part: Part, found: &str) -> Self {
        Self {
            part,
            found: found.chars().take(80).collect(),
        }
    }
}
