//! Words: the text of an enum's variant in the database, JSON and logs.

use crate::{
    Abandoned, EventType, Flow, LatePayment, OrderStatus, PaymentState, PollPriority, PriceSource,
};

/// Adds `as_str` and `parse` to enums with a table `ALL`.
macro_rules! words {
    ($($name:ident),+) => {$(
        impl $name {
            /// The word in the database, JSON and logs.
            pub fn as_str(self) -> &'static str {
                let row = Self::ALL.iter().find(|(known, _)| *known == self);
                row.map(|(_, word)| *word).expect("the table lists every variant")
            }
        }
    )+};
}

/// Adds `parse` to enums whose words are all in their table `ALL`.
macro_rules! parsed {
    ($($name:ident),+) => {$(
        impl $name {
            /// The variant of a word; `None` for an unknown word.
            pub fn parse(word: &str) -> Option<Self> {
                let row = Self::ALL.iter().find(|(_, known)| *known == word);
                row.map(|(variant, _)| *variant)
            }
        }
    )+};
}

words!(
    Abandoned,
    EventType,
    Flow,
    LatePayment,
    OrderStatus,
    PaymentState,
    PollPriority,
    PriceSource
);
parsed!(
    Abandoned,
    Flow,
    LatePayment,
    OrderStatus,
    PaymentState,
    PollPriority,
    PriceSource
);
