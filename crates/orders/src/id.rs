//! Identifiers: one type each, checked by the constructor.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A text that is not an id of its kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{input:?} is not a {kind}: {shape}")]
pub struct InvalidId {
    kind: &'static str,
    shape: &'static str,
    /// The refused text, its first 80 characters.
    pub input: String,
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $shape:expr, $fits:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Checks the shape.
            ///
            /// # Errors
            /// [`InvalidId`] keeps the refused text.
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                let fits: fn(&str) -> bool = $fits;
                if fits(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    let input = text.chars().take(80).collect();
                    Err(InvalidId { kind: $kind, shape: $shape, input })
                }
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

macro_rules! random_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $prefix:literal) => {
        text_id! {
            $(#[$doc])*
            $name, $kind, concat!(
                "write ", $prefix, " and 32 hexadecimal digits, like ", $prefix, "0123456789abcdef0123456789abcdef"
            ),
            |text| text.strip_prefix($prefix).is_some_and(|digits| {
                digits.len() == 32 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            })
        }

        impl $name {
            /// Makes the id out of 128 random bits.
            pub fn from_random(bits: [u8; 16]) -> Self {
                Self(format!("{}{}", $prefix, hex::encode(bits)))
            }
        }
    };
}

random_id! {
    /// `ord_` and 128 random bits. A public handle that grants no access.
    OrderId, "order id", "ord_"
}
impl OrderId {
    /// The 128 bits that it was made of.
    pub fn bits(&self) -> [u8; 16] {
        let digits = self.0.strip_prefix("ord_").expect("the shape was checked");
        let mut bits = [0; 16];
        hex::decode_to_slice(digits, &mut bits).expect("the shape was checked");
        bits
    }
}

random_id! {
    /// `aud_` and 128 random bits: an entry of the audit log.
    AuditId, "audit id", "aud_"
}

random_id! {
    /// `att_` and 128 random bits.
    AttemptId, "attempt id", "att_"
}

text_id! {
    /// A store of the proxy's configuration: 1 to 32 of `a–z 0–9 -`.
    StoreId, "store id", "write 1 to 32 small letters, digits and hyphens",
    |text| (1..=32).contains(&text.len())
        && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}
text_id! {
    /// A webhook of a store: 1 to 32 of `a–z 0–9 -`.
    WebhookId, "webhook id", "write 1 to 32 small letters, digits and hyphens",
    |text| StoreId::parse(text).is_ok()
}
impl Default for WebhookId {
    fn default() -> Self {
        Self("default".to_owned())
    }
}
text_id! {
    /// The store's own name for what it sells, unique per store: 1 to 64 of `A–Z a–z 0–9 _ . : -`.
    Reference, "reference", "write 1 to 64 letters, digits and _ . : -, like order-1017",
    |text| (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:-".contains(&b))
}
text_id! {
    /// The gateway's name for an invoice: 1 to 128 of `A–Z a–z 0–9 _ . : -`. `Assumed:` an id outside this
    /// shape would be refused when the invoice is created, before anything is shown.
    InvoiceId, "invoice id", "write 1 to 128 letters, digits and _ . : -",
    |text| (1..=128).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:-".contains(&b))
}
text_id! {
    /// A transaction's hash, as the customer's wallet named it: a hint, never a proof. 64 of `0–9 a–f`, in some chains
    /// behind `0x`.
    TransactionHint, "transaction hash", "write 64 hexadecimal digits in lower case, with or without 0x before them",
    |text| is_hexadecimal(text.strip_prefix("0x").unwrap_or(text), 64)
}
text_id! {
    /// `evt_`, the order's digits, the event's number in that order, and 16 digits of the hash of its content: stable, so
    /// that a redelivery is recognised, and never that of an event with other content, also after a backup was restored.
    EventId, "event id", "write evt_, 32 hexadecimal digits, _, a number, _ and 16 hexadecimal digits",
    |text| match text.split('_').collect::<Vec<_>>()[..] {
        ["evt", order, number, hash] => {
            is_hexadecimal(order, 32) && is_number(number) && is_hexadecimal(hash, 16)
        }
        _ => false,
    }
}

fn is_hexadecimal(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_number(text: &str) -> bool {
    (1..=10).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

impl EventId {
    /// The id of an order's event number `sequence` with this payload, which contains the time of the event.
    pub fn of(order: &OrderId, sequence: u32, payload: &str) -> Self {
        let digits = order.as_str().trim_start_matches("ord_");
        let hash = hex::encode(&Sha256::digest(payload)[..8]);
        Self(format!("evt_{digits}_{sequence}_{hash}"))
    }
}

text_id! {
    /// `dlv_`, the rest of its event's id, and the number of the delivery, from 1.
    DeliveryId, "delivery id", "write dlv_, the rest of the event's id, _ and a number",
    |text| text.strip_prefix("dlv_").and_then(|rest| rest.rsplit_once('_')).is_some_and(
        |(event, number)| EventId::parse(&format!("evt_{event}")).is_ok() && is_number(number)
    )
}

impl DeliveryId {
    /// The id of delivery number `number` of an event.
    pub fn of(event: &EventId, number: u32) -> Self {
        let digits = event.as_str().trim_start_matches("evt_");
        Self(format!("dlv_{digits}_{number}"))
    }

    /// The id of the event, and the number of the delivery as text.
    pub fn parts(&self) -> (String, &str) {
        let (event, number) = self.0.rsplit_once('_').expect("the shape was checked");
        (event.replacen("dlv_", "evt_", 1), number)
    }
}

/// SHA-256 of a webhook's address. The address itself may hold a secret of the store, and is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointHash(pub [u8; 32]);

/// SHA-256 of a client token. The token itself is never stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_refused_with_its_shape() {
        let error = Reference::parse("order 17").unwrap_err();
        let text = "\"order 17\" is not a reference: write 1 to 64 letters, digits and _ . : -, like order-1017";
        assert_eq!(error.to_string(), text);
        for text in ["", "a/b", "ä", "a\n", &"a".repeat(65)] {
            assert!(Reference::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_events_id_names_its_order_number_and_content() {
        let order = OrderId::from_random([7; 16]);
        let event = EventId::of(&order, 3, "{}");
        // SHA-256 of "{}", as sha256sum prints it.
        let id = "evt_07070707070707070707070707070707_3_44136fa355b3678a";
        assert_eq!(event.as_str(), id);
        assert_eq!(EventId::parse(id), Ok(event.clone()));
        assert_ne!(EventId::of(&order, 3, "{ }"), event);
        for text in [
            "evt_07070707070707070707070707070707_3",
            "evt_07070707070707070707070707070707_3_",
            "evt_07070707070707070707070707070707_3_44136fa355b3678",
            "evt_07070707070707070707070707070707_3_44136FA355B3678A",
            "evt_07070707070707070707070707070707__44136fa355b3678a",
            "evt_07070707070707070707070707070707_3_44136fa355b3678a_1",
        ] {
            assert!(EventId::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_deliverys_id_names_its_event_and_number() {
        let event = EventId::of(&OrderId::from_random([7; 16]), 3, "{}");
        let delivery = DeliveryId::of(&event, 12);
        let id = "dlv_07070707070707070707070707070707_3_44136fa355b3678a_12";
        assert_eq!(delivery.as_str(), id);
        assert_eq!(DeliveryId::parse(id), Ok(delivery.clone()));
        assert_eq!(delivery.parts(), (event.to_string(), "12"));
        for text in [
            "dlv_07_3_44136fa355b3678a_1",
            "dlv_07070707070707070707070707070707_3_12",
            "evt_07070707070707070707070707070707_3_44136fa355b3678a_1",
            "dlv__",
        ] {
            assert!(DeliveryId::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_order_id_gives_back_the_bits_it_was_made_of() {
        let bits = [
            0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8,
        ];
        assert_eq!(OrderId::from_random(bits).bits(), bits);
    }

    #[test]
    fn an_order_id_of_another_kind_is_refused() {
        let attempt = AttemptId::from_random([0; 16]);
        assert_eq!(
            OrderId::parse(attempt.as_str()).unwrap_err().input,
            attempt.as_str()
        );
    }
}
