//! The form of transactions. Source: the Yellow Paper of Ethereum, appendix B.

/// A number without the zeros before it.
pub(crate) fn number(big_endian: &[u8]) -> Vec<u8> {
    bytes(without_zeros(big_endian))
}

pub(crate) fn bytes(value: &[u8]) -> Vec<u8> {
    match value {
        [byte] if *byte < 0x80 => vec![*byte],
        _ => with_length(0x80, value),
    }
}

pub(crate) fn list(items: &[Vec<u8>]) -> Vec<u8> {
    with_length(0xc0, &items.concat())
}

fn with_length(base: u8, payload: &[u8]) -> Vec<u8> {
    match u8::try_from(payload.len()) {
        Ok(short) if short < 56 => [&[base + short], payload].concat(),
        _ => {
            let length = payload.len().to_be_bytes();
            let length = without_zeros(&length);
            let digits = u8::try_from(length.len()).expect("a length has at most 8 bytes");
            [&[base + 55 + digits], length, payload].concat()
        }
    }
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0);
    &bytes[zeros.count()..]
}
