//! Payment URIs: what a QR code and a wallet link ask a wallet to pay.
//!
//! A wallet pays what the URI says, not what the page shows. So the gateway's text is never passed
//! on: it is checked against the invoice, and the URI is written anew from the parts that passed,
//! for the amount that is due. The gateway's text is refused when it names another address, amount,
//! chain or token, or carries a parameter that is not on the list of its form. It may leave parts
//! out, down to the bare address: then it names nothing that could differ.
//!
//! Where no URI can name the payment exactly, the bare address is written: it has no wallet scheme, so a page offers no
//! link. See [`PaymentTarget::uri`].
//!
//! Source: payment-service.md, "Invoice": "payment URI form carrying the address and amount". `Assumed:` BIP-21 and
//! its likes for the coins made after Bitcoin, EIP-681 for Ethereum and BNB Chain, and for Tron, which has no standard,
//! `tron:ADDRESS?amount=…` as its wallets write it. A genuine text that is refused would disprove it.

mod forms;
mod networks;
mod text;

use florin_checkout_api::WalletTransaction;
use florin_money::{Amount, Asset};

use self::forms::{Form, Payment};
use self::text::{Parts, Units};
use crate::address::same;
use crate::error::Part;
use crate::{Network, UriError};

/// Where a payment goes, each part checked: asset, address, and how a URI names its chain and token.
///
/// Its only constructor is [`PaymentTarget::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentTarget {
    asset: Asset,
    address: String,
    form: Form,
}

impl PaymentTarget {
    /// Checks that the gateway's `qr_string` asks for `amount` of `asset` to `address`, which must have passed
    /// [`crate::check`].
    ///
    /// # Errors
    /// [`UriError`] names the first thing that differs.
    pub fn check(
        asset: Asset,
        qr_string: &str,
        address: &str,
        amount: Amount,
        network: Network,
    ) -> Result<Self, UriError> {
        let payment = Payment {
            asset,
            address,
            amount,
            network,
        };
        let is_bare = !qr_string.contains(':') && same(asset, address, qr_string);
        let parts = if is_bare {
            None
        } else {
            Some(Parts::split(qr_string)?)
        };
        let parts = parts.as_ref();
        let form = match asset {
            Asset::BTC => forms::bip21(&payment, parts, "bitcoin"),
            Asset::LTC => forms::bip21(&payment, parts, "litecoin"),
            Asset::DOGE => forms::bip21(&payment, parts, "dogecoin"),
            Asset::BCH => forms::cashaddr(&payment, parts),
            Asset::ETH | Asset::USDTERC20 | Asset::BNB => forms::eip681(&payment, parts),
            Asset::TRX | Asset::USDTTRC20 => forms::tron(&payment, parts),
            _ => Err(UriError::new(Part::Scheme, qr_string)),
        };
        Ok(Self {
            asset,
            address: address.to_owned(),
            form: form?,
        })
    }

    /// The URI that asks a wallet for exactly `amount`, written from the checked parts.
    ///
    /// The bare address where no URI can: the chain or token is not named by a text that wallets agree on, or the amount
    /// is zero or finer than the asset's smallest unit.
    pub fn uri(&self, amount: Amount) -> String {
        let written = Units::of(amount, self.asset.decimals()).and_then(|units| {
            let address = &self.address;
            match &self.form {
                Form::Bip21 { scheme } => Some(forms::write_bip21(scheme, address, units)),
                Form::CashAddr { prefix } => Some(forms::write_cashaddr(prefix, address, units)),
                Form::Eip681 { chain_id, contract } => Some(forms::write_eip681(
                    chain_id,
                    contract.as_deref(),
                    address,
                    units,
                )),
                Form::Tron { token } => Some(forms::write_tron(*token, address, units)),
                Form::TestTrx | Form::Address => None,
            }
        });
        written.unwrap_or_else(|| self.address.clone())
    }

    /// The transaction that pays exactly `amount`, written from the same checked parts as [`PaymentTarget::uri`].
    ///
    /// `None` where the chain is none of Ethereum's kind, or where the URI is the bare address.
    pub fn evm_transaction(&self, amount: Amount) -> Option<WalletTransaction> {
        let units = Units::of(amount, self.asset.decimals())?;
        forms::evm_transaction(&self.form, &self.address, units)
    }

    /// The transaction of Tron that pays exactly `amount`, written from the same checked parts.
    ///
    /// `None` for other chains, or where the URI is the bare address; TRX on a test network, which no URI names, has one.
    pub fn tron_transaction(&self, amount: Amount) -> Option<WalletTransaction> {
        let units = Units::of(amount, self.asset.decimals())?;
        forms::tron_transaction(&self.form, &self.address, units)
    }
}

#[cfg(test)]
mod tests;
