//! Chance from a seed: whatever looks random here can be had again.

use sha2::{Digest as _, Sha256};

/// Where every id, address and hash comes from.
///
/// Each draw depends on its label and number alone, never on what was drawn before: asking for prices more often does
/// not change the address of the next invoice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed(u64);

impl Seed {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The 32 bytes of a label's `index`-th draw.
    pub(crate) fn draw(self, label: &str, index: u64) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.0.to_be_bytes());
        hash.update(index.to_be_bytes());
        hash.update(label.as_bytes());
        hash.finalize().into()
    }

    /// An id of 24 hexadecimal digits.
    pub(crate) fn id(self, label: &str, index: u64) -> String {
        hex::encode(&self.draw(label, index)[..12])
    }

    /// A number below `limit`.
    ///
    /// # Panics
    /// When `limit` is zero.
    pub(crate) fn below(self, label: &str, index: u64, limit: u32) -> u32 {
        let [a, b, c, d, ..] = self.draw(label, index);
        u32::from_be_bytes([a, b, c, d]) % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_label_and_index_each_make_another_draw() {
        let draw = Seed::new(1).draw("invoice", 1);
        assert_eq!(draw, Seed::new(1).draw("invoice", 1));
        assert_ne!(draw, Seed::new(2).draw("invoice", 1));
        assert_ne!(draw, Seed::new(1).draw("address", 1));
        assert_ne!(draw, Seed::new(1).draw("invoice", 2));
    }
}
