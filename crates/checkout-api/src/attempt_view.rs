//! The current try at paying an order.

use florin_money::AmountText;
use serde::{Deserialize, Serialize};

use crate::Warning;

/// One invoice of the gateway, checked by the proxy, as its customer sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttemptView {
    /// The gateway's code: `USDTTRC20`.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::CryptoCode"))]
    pub crypto_code: String,
    /// The asset's symbol: `USDT`, at most 24 letters and digits, `_` and `-`.
    pub asset: String,
    /// The network it must be sent on: `Tron`.
    pub network: String,
    /// Where to send it, in full: 26 to 90 visible ASCII characters, in the case that the gateway wrote. The proxy has
    /// checked its checksum.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[!-~]{26,90}$")))]
    pub address: String,
    /// What the QR code and the link to a wallet hold, written by the proxy: the payment URI that asks for
    /// `remaining_in_crypto` of this asset at this address, on its chain and by its token. BIP-21 for BTC, LTC, DOGE and
    /// BCH, EIP-681 with the chain's id for ETH, BNB and USDTERC20, `tron:` for TRX and USDTTRC20. The bare `address`,
    /// which is no link, where no URI names the payment exactly (USDTTRC20 when the gateway does not name the token, a
    /// test network that a URI cannot name), and when nothing is left to pay.
    pub qr_string: String,
    /// `true` if `address` and `qr_string` pass this proxy's checks. `false` for an invoice that an older proxy accepted and
    /// this one would refuse.
    #[serde(default)]
    pub verified: bool,
    /// What to send, exactly.
    pub amount_in_crypto: AmountText,
    /// The same in US dollars.
    pub amount_in_usd: AmountText,
    /// The same in the local currency of the account at the gateway, which `local_currency_code` names; it need not be
    /// the order's.
    pub amount_in_local_currency: AmountText,
    /// ISO 4217 code of `amount_in_local_currency`.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Currency"))]
    pub local_currency_code: String,
    /// What one whole unit of the asset costs at this attempt's price, in the currency of `local_currency_code`:
    /// `amount_in_local_currency` ÷ `amount_in_crypto`, rounded up to the currency's decimals, or to six significant digits
    /// where these are more decimals; at most 18. Absent when the quotient does not fit an amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_in_local_currency: Option<AmountText>,
    /// Time left to send it; 0 when it has run out. Counted by the server's clock.
    pub expires_in_seconds: u32,
    /// The lifetime of the invoice: the countdown's full length.
    pub lifetime_seconds: u32,
    /// What the gateway wants every customer to read, in its order: at most 20.
    #[cfg_attr(feature = "schema", schemars(length(max = 20)))]
    pub warnings: Vec<Warning>,
    /// `true` after the customer has pressed "I have paid".
    pub marked_as_paid: bool,
    /// What has arrived so far.
    pub received_in_crypto: AmountText,
    /// `received_in_crypto` at this attempt's price, in the currency of `local_currency_code`, rounded down to its decimals.
    /// Absent while nothing has arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_in_local_currency: Option<AmountText>,
    /// What is still missing.
    pub remaining_in_crypto: AmountText,
    /// `remaining_in_crypto` at this attempt's price, in the currency of `local_currency_code`, rounded up to its decimals.
    /// Present exactly when a part has arrived, a part is missing, and the order is not paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_in_local_currency: Option<AmountText>,
    /// What arrived beyond the price; absent unless `overpaid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess_in_crypto: Option<AmountText>,
    /// `excess_in_crypto` at this attempt's price, in the currency of `local_currency_code`, rounded down to its decimals;
    /// absent with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess_in_local_currency: Option<AmountText>,
    /// The confirmations of the transaction; absent before one is seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmations: Option<Confirmations>,
    /// The transaction's hash; absent before one is seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_hash: Option<String>,
    /// A block explorer's page of the transaction; absent in tests, whose chains no explorer knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explorer_url: Option<String>,
}

/// `count` of `required` blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Confirmations {
    /// Blocks so far; may exceed `required`.
    pub count: u32,
    /// Blocks that make the payment complete.
    pub required: u32,
}
