//! The assets of the model: addresses with checksums, QR strings, and the expected links.

use florin_invariants::amount::{ONE, text};
use sha2::{Digest as _, Sha256};
use support::SeededRandom;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Asset {
    pub(crate) code: &'static str,
    pub(crate) price: i128,
    form: Form,
    /// The token's contract on the test network; `None` for the chain's own coin.
    token: Option<&'static str>,
    decimals: u32,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    /// `0x` and 40 digits, and the chain id of the test network.
    Evm(u32),
    /// `Base58Check` with this version byte, and the scheme of its URI.
    Base58(u8, &'static str),
}

const SEPOLIA: u32 = 11_155_111;
const SEPOLIA_TOKEN: &str = "0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0";
const NILE_TOKEN: &str = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";

pub(crate) const ASSETS: [Asset; 7] = [
    Asset::new("BTC", 64_000, Form::Base58(0x6f, "bitcoin"), 8),
    Asset::new("ETH", 3_100, Form::Evm(SEPOLIA), 18),
    Asset::token("USDTERC20", Form::Evm(SEPOLIA), SEPOLIA_TOKEN),
    Asset::new("BNB", 580, Form::Evm(97), 18),
    Asset::new("LTC", 84, Form::Base58(0x3a, "litecoin"), 8),
    Asset::new("TRX", 2, Form::Base58(0x41, "tron"), 6),
    Asset::token("USDTTRC20", Form::Base58(0x41, "tron"), NILE_TOKEN),
];

impl Asset {
    const fn new(code: &'static str, price: i128, form: Form, decimals: u32) -> Self {
        Self {
            code,
            price,
            form,
            token: None,
            decimals,
        }
    }

    const fn token(code: &'static str, form: Form, token: &'static str) -> Self {
        Self {
            token: Some(token),
            ..Self::new(code, 1, form, 6)
        }
    }

    pub(crate) fn address(self, random: &SeededRandom) -> String {
        let digits = format!("{}{}", random.hex(), &random.hex()[..8]);
        match self.form {
            Form::Evm(_) => format!("0x{digits}"),
            Form::Base58(version, _) => {
                let hash = hex::decode(digits).expect("hexadecimal digits");
                base58check(version, &hash)
            }
        }
    }

    /// Returns the gateway's QR string; sometimes only the address, sometimes without the network.
    pub(crate) fn qr_string(self, address: &str, amount: i128, random: &SeededRandom) -> String {
        if random.percent(20) {
            return address.to_owned();
        }
        let names_network = random.percent(80);
        let units = amount / 10_i128.pow(18 - self.decimals);
        let amount = text(amount);
        match (self.form, self.token) {
            (Form::Base58(_, scheme), Some(token)) if names_network => {
                format!("{scheme}:{address}?token={token}&amount={amount}")
            }
            (Form::Base58(_, scheme), _) => format!("{scheme}:{address}?amount={amount}"),
            (Form::Evm(chain), Some(token)) if names_network => {
                format!("ethereum:{token}@{chain}/transfer?address={address}&uint256={units}")
            }
            (Form::Evm(_), Some(token)) => {
                format!("ethereum:{token}/transfer?address={address}&uint256={units}")
            }
            (Form::Evm(chain), None) if names_network => {
                format!("ethereum:{address}@{chain}?value={units}")
            }
            (Form::Evm(SEPOLIA), None) => format!("ethereum:{address}?value={units}"),
            (Form::Evm(_), None) => address.to_owned(),
        }
    }

    /// Returns the expected link for a QR string and an amount due: a URI that names the test network or its token,
    /// else the address.
    pub(crate) fn shown(self, qr_string: &str, address: &str, due: i128) -> String {
        let unit = 10_i128.pow(18 - self.decimals);
        if due == 0 || due % unit != 0 {
            return address.to_owned();
        }
        let units = due / unit;
        let written = text(due);
        let digits = written.trim_end_matches('0');
        match (self.form, self.token) {
            (Form::Base58(_, "tron"), Some(token)) if qr_string.contains("token=") => {
                let zero = if due % ONE == 0 { "0" } else { "" };
                format!("tron:{address}?token={token}&amount={digits}{zero}")
            }
            (Form::Base58(_, scheme), _) if scheme != "tron" => {
                let digits = digits.trim_end_matches('.');
                format!("{scheme}:{address}?amount={digits}")
            }
            (Form::Evm(chain), Some(token)) if qr_string.contains('@') => {
                format!("ethereum:{token}@{chain}/transfer?address={address}&uint256={units}")
            }
            (Form::Evm(chain), None) if qr_string.contains('@') => {
                format!("ethereum:{address}@{chain}?value={units}")
            }
            _ => address.to_owned(),
        }
    }
}

/// Source: Bitcoin Wiki, "`Base58Check` encoding".
fn base58check(version: u8, hash: &[u8]) -> String {
    const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut bytes = [&[version], hash].concat();
    let check = Sha256::digest(Sha256::digest(&bytes));
    bytes.extend_from_slice(&check[..4]);
    let mut digits: Vec<u8> = Vec::new();
    for byte in bytes {
        let mut carry = u32::from(byte);
        for digit in &mut digits {
            carry += u32::from(*digit) << 8;
            *digit = u8::try_from(carry % 58).expect("below 58");
            carry /= 58;
        }
        while carry > 0 {
            digits.push(u8::try_from(carry % 58).expect("below 58"));
            carry /= 58;
        }
    }
    let letters = digits
        .iter()
        .rev()
        .map(|digit| char::from(ALPHABET[usize::from(*digit)]));
    letters.collect()
}
