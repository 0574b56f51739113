//! The assets of the model: addresses with a checksum of their own, and what a QR code says.

use sha2::{Digest as _, Sha256};

use crate::chance::Chance;
use crate::decimal::text;

/// An asset and how its addresses are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coin {
    pub(crate) code: &'static str,
    /// Dollars for one, roughly.
    pub(crate) price: i128,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    /// `0x` and 40 digits.
    Evm,
    /// `Base58Check` with this version byte, and the scheme of its URI.
    Base58(u8, &'static str),
}

pub(crate) const COINS: [Coin; 7] = [
    Coin::new("BTC", 64_000, Form::Base58(0x6f, "bitcoin")),
    Coin::new("ETH", 3_100, Form::Evm),
    Coin::new("USDTERC20", 1, Form::Evm),
    Coin::new("BNB", 580, Form::Evm),
    Coin::new("LTC", 84, Form::Base58(0x3a, "litecoin")),
    Coin::new("TRX", 2, Form::Base58(0x41, "tron")),
    Coin::new("USDTTRC20", 1, Form::Base58(0x41, "tron")),
];

impl Coin {
    const fn new(code: &'static str, price: i128, form: Form) -> Self {
        Self { code, price, form }
    }

    /// An address that nobody else has.
    pub(crate) fn address(self, chance: &Chance) -> String {
        let digits = format!("{}{}", chance.hex(), &chance.hex()[..8]);
        match self.form {
            Form::Evm => format!("0x{digits}"),
            Form::Base58(version, _) => {
                let hash = hex::decode(digits).expect("hexadecimal digits");
                base58check(version, &hash)
            }
        }
    }

    /// What the QR code says; sometimes no more than the address.
    pub(crate) fn qr_string(self, address: &str, amount: i128, chance: &Chance) -> String {
        match self.form {
            Form::Base58(_, scheme) if chance.percent(80) => {
                format!("{scheme}:{address}?amount={}", text(amount))
            }
            Form::Evm if self.code == "ETH" && chance.percent(80) => {
                format!("ethereum:{address}?value={amount}")
            }
            Form::Base58(..) | Form::Evm => address.to_owned(),
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
