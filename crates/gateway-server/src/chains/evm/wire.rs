//! What a node of Ethereum's kind answers, as far as it is read.

use core::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The Keccak-256 digest of `Transfer(address,address,uint256)`. Source: EIP-20.
pub(super) const TRANSFER_LOG: &str =
    "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/// The first bytes of a call of `transfer(address,uint256)`. Source: EIP-20.
const TRANSFER_CALL: &str = "0xa9059cbb";
/// The first bytes of a call of `balanceOf(address)`. Source: EIP-20.
const BALANCE_CALL: &str = "0x70a08231";
/// The first byte of an address of Tron, before its twenty bytes. Source: developers.tron.network, "Account address
/// format".
const TRON_VERSION: u8 = 0x41;

/// Bytes, written in hexadecimal after `0x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Bytes<const N: usize>(pub(super) [u8; N]);

pub(super) type Hash = Bytes<32>;
pub(super) type Address = Bytes<20>;

/// A whole number, written in hexadecimal after `0x`. One beyond 128 bits is refused: it is none of a coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantity(pub(super) u128);

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    number: Quantity,
    pub(super) hash: Hash,
    pub(super) parent_hash: Hash,
    /// Seconds since 1970.
    timestamp: Quantity,
}

/// A block with its transactions. What is none of Ethereum's form is left out: some chains have other kinds.
#[derive(Debug, Deserialize)]
pub(super) struct Block {
    transactions: Vec<serde_json::Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Transaction {
    pub(super) hash: Hash,
    pub(super) from: Address,
    pub(super) nonce: Quantity,
    pub(super) to: Option<Address>,
    pub(super) value: Quantity,
    input: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Log {
    pub(super) address: Address,
    topics: Vec<Hash>,
    data: String,
    pub(super) block_hash: Hash,
    pub(super) transaction_hash: Hash,
    #[serde(default)]
    pub(super) removed: bool,
}

impl<const N: usize> Bytes<N> {
    fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; N];
        hex::decode_to_slice(text.strip_prefix("0x")?, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl Address {
    /// Reads an address as people write it: in hexadecimal, or Tron's form.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        if let Some(address) = Self::parse(text) {
            return Some(address);
        }
        let bytes = bs58::decode(text).with_check(Some(TRON_VERSION));
        Some(Self(bytes.into_vec().ok()?.get(1..)?.try_into().ok()?))
    }

    /// The input of a call that asks a token for the balance of the address.
    pub(super) fn balance_call(self) -> String {
        format!("{BALANCE_CALL}{:0>64}", hex::encode(self.0))
    }

    /// As a word of the machine: in topics and arguments.
    fn of_word(word: Hash) -> Option<Self> {
        let (zeros, address) = word.0.split_at(12);
        let address = address.try_into().ok()?;
        zeros.iter().all(|byte| *byte == 0).then_some(Self(address))
    }
}

impl Quantity {
    pub(super) fn to_u64(self) -> Option<u64> {
        u64::try_from(self.0).ok()
    }
}

impl Header {
    pub(super) fn height(&self) -> Option<u64> {
        self.number.to_u64()
    }

    pub(super) fn time(&self) -> Option<i64> {
        i64::try_from(self.timestamp.0).ok()
    }
}

impl Block {
    pub(super) fn transactions(self) -> impl Iterator<Item = Transaction> {
        let transactions = self.transactions.into_iter();
        transactions.filter_map(|transaction| serde_json::from_value(transaction).ok())
    }
}

impl Transaction {
    /// Recipient and amount of a call of a token's `transfer`.
    pub(super) fn token_transfer(&self) -> Option<(Address, Option<u128>)> {
        let arguments = self.input.strip_prefix(TRANSFER_CALL)?;
        let word = |from: usize| Hash::parse(&format!("0x{}", arguments.get(from..from + 64)?));
        Some((Address::of_word(word(0)?)?, units_of(word(64)?)))
    }
}

impl Log {
    /// Recipient and amount of a token's transfer; `None` for another log, as that of a collectible with its number as
    /// a topic.
    pub(super) fn transfer(&self) -> Option<(Address, Option<u128>)> {
        let [kind, _, to] = self.topics.as_slice() else {
            return None;
        };
        let is_transfer = kind.to_string() == TRANSFER_LOG;
        let amount = units_of(Hash::parse(&self.data)?);
        is_transfer.then_some((Address::of_word(*to)?, amount))
    }
}

/// The input of a call of `transfer`.
pub(super) fn call_of_transfer(to: Address, units: u128) -> String {
    format!("{TRANSFER_CALL}{:0>64}{units:064x}", hex::encode(to.0))
}

/// `None` beyond 128 bits; the largest supply of a real token has less than 100.
pub(super) fn units_of(word: Hash) -> Option<u128> {
    let (high, low) = word.0.split_at(16);
    let is_small = high.iter().all(|byte| *byte == 0);
    is_small.then_some(u128::from_be_bytes(low.try_into().ok()?))
}

impl<const N: usize> fmt::Display for Bytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl<const N: usize> Serialize for Bytes<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Bytes<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| D::Error::custom(format!("{N} bytes in hexadecimal are expected")))
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text
            .strip_prefix("0x")
            .filter(|digits| !digits.starts_with('+'));
        digits
            .and_then(|digits| u128::from_str_radix(digits, 16).ok())
            .map(Self)
            .ok_or_else(|| D::Error::custom("a quantity in hexadecimal below 2^128 is expected"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    const TO: &str = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";

    fn word(digits: &str) -> String {
        format!("0x{:0>64}", digits.trim_start_matches("0x"))
    }

    #[test]
    fn log_is_a_transfer_in_one_shape_alone() {
        let (to, sum) = (word(TO), word("ff"));
        let other_event = word("1");
        let dirty = format!("0x01{}", &to[4..]);
        let max = format!("0x{}", "f".repeat(64));
        let hundred_and_twenty_nine_bits = word(&format!("1{}", "0".repeat(32)));
        let fits = Some(Some(255));
        for (topics, data, expected) in [
            (vec![TRANSFER_LOG, &to, &to], &sum, fits),
            (vec![TRANSFER_LOG, &to, &to], &max, Some(None)),
            (
                vec![TRANSFER_LOG, &to, &to],
                &hundred_and_twenty_nine_bits,
                Some(None),
            ),
            (vec![TRANSFER_LOG, &to, &to, &sum], &"0x".to_owned(), None),
            (vec![TRANSFER_LOG, &to, &to], &format!("{sum}00"), None),
            (vec![TRANSFER_LOG, &to], &sum, None),
            (vec![TRANSFER_LOG, &to, &dirty], &sum, None),
            (vec![&other_event, &to, &to], &sum, None),
            (vec![], &sum, None),
        ] {
            let log = json!({
                "address": TO, "topics": topics, "data": data, "blockHash": to, "transactionHash": to,
            });
            let log: Log = from_value(log).unwrap();
            let recipient = Address::of_text(TO).unwrap();
            let expected = expected.map(|units| (recipient, units));
            assert_eq!(log.transfer(), expected, "{topics:?} {data}");
        }
    }

    #[test]
    fn addresses_of_both_forms_are_the_same_bytes_and_others_are_refused() {
        // Source: developers.tron.network, "Account address format".
        let tron = Address::of_text("TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW");
        let hex = Address::of_text("0x5a523b449890854c8fc460ab602df9f31fe4293f");
        assert!(tron.is_some() && tron == hex, "{tron:?}");
        for refused in [
            "",
            "0x5a52",
            "5a523b449890854c8fc460ab602df9f31fe4293f",
            "TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMV",
            "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
        ] {
            assert_eq!(Address::of_text(refused), None, "{refused}");
        }
    }

    #[test]
    fn quantities_are_exact_or_refused() {
        let max = format!("0x{:x}", u128::MAX);
        for (text, expected) in [
            ("0x0", Some(0)),
            (
                "0x0000000000000000000000000000000000000000000000001",
                Some(1),
            ),
            (&max, Some(u128::MAX)),
            (&format!("{max}0"), None),
            ("0x", None),
            ("0x+1", None),
            ("1", None),
            ("0x-1", None),
        ] {
            let quantity = from_value::<Quantity>(json!(text)).ok();
            assert_eq!(quantity.map(|quantity| quantity.0), expected, "{text}");
        }
    }
}
