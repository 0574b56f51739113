//! Whether a text is an address of an asset on its network, with an intact checksum.
//!
//! An address that was cut, mistyped or belongs to another coin costs the customer their money, so every deposit
//! address is checked before anyone sees it. What cannot be checked: that the service owns it.
//!
//! Some networks share their addresses. Ethereum and BNB Chain do, on main and test networks alike; so do Tron's
//! networks, and the `m…`/`n…` addresses of the test networks of Bitcoin and Litecoin, and their `2…` with Dogecoin's.

mod base58;
mod cashaddr;
mod evm;
mod segwit;

use money::Asset;

/// Which chain of an asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Where coins have a price.
    Main,
    /// Where they have none.
    Test,
}

/// Why a text is not an address that may be paid to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Its length, characters or structure are those of no address of this asset.
    #[error("it is not written like an address of this asset")]
    Malformed,
    /// It looks like an address, but its checksum says that a character is wrong.
    #[error("its checksum does not match")]
    Checksum,
    /// An intact address of another coin or of another network.
    #[error("it is an address of another coin or network")]
    Foreign,
    /// An intact address of a kind to which nobody holds keys: whoever comes first may take what is paid to it.
    #[error("it is of a kind that is not in use")]
    Unowned,
    /// There are no rules here for the asset.
    #[error("addresses of this asset cannot be checked")]
    NoRules,
}

/// Checks that `address` is an intact address of `asset` on `network`.
///
/// # Errors
/// [`AddressError`] says what is wrong; nothing in it repeats the address.
pub fn check(asset: Asset, address: &str, network: Network) -> Result<(), AddressError> {
    match asset {
        Asset::BTC => coin(&BITCOIN, address, network),
        Asset::LTC => coin(&LITECOIN, address, network),
        Asset::DOGE => coin(&DOGECOIN, address, network),
        Asset::TRX | Asset::USDTTRC20 => coin(&TRON, address, network),
        Asset::BCH => cashaddr::check(address, network),
        Asset::ETH | Asset::USDTERC20 | Asset::BNB => evm::check(address),
        _ => Err(AddressError::NoRules),
    }
}

/// Whether two texts are the same address of an asset, `one` being an intact one: letter for letter, apart from what
/// does not belong to it (the case of hexadecimal digits, bech32 in capitals, the prefix of a CashAddr).
pub(crate) fn same(asset: Asset, one: &str, other: &str) -> bool {
    let one_case = other == other.to_lowercase() || other == other.to_uppercase();
    match asset {
        Asset::ETH | Asset::USDTERC20 | Asset::BNB => one.eq_ignore_ascii_case(other),
        Asset::BCH => {
            one_case && cashaddr::payload(one).eq_ignore_ascii_case(cashaddr::payload(other))
        }
        _ if segwit::claims(one) => one_case && one.eq_ignore_ascii_case(other),
        _ => one == other,
    }
}

/// How the addresses of a coin begin.
struct Coin {
    main: Prefixes,
    test: Prefixes,
}

/// How they begin on one of its networks.
struct Prefixes {
    /// Version bytes of `Base58Check`.
    versions: &'static [u8],
    /// Human-readable part of its segwit addresses; `None` for a coin without them.
    hrp: Option<&'static str>,
}

/// Source: Bitcoin Core, `src/kernel/chainparams.cpp`; BIP-173.
const BITCOIN: Coin = Coin {
    main: Prefixes {
        versions: &[0x00, 0x05],
        hrp: Some("bc"),
    },
    test: Prefixes {
        versions: &[0x6f, 0xc4],
        hrp: Some("tb"),
    },
};

/// Source: Litecoin Core, `src/chainparams.cpp`.
///
/// Its old script addresses, which begin with the `3…` and `2…` of Bitcoin's, are refused: nothing tells the two coins
/// apart. `Assumed:` the service writes the present form; a refused deposit address would disprove it.
const LITECOIN: Coin = Coin {
    main: Prefixes {
        versions: &[0x30, 0x32],
        hrp: Some("ltc"),
    },
    test: Prefixes {
        versions: &[0x6f, 0x3a],
        hrp: Some("tltc"),
    },
};

/// Source: Dogecoin Core, `src/chainparams.cpp`.
const DOGECOIN: Coin = Coin {
    main: Prefixes {
        versions: &[0x1e, 0x16],
        hrp: None,
    },
    test: Prefixes {
        versions: &[0x71, 0xc4],
        hrp: None,
    },
};

/// Source: developers.tron.network, "Account address format". Its test networks use the same byte.
const TRON: Coin = Coin {
    main: Prefixes {
        versions: &[0x41],
        hrp: None,
    },
    test: Prefixes {
        versions: &[0x41],
        hrp: None,
    },
};

fn coin(coin: &Coin, address: &str, network: Network) -> Result<(), AddressError> {
    let prefixes = match network {
        Network::Main => &coin.main,
        Network::Test => &coin.test,
    };
    if segwit::claims(address) {
        segwit::check(address, prefixes.hrp)
    } else {
        base58::check(address, prefixes.versions)
    }
}

#[cfg(test)]
mod tests;
