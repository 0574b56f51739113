//! The networks of an asset, and the refusals of addresses and of payment URIs.

/// Which chain of an asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Where coins have a price.
    Main,
    /// Where they have none.
    Test,
}

/// Why a text is not an address that may be paid to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Its length, characters or structure are those of no address of this asset.
    #[error("it is not written like an address of this asset")]
    Malformed,
    /// It has the form of an address, but its checksum does not match.
    #[error("its checksum does not match")]
    Checksum,
    /// An intact address of another coin or of another network.
    #[error("it is an address of another coin or network")]
    Foreign,
    /// An intact address of a kind without keys: anyone may spend what is paid to it.
    #[error("it is of a kind that is not in use")]
    Unowned,
    /// There are no rules here for the asset.
    #[error("addresses of this asset cannot be checked")]
    NoRules,
}

/// What the gateway's text names instead of the payment that was asked for. Texts are its own, their first 80
/// characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// The scheme is none of this asset's, or the text is neither a URI nor the address.
    #[error("it is no payment URI of this asset: {found:?}")]
    Scheme {
        /// What stands before the colon; the whole text if there is none.
        found: String,
    },
    /// Another address.
    #[error("it names another address: {found:?}")]
    Address {
        /// That address; empty if it is missing.
        found: String,
    },
    /// Another amount, or a text that is none.
    #[error("it names another amount: {found:?}")]
    Amount {
        /// That amount, in the text's own unit.
        found: String,
    },
    /// Another chain, or none where it cannot be left out.
    #[error("it names another chain: {found:?}")]
    Chain {
        /// That chain's number; empty if it is missing.
        found: String,
    },
    /// Another token, or a coin instead of a token, or a token instead of a coin.
    #[error("it asks for another token: {found:?}")]
    Token {
        /// That token's contract; empty for the chain's own coin.
        found: String,
    },
    /// A parameter that comes twice, even with one and the same value.
    #[error("it carries a parameter twice: {key:?}")]
    Twice {
        /// The parameter's name.
        key: String,
    },
    /// Percent signs that stand for no text.
    #[error("it is not encoded as URIs are: {found:?}")]
    Encoding {
        /// The key or value.
        found: String,
    },
    /// A parameter that is not on the list of its form. It may change where the payment goes, or what it costs.
    #[error("it carries a parameter that is not expected: {key:?}")]
    Parameter {
        /// The parameter's name, in lower case.
        key: String,
    },
}

impl UriError {
    pub(crate) fn unexpected(key: &str) -> Self {
        Self::Parameter { key: short(key) }
    }
}

/// Texts of the gateway go into errors and logs, but not whole.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(80).collect()
}
