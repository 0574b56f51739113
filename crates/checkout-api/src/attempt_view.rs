//! The current try at paying an order, the gateway's warnings about it, which every customer should read before paying, and
//! quotes: the cost of an order in one asset now.

use florin_money::AmountText;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

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
    /// The same payment as a transaction for a wallet in the browser: `eth_sendTransaction`. Present for ETH, BNB and
    /// USDTERC20 exactly when `qr_string` is a payment URI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evm_transaction: Option<WalletTransaction>,
    /// The same payment as a transaction for a wallet of Tron in the browser. Present for TRX and USDTTRC20 when
    /// `qr_string` is a payment URI, and for TRX on a test network, while something is left to pay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tron_transaction: Option<WalletTransaction>,
    /// `true` if `address` and `qr_string` pass this proxy's checks. `false` for an invoice of another `environment`.
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
    /// `true` after the customer has pressed "I've sent it".
    pub marked_as_paid: bool,
    /// The transaction that the customer's wallet named when it had sent the payment: a hint and no proof. Absent once the
    /// gateway has seen a payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^(0x)?[0-9a-f]{64}$")))]
    pub transaction_hint: Option<String>,
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

/// A plain transfer, of a chain's coin or of a token by its contract; never an approval. Quantities and data are
/// hexadecimal. The proxy writes it from the checked parts of the invoice; a page passes it on unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WalletTransaction {
    /// EIP-155 number of the chain: `0x1`. Tron's is the end of its first block's id: `0x2b6653dc`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^0x[1-9a-f][0-9a-f]*$")))]
    pub chain_id: String,
    /// The `address`, or the contract of the token.
    #[cfg_attr(
        feature = "schema",
        schemars(regex(pattern = "^(0x[0-9A-Fa-f]{40}|T[1-9A-HJ-NP-Za-km-z]{33})$"))
    )]
    pub to: String,
    /// The coin in its smallest unit; `0x0` for a token.
    #[cfg_attr(
        feature = "schema",
        schemars(regex(pattern = "^0x(0|[1-9a-f][0-9a-f]*)$"))
    )]
    pub value: String,
    /// `0x` for the coin; `transfer(address,uint256)` with the `address` and the amount for a token.
    #[cfg_attr(
        feature = "schema",
        schemars(regex(pattern = "^0x(a9059cbb[0-9a-f]{128})?$"))
    )]
    pub data: String,
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

/// One warning about an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// Its subject. A page shows the `text`, and the kind decides whether it is open or folded.
    pub kind: WarningKind,
    /// The gateway's own words, in its language: at most 1000 characters.
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub text: String,
    /// The number that the text names: of confirmations for `confirmations`, of minutes for `expiry` and `late_price`.
    /// Absent when it names none or several, and for every other kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
}

/// The subject of a warning.
///
/// The proxy finds it by a few words of the text. A text with none of them is `other`. The first two
/// and `other` may be about lost money: a page shows them without a press.
///
/// Source: payment-service.md, "Invoice": `warning_messages`, which lists subjects and no sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WarningKind {
    /// Only this asset may be sent, on this network; anything else is lost.
    OnlyThisAsset,
    /// What is sent on another network is lost.
    WrongNetwork,
    /// How many confirmations complete the payment: `number`.
    Confirmations,
    /// The address is valid for `number` minutes.
    Expiry,
    /// A network fee that is too low may keep the payment from being confirmed.
    NetworkFee,
    /// The price may no longer hold for a payment that arrives late: after `number` minutes.
    LatePrice,
    /// Anything else. A kind that a page does not know is read as this one.
    #[serde(other)]
    Other,
}

/// One line of the asset choice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quote {
    /// The gateway's code: `USDTTRC20`.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::CryptoCode"))]
    pub crypto_code: String,
    /// The asset's symbol: `USDT`, at most 24 letters and digits, `_` and `-`. For an asset that
    /// Florin does not know (`unknown_asset`) it is the code.
    pub asset: String,
    /// The asset's name: `Tether`, at most 60 characters; for an unknown asset the code.
    pub asset_name: String,
    /// The network: `Tron`, at most 60 characters; empty for an unknown asset.
    pub network: String,
    /// What to send; absent when the gateway gave no usable price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_in_crypto: Option<AmountText>,
    /// The same in US dollars; absent with `amount_in_crypto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_in_usd: Option<AmountText>,
    /// The least that can be sent, in the asset; absent when the gateway states none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<AmountText>,
    /// The most that can be sent, in the asset; absent when the gateway states none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<AmountText>,
    /// `true` if it can be chosen.
    pub available: bool,
    /// Why it cannot be chosen; present exactly when `available` is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Unavailable>,
    /// What the limit that rules the asset out is worth at this price, in the order's currency; present only with
    /// `below_minimum` (the least that would do, rounded up) and `above_maximum` (the most, rounded down).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_in_order_currency: Option<AmountText>,
    /// First line of its row: `Bitcoin`, `Tether`; among the networks of one coin `USDT · Tron`.
    pub name: String,
    /// How the second line of its row begins: `BTC`, `USDT · Tron`; among the networks of one coin, what exchanges call the
    /// network. A page appends the reason, or how long a payment takes and what it costs to send.
    pub detail: String,
    /// How long a payment usually takes, in seconds: the network's pace times the confirmations that the gateway last asked
    /// for. Absent for an unknown asset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes_seconds: Option<u32>,
    /// About what the network charges the sender, in the order's currency, by the proxy's configuration; absent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee_in_order_currency: Option<AmountText>,
    /// In what it is the best of those that can be chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// The asset's glyph: the colour of its disc, the degrees by which the shape is turned, and its path in a square of 24 as
    /// SVG writes it, with a space between them: `#5566c9 0 M12 3l5.5 9z`. Absent where there is no drawing: a page shows the
    /// first letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glyph: Option<String>,
    /// `amount_in_crypto` for a list: at most six significant digits, rounded up, with the symbol after U+00A0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_shown: Option<String>,
    /// The limit that rules the asset out, with the symbol: what a text of `reason` names. Absent with other reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_shown: Option<String>,
    /// The glyph of the network's coin, on the icon's badge. Absent where the icon shows it already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub badge: Option<String>,
    /// The wallets of a browser that can pay it; absent where none can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wallet: Option<WalletKind>,
    /// `true` if the asset exists on other networks as well: the customer confirms the network first.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub confirms_network: bool,
    /// `true` if a row of its coin stands for it: a page shows it among the networks of the coin, to a search, and as the
    /// last choice.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_folded: bool,
    /// Handed back with the choice: it pins the price that was shown. The gateway gives it out: 1 to 128 visible ASCII
    /// characters.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[!-~]{1,128}$")))]
    pub quote_id: String,
    /// How long the price holds: 0 to 600, by `gateway.quote_ttl_seconds` of the proxy's configuration.
    #[cfg_attr(feature = "schema", schemars(range(max = 600)))]
    pub valid_for_seconds: u32,
}

/// In what an asset is the best of a list, where others are worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Mark {
    /// No other is shown with less time, and of those with the same none has a lower fee. All below 45 s are the same, then all of
    /// one minute or hour.
    Fastest,
    /// No other has a lower fee, and of those with the same none is shown with less time.
    LowestFee,
}

/// Which wallets of a browser can pay an asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WalletKind {
    /// Those of Ethereum's chains: EIP-1193.
    Evm,
    /// Those of Tron: TIP-1193.
    Tron,
}

/// Why an asset cannot be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Unavailable {
    /// The price is less than the asset's minimum.
    BelowMinimum,
    /// The price is more than the asset's maximum.
    AboveMaximum,
    /// The gateway states no usable price for it at present.
    NotPriced,
    /// Florin does not know this asset's network and would have to guess.
    UnknownAsset,
}
