//! What the QR code carries: a payment URI that wallets of the chain understand.

use florin_money::AmountText;

use crate::chain::Chain;
use crate::coin::Coin;

/// The chain ids of Sepolia and of BNB Chain's test network. Source: the EIP-155 registry.
const SEPOLIA_CHAIN_ID: u32 = 11_155_111;
const BNB_TEST_CHAIN_ID: u32 = 97;

/// The URI that asks for `amount` at `address`.
///
/// Each names its test network or its token, where the form can. Source: BIP-21 for Bitcoin and its relatives, EIP-681
/// for Ethereum's; `tron:` and `solana:` have the form that wallets accept, amount in whole coins. `Assumed:` the service
/// writes these forms; the specification says only "payment URI form carrying the address and amount".
pub(crate) fn payment_uri(coin: &Coin, address: &str, amount: &AmountText) -> String {
    match coin.chain {
        Chain::Bitcoin => format!("bitcoin:{address}?amount={amount}"),
        Chain::Litecoin => format!("litecoin:{address}?amount={amount}"),
        Chain::Dogecoin => format!("dogecoin:{address}?amount={amount}"),
        // A CashAddr with its prefix is a URI already.
        Chain::BitcoinCash => format!("{address}?amount={amount}"),
        Chain::Tron => match coin.contract {
            Some(token) => format!("tron:{address}?token={token}&amount={amount}"),
            None => format!("tron:{address}?amount={amount}"),
        },
        Chain::Solana => format!("solana:{address}?amount={amount}"),
        Chain::Ethereum => {
            let units = smallest_units(amount, coin.decimals);
            match coin.contract {
                Some(contract) => format!(
                    "ethereum:{contract}@{SEPOLIA_CHAIN_ID}/transfer?address={address}&uint256={units}"
                ),
                None => format!("ethereum:{address}@{SEPOLIA_CHAIN_ID}?value={units}"),
            }
        }
        Chain::Bnb => {
            let units = smallest_units(amount, coin.decimals);
            format!("ethereum:{address}@{BNB_TEST_CHAIN_ID}?value={units}")
        }
    }
}

/// The amount in units of 10^-`decimals`, as a whole number. The amount has no more decimals than that.
fn smallest_units(amount: &AmountText, decimals: u32) -> String {
    let (whole, fraction) = amount
        .as_str()
        .split_once('.')
        .unwrap_or((amount.as_str(), ""));
    let width = usize::try_from(decimals).expect("an asset has a few decimals");
    let digits = format!("{whole}{fraction:0<width$}");
    match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        units => units.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use florin_money::Asset;

    use super::*;

    fn uri(asset: Asset, address: &str, amount: &str) -> String {
        let coins = crate::coin::offered(false);
        let coin = coins.iter().find(|coin| coin.code == asset.crypto_code());
        payment_uri(coin.unwrap(), address, &AmountText::parse(amount).unwrap())
    }

    #[test]
    fn bitcoin_and_its_relatives_follow_bip_21() {
        assert_eq!(
            uri(Asset::BTC, "tb1q", "0.00031"),
            "bitcoin:tb1q?amount=0.00031"
        );
        assert_eq!(
            uri(Asset::LTC, "tltc1q", "0.5"),
            "litecoin:tltc1q?amount=0.5"
        );
        assert_eq!(uri(Asset::DOGE, "n1", "60.00"), "dogecoin:n1?amount=60.00");
        assert_eq!(uri(Asset::BCH, "bchtest:q", "1"), "bchtest:q?amount=1");
    }

    #[test]
    fn ether_is_asked_for_in_wei_of_its_test_network() {
        assert_eq!(
            uri(Asset::ETH, "0xA", "1.05"),
            "ethereum:0xA@11155111?value=1050000000000000000"
        );
        assert_eq!(
            uri(Asset::ETH, "0xA", "0.00000001"),
            "ethereum:0xA@11155111?value=10000000000"
        );
    }

    #[test]
    fn bnb_names_its_chain_so_that_no_ether_is_sent() {
        assert_eq!(
            uri(Asset::BNB, "0xA", "2"),
            "ethereum:0xA@97?value=2000000000000000000"
        );
    }

    #[test]
    fn a_token_is_a_transfer_by_its_contract() {
        assert_eq!(
            uri(Asset::USDTERC20, "0xA", "19.90"),
            "ethereum:0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0@11155111/transfer?address=0xA&uint256=19900000"
        );
    }

    #[test]
    fn tron_names_the_token_of_its_test_network() {
        assert_eq!(
            uri(Asset::USDTTRC20, "TA", "19.90"),
            "tron:TA?token=TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf&amount=19.90"
        );
        assert_eq!(uri(Asset::TRX, "TA", "55.5"), "tron:TA?amount=55.5");
    }

    #[test]
    fn nothing_is_zero_units() {
        assert_eq!(smallest_units(&AmountText::parse("0.00").unwrap(), 6), "0");
    }
}
