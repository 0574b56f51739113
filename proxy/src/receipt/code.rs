//! The receipt as eight groups of five letters and digits: the order's 128 bits and 72 bits of proof.
//!
//! Letters are those of Crockford's base 32, which has no I, L, O and U: what is read for one of them is understood.

use ledger::OrderId;
use subtle::ConstantTimeEq as _;

use super::{Receipt, ReceiptKey, mac};

const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ORDER_BYTES: usize = 16;
/// So many of the proof's bytes are written: whoever guesses is right once in 2⁷², and has to ask the proxy each time.
pub(super) const PROOF_BYTES: usize = 9;
const BYTES: usize = ORDER_BYTES + PROOF_BYTES;
/// 200 bits in letters of five.
const CHARS: usize = 40;
const GROUP: usize = 5;

pub(super) fn write(key: &ReceiptKey, order: &OrderId, receipt: &Receipt) -> String {
    let mut bytes = order.bits().to_vec();
    bytes.extend(proof(key, order, receipt));
    let letters: Vec<u8> = (0..CHARS).map(|n| LETTERS[five_bits(&bytes, n)]).collect();
    let groups = letters.chunks(GROUP).map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join("-")
}

/// Reads a code as people write it: with or without hyphens and blanks, in any case.
pub(super) fn read(text: &str) -> Option<(OrderId, [u8; PROOF_BYTES])> {
    let is_gap = |c: &char| *c == '-' || c.is_whitespace();
    let mut bytes = [0_u8; BYTES];
    let mut letters = text.chars().filter(|c| !is_gap(c));
    for n in 0..CHARS {
        let value = value(letters.next()?)?;
        for bit in 0..5 {
            let at = n * 5 + bit;
            bytes[at / 8] |= (value >> (4 - bit) & 1) << (7 - at % 8);
        }
    }
    if letters.next().is_some() {
        return None;
    }
    let (order, proof) = bytes.split_first_chunk::<ORDER_BYTES>()?;
    Some((OrderId::from_random(*order), proof.try_into().ok()?))
}

pub(super) fn is_proof(
    key: &ReceiptKey,
    order: &OrderId,
    receipt: &Receipt,
    shown: &[u8; PROOF_BYTES],
) -> bool {
    proof(key, order, receipt).ct_eq(shown).into()
}

/// The proof is over what never changes about a paid order.
fn proof(key: &ReceiptKey, order: &OrderId, receipt: &Receipt) -> [u8; PROOF_BYTES] {
    let Receipt {
        reference,
        amount,
        currency,
        paid_at,
        ..
    } = receipt;
    let message = format!("code\n{order}\n{reference}\n{amount}\n{currency}\n{paid_at}");
    let whole = mac(&key.0, message.as_bytes());
    *whole.first_chunk().expect("the proof is shorter")
}

fn five_bits(bytes: &[u8], n: usize) -> usize {
    let bit = |at: usize| usize::from(bytes[at / 8] >> (7 - at % 8) & 1);
    (n * 5..n * 5 + 5).fold(0, |value, at| value << 1 | bit(at))
}

fn value(letter: char) -> Option<u8> {
    let letter = match letter.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    };
    let place = LETTERS
        .iter()
        .position(|known| char::from(*known) == letter)?;
    u8::try_from(place).ok()
}
