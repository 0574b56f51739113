//! Private keys. None has a `Debug`, and no error holds what was typed.

use core::str::FromStr as _;

use anyhow::{Context as _, anyhow};
use bip39::{Language, Mnemonic};
use bitcoin::NetworkKind;
use bitcoin::bip32::{ChildNumber, DerivationPath, Xpriv};
use bitcoin::secp256k1::{Message, Secp256k1, SecretKey};

use crate::address::{Address, keccak};
use crate::rlp::{list, number};

/// The account that receives: its addresses are at `/0/INDEX`.
pub(crate) struct Account(Xpriv);

impl Account {
    /// Reads seed words or a master key, whose account is at `path`, or the account's extended private key.
    pub(crate) fn read(text: &str, path: &DerivationPath) -> anyhow::Result<Self> {
        let key = Xpriv::from_str(text.trim()).or_else(|_| {
            let words = Mnemonic::parse_in_normalized(Language::English, text);
            let words = words.map_err(|_| {
                anyhow!(
                    "these are neither seed words nor an extended private key: type 12 to 24 English words with spaces \
                     between them, or a text that begins with xprv, and look for a typing error"
                )
            })?;
            let seed = words.to_seed_normalized("");
            anyhow::Ok(Xpriv::new_master(NetworkKind::Main, &seed)?)
        })?;
        if key.depth > 0 {
            return Ok(Self(key));
        }
        Ok(Self(key.derive_priv(&Secp256k1::signing_only(), path)?))
    }

    /// The key of an address of the plan.
    pub(crate) fn key(&self, index: u32, address: Address) -> anyhow::Result<Key> {
        let path = [0, index].map(ChildNumber::from_normal_idx);
        let path = path.into_iter().collect::<Result<Vec<_>, _>>()?;
        let key = self.0.derive_priv(&Secp256k1::signing_only(), &path)?;
        let key = Some(Key(key.private_key)).filter(|key| key.address() == address);
        key.with_context(|| {
            format!(
                "the plan's address {index}, {address}, is not derived from this key: name another account of the seed with \
                 --path; if the seed has a passphrase, type the account's xprv instead of the words. If this is the \
                 key of the gateway's configuration, the plan is wrong. Nothing is signed"
            )
        })
    }
}

/// The key of one address.
pub(crate) struct Key(SecretKey);

impl Key {
    pub(crate) fn read(text: &str) -> anyhow::Result<Self> {
        let key = SecretKey::from_str(text.trim().trim_start_matches("0x"));
        key.map(Self).map_err(|_| {
            anyhow!("the key of the account that pays the gas has 64 hexadecimal digits: export it again")
        })
    }

    pub(crate) fn address(&self) -> Address {
        let key = self.0.public_key(&Secp256k1::signing_only());
        Address::hashed(&key.serialize_uncompressed()[1..])
    }

    /// Adds the signature of fields that have this form: parity, `r`, and the lower of both possible `s`.
    pub(crate) fn sign(&self, form: u8, fields: &mut Vec<Vec<u8>>) {
        let hash = keccak(&[&[form], &*list(fields)].concat());
        let message = Message::from_digest(hash);
        let signature = Secp256k1::signing_only().sign_ecdsa_recoverable(&message, &self.0);
        let (parity, bytes) = signature.serialize_compact();
        let (r, s) = bytes.split_at(32);
        let parity = parity.to_i32().to_be_bytes();
        fields.extend([number(&parity), number(r), number(s)]);
    }
}
