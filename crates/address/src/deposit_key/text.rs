//! The texts that wallets export, as descriptors with the prefixes that the library reads.

use core::str::FromStr as _;

use florin_money::Asset;
use miniscript::descriptor::checksum::verify_checksum;
use miniscript::{Descriptor, DescriptorPublicKey};

use super::KeyError;

/// A descriptor whose keys are still to be checked.
pub(super) struct Read {
    pub(super) descriptor: Descriptor<DescriptorPublicKey>,
    /// `false` if the text is a key whose prefix stands for any script; then the descriptor is `pkh`.
    pub(super) names_script: bool,
}

pub(super) fn read(asset: Asset, text: &str) -> Result<Read, KeyError> {
    let text = text.trim();
    refuse_private(text)?;
    let is_descriptor = text.contains('(');
    let body = if is_descriptor {
        verify_checksum(text).map_err(|_| KeyError::Checksum)?
    } else {
        text
    };
    let mut body = body.to_owned();
    let mut script = None;
    for key in tokens(text) {
        let Some(mut bytes) = extended(key) else {
            continue;
        };
        let (version, rest) = bytes.split_at_mut(4);
        let prefix = prefix(asset, version).ok_or(KeyError::Prefix)?;
        if is_descriptor && prefix.script.is_some() {
            return Err(KeyError::Prefix);
        }
        script = prefix.script;
        let written = [&prefix.written, &*rest].concat();
        let written = bs58::encode(written).with_check().into_string();
        body = body.replace(key, &written);
    }
    if !is_descriptor {
        let opened = script.unwrap_or("pkh(");
        let closed = ")".repeat(opened.matches('(').count());
        body = format!("{opened}{body}{closed}");
    }
    let descriptor = Descriptor::from_str(&body).map_err(|_| KeyError::Malformed)?;
    Ok(Read {
        descriptor,
        names_script: is_descriptor || script.is_some(),
    })
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let tokens = text.split(|char: char| !char.is_ascii_alphanumeric());
    tokens.filter(|token| !token.is_empty())
}

/// The bytes of an extended key. Source: BIP-32, "Serialization format".
fn extended(token: &str) -> Option<[u8; 78]> {
    let bytes = bs58::decode(token).with_check(None).into_vec().ok()?;
    bytes.try_into().ok()
}

struct Prefix {
    /// The prefix for the same network that descriptors have.
    written: [u8; 4],
    /// The beginning of its descriptor; `None` if the prefix stands for any script.
    script: Option<&'static str>,
}

/// Source: SLIP-132, "Registered HD version bytes"; Dogecoin Core, `src/chainparams.cpp`, for `dgub`. `Ltub` is registered
/// for `pkh`, but wallets write it for every script, as Ledger's does; Electrum writes Bitcoin's prefixes for Litecoin.
fn prefix(asset: Asset, version: &[u8]) -> Option<Prefix> {
    const MAIN: [u8; 4] = [0x04, 0x88, 0xb2, 0x1e];
    const TEST: [u8; 4] = [0x04, 0x35, 0x87, 0xcf];
    const WRAPPED: Option<&str> = Some("sh(wpkh(");
    const SEGWIT: Option<&str> = Some("wpkh(");
    const XPUB: u32 = 0x0488_b21e;
    const TPUB: u32 = 0x0435_87cf;
    const YPUB: u32 = 0x049d_7cb2;
    const ZPUB: u32 = 0x04b2_4746;
    const UPUB: u32 = 0x044a_5262;
    const VPUB: u32 = 0x045f_1cf6;
    const LTUB: u32 = 0x019d_a462;
    const MTUB: u32 = 0x01b2_6ef6;
    const TTUB: u32 = 0x0436_f6e1;
    const DGUB: u32 = 0x02fa_cafd;
    const TGUB: u32 = 0x0432_a9a8;
    let version = u32::from_be_bytes(version.try_into().ok()?);
    let (written, script) = match (asset, version) {
        (_, XPUB) | (Asset::LTC, LTUB) | (Asset::DOGE, DGUB) => (MAIN, None),
        (_, TPUB) | (Asset::LTC, TTUB) | (Asset::DOGE, TGUB) => (TEST, None),
        (Asset::BTC | Asset::LTC, YPUB) | (Asset::LTC, MTUB) => (MAIN, WRAPPED),
        (Asset::BTC | Asset::LTC, ZPUB) => (MAIN, SEGWIT),
        (Asset::BTC | Asset::LTC, UPUB) => (TEST, WRAPPED),
        (Asset::BTC | Asset::LTC, VPUB) => (TEST, SEGWIT),
        _ => return None,
    };
    Some(Prefix { written, script })
}

/// Fewest words of a seed. Source: BIP-39, "Generating the mnemonic".
const SEED_WORDS: usize = 12;
const EXTENDED_PRIVATE: KeyError = KeyError::Private("an extended private key");

fn refuse_private(text: &str) -> Result<(), KeyError> {
    let is_word = |word: &str| word.chars().all(char::is_alphabetic);
    if text.split_whitespace().count() >= SEED_WORDS && text.split_whitespace().all(is_word) {
        return Err(KeyError::Private("seed words"));
    }
    for token in tokens(text) {
        // `xprv` and its likes, `Ltpv`: noticed with a wrong checksum too.
        if token.get(1..4) == Some("prv") || token.get(2..4) == Some("pv") {
            return Err(EXTENDED_PRIVATE);
        }
        let digits = token.strip_prefix("0x").unwrap_or(token);
        if digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(KeyError::Private(
                "64 hexadecimal digits, as private keys have",
            ));
        }
        match bs58::decode(token).with_check(None).into_vec().as_deref() {
            // Before a private key stands a zero in the place of a public key's sign.
            Ok(key) if key.len() == 78 && key.get(45) == Some(&0) => {
                return Err(EXTENDED_PRIVATE);
            }
            // A version byte and 32 bytes, and 1 behind them for a compressed key.
            Ok([_, key @ ..]) if key.len() == 32 || key.len() == 33 && key.ends_with(&[1]) => {
                return Err(KeyError::Private("a private key"));
            }
            _ => {}
        }
    }
    Ok(())
}
