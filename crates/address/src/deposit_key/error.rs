/// Why a text is no key that deposits may be received with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum KeyError {
    /// What kind of secret it holds.
    #[error(
        "it holds {0}: write the account's public key. Move the coins to a new wallet if others can read this text"
    )]
    Private(&'static str),
    /// `tpub` on a main network.
    #[error(
        "it is a key of a test network: write the key of the main network, which begins with xpub, ypub or zpub"
    )]
    OfTest,
    /// `xpub` on a test network.
    #[error(
        "it is a key of the main network: write the key of the test network, which begins with tpub, upub or vpub"
    )]
    OfMain,
    #[error(
        "its prefix is one of another coin or of a wallet with several signers: write an output descriptor with the keys as xpub or tpub"
    )]
    Prefix,
    #[error(
        "the key alone does not say which addresses the wallet makes, and the wallet finds no coins at others: write \
         wpkh(KEY), sh(wpkh(KEY)), tr(KEY) or pkh(KEY), as the wallet's output descriptor does"
    )]
    Unsaid,
    #[error(
        "wallets of this asset make no addresses of this script: write the extended public key alone"
    )]
    Script,
    #[error(
        "it holds a public key with one address, and each invoice needs its own: write an extended public key, which begins with xpub"
    )]
    Single,
    #[error(
        "its path has a hardened step behind the key, which only a private key derives: write the account's public key and /0/* behind it"
    )]
    Hardened,
    /// Change addresses, or a path where wallets do not look.
    #[error(
        "its path is not the one of receiving addresses: write /0/* behind the account's key, or nothing"
    )]
    Path,
    #[error(
        "it is the key of a branch of the account, where the wallet would find no coins: write the account's key"
    )]
    Branch,
    #[error(
        "the checksum of the descriptor does not match: copy it again, or leave out # and what follows"
    )]
    Checksum,
    #[error(
        "it is no output descriptor and no extended public key, or a character of it is wrong: copy it from the wallet again"
    )]
    Malformed,
    #[error("addresses of this asset cannot be derived")]
    NoRules,
}
