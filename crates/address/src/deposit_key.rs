//! The public key that the addresses of one asset are derived from.
//!
//! Each invoice has its own address, and the merchant's wallet finds the coins at all of them. No private key is needed for
//! that, so none is accepted.
//!
//! Every key derives at `/0/*`: the branch for receiving, where wallets look. Source: BIP-44, "Change".

mod text;

use core::fmt;

use florin_money::Asset;
use miniscript::bitcoin::NetworkKind;
use miniscript::bitcoin::bip32::{ChildNumber, DerivationPath};
use miniscript::bitcoin::secp256k1::Secp256k1;
use miniscript::descriptor::{DescriptorType, DescriptorXKey, Wildcard};
use miniscript::{Descriptor, DescriptorPublicKey, TranslateErr, Translator, translate_hash_clone};

use crate::Network;
use crate::address::{of_evm_key, of_script, of_tron_key, same};

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

/// A public key, or several of one wallet, with the script that their addresses stand for.
///
/// Its `Debug` shows the checksum of its descriptor instead of the key: a public key spends nothing, but shows everything
/// that was ever paid to it.
#[derive(Clone, PartialEq, Eq)]
pub struct DepositKey {
    asset: Asset,
    network: Network,
    /// For Ethereum's and Tron's chains `pkh` of the account's key, which is derived like Bitcoin's.
    descriptor: Descriptor<DescriptorPublicKey>,
}

impl DepositKey {
    /// Reads an output descriptor, or an extended public key that says which addresses its wallet makes.
    ///
    /// A key without a path means `/0/*`. Of a descriptor with the two branches of a wallet, `/<0;1>/*`, the first is taken.
    ///
    /// # Errors
    /// [`KeyError`] says what to write instead; it never contains the text.
    pub fn parse(asset: Asset, network: Network, text: &str) -> Result<Self, KeyError> {
        let family = Family::of(asset).ok_or(KeyError::NoRules)?;
        let read = text::read(asset, text)?;
        let descriptor = read.descriptor;
        let is_allowed = match descriptor.desc_type() {
            DescriptorType::Bare => false,
            DescriptorType::Pkh => true,
            _ => family == Family::Bitcoin,
        };
        if !is_allowed {
            return Err(KeyError::Script);
        }
        let mut receiving = Receiving { family, network };
        let descriptor = descriptor.translate_pk(&mut receiving);
        let descriptor = descriptor.map_err(|error| match error {
            TranslateErr::TranslatorErr(error) => error,
            TranslateErr::OuterError(_) => KeyError::Malformed,
        })?;
        let is_sane = descriptor.sanity_check();
        is_sane.map_err(|_| KeyError::Malformed)?;
        if family == Family::Bitcoin && !read.names_script {
            return Err(KeyError::Unsaid);
        }
        Ok(Self {
            asset,
            network,
            descriptor,
        })
    }

    /// The address at `/0/INDEX`.
    ///
    /// # Panics
    /// If the index is 2³¹ or more: no public key derives those.
    pub fn address(&self, index: u32) -> String {
        let secp = Secp256k1::verification_only();
        let derived = self.descriptor.derived_descriptor(&secp, index);
        let derived = derived.expect("the index is below 2^31");
        let address = match (Family::of(self.asset), &derived) {
            (Some(Family::Evm), Descriptor::Pkh(key)) => Some(of_evm_key(*key.as_inner())),
            (Some(Family::Tron), Descriptor::Pkh(key)) => Some(of_tron_key(*key.as_inner())),
            _ => of_script(self.asset, self.network, &derived.script_pubkey()),
        };
        address.expect("only scripts with addresses are read")
    }

    /// Returns `true` if an intact address is the one at `/0/INDEX`, in whatever case it is written.
    ///
    /// # Panics
    /// As [`DepositKey::address`].
    pub fn derives(&self, index: u32, address: &str) -> bool {
        same(self.asset, &self.address(index), address)
    }

    /// The descriptor with its checksum, for a node of Bitcoin's family; `None` for Ethereum's and Tron's chains.
    ///
    /// Its keys begin with `xpub` or `tpub` whatever the coin, as in the nodes of Bitcoin and Litecoin.
    pub fn descriptor(&self) -> Option<String> {
        match Family::of(self.asset)? {
            Family::Bitcoin | Family::KeyHash => Some(self.descriptor.to_string()),
            Family::Evm | Family::Tron => None,
        }
    }
}

impl fmt::Debug for DepositKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let descriptor = self.descriptor.to_string();
        let (_, checksum) = descriptor.rsplit_once('#').unwrap_or_default();
        f.debug_struct("DepositKey")
            .field("asset", &self.asset.crypto_code().as_str())
            .field("network", &self.network)
            .field("checksum", &checksum)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    /// Wallets make several kinds of addresses.
    Bitcoin,
    /// Wallets make addresses of one kind, the hash of a key.
    KeyHash,
    Evm,
    Tron,
}

impl Family {
    fn of(asset: Asset) -> Option<Self> {
        match asset {
            Asset::BTC | Asset::LTC => Some(Self::Bitcoin),
            Asset::DOGE | Asset::BCH => Some(Self::KeyHash),
            Asset::ETH | Asset::BNB | Asset::USDTERC20 => Some(Self::Evm),
            Asset::TRX | Asset::USDTTRC20 => Some(Self::Tron),
            _ => None,
        }
    }
}

/// Checks each key of a descriptor, and gives it the path of receiving addresses.
struct Receiving {
    family: Family,
    network: Network,
}

impl Translator<DescriptorPublicKey> for Receiving {
    type TargetPk = DescriptorPublicKey;
    type Error = KeyError;

    fn pk(&mut self, key: &DescriptorPublicKey) -> Result<DescriptorPublicKey, KeyError> {
        let (origin, xkey, mut paths, wildcard) = match key.clone() {
            DescriptorPublicKey::Single(_) => return Err(KeyError::Single),
            DescriptorPublicKey::XPub(key) => {
                let paths = vec![key.derivation_path];
                (key.origin, key.xkey, paths, key.wildcard)
            }
            DescriptorPublicKey::MultiXPub(key) => {
                let paths = key.derivation_paths.into_paths();
                (key.origin, key.xkey, paths, key.wildcard)
            }
        };
        self.check_network(xkey.network)?;
        let hardened = |path: &DerivationPath| path.into_iter().any(ChildNumber::is_hardened);
        if wildcard == Wildcard::Hardened || paths.iter().any(hardened) {
            return Err(KeyError::Hardened);
        }
        let receiving = DerivationPath::from(vec![ChildNumber::Normal { index: 0 }]);
        let first = paths.swap_remove(0);
        let is_bare = first.is_empty() && wildcard == Wildcard::None;
        if !is_bare && (first != receiving || wildcard != Wildcard::Unhardened) {
            return Err(KeyError::Path);
        }
        if xkey.depth > 0 && xkey.child_number.is_normal() {
            return Err(KeyError::Branch);
        }
        Ok(DescriptorPublicKey::XPub(DescriptorXKey {
            origin,
            xkey,
            derivation_path: receiving,
            wildcard: Wildcard::Unhardened,
        }))
    }

    translate_hash_clone!(DescriptorPublicKey);
}

impl Receiving {
    /// Wallets of Ethereum's and Tron's chains write one key for all networks.
    fn check_network(&self, kind: NetworkKind) -> Result<(), KeyError> {
        let is_account = matches!(self.family, Family::Evm | Family::Tron);
        match (self.network, kind) {
            (Network::Main, NetworkKind::Test) => Err(KeyError::OfTest),
            (Network::Test | Network::Regtest, NetworkKind::Main) if !is_account => {
                Err(KeyError::OfMain)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
