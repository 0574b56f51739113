//! An order as its customer sees it. Pure: a snapshot, the store, the time.

use florin_address::Network;
use florin_checkout_api::{
    AttemptView, BlockedReason, Confirmations, Environment, FailureReason, LineView, OrderView,
    OwedIn, StoreView,
};
use florin_money::{Amount, Asset, Rounding};
use florin_orders::{
    Attempt, Destination, Invoice, Order, OrderLine, OrderStatus, PaymentState, PriceSource,
    Snapshot,
};
use jiff::{SignedDuration, Timestamp};
use url::Url;

use crate::config::Store;
use crate::payments::{checks, quotes, warning_views};

/// How often a page asks while a payment is expected, while one is confirming, and once it is over.
const POLL_EXPECTING_SECONDS: u32 = 3;
const POLL_CONFIRMING_SECONDS: u32 = 5;
const POLL_OVER_SECONDS: u32 = 30;
/// The same once it is paid, where the stream of events is the faster way and this one the safeguard.
const POLL_PAID_SECONDS: u32 = 60;
/// How long after its credit a paid order is still updated: a second payment is most likely one that was under way when
/// the first one was credited. Every stream and every page asks for nothing more after that; reloaded, it shows what came
/// later.
const PAID_IS_FOLLOWED_FOR: SignedDuration = SignedDuration::from_hours(1);
/// Shown as required until the gateway states its own number.
pub(crate) const REQUIRED_CONFIRMATIONS: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewContext<'a> {
    pub store: &'a Store,
    /// Where the gateway's page must be; absent when no order is paid there.
    pub checkout_url: Option<&'a Url>,
    pub environment: Environment,
    pub network: Network,
    pub generation: u64,
    /// `true` while payments are found later than planned.
    pub delayed: bool,
    pub now: Timestamp,
}

pub(crate) fn view(snapshot: &Snapshot, context: ViewContext<'_>) -> OrderView {
    let Snapshot { order, attempt } = snapshot;
    let status = order.status;
    let shown = attempt
        .as_ref()
        .and_then(|attempt| Some((attempt, attempt.invoice()?)));
    let shown = shown.filter(|(_, invoice)| {
        status != OrderStatus::Blocked && invoice.payment_state != PaymentState::AddressChanged
    });
    let observed_at = shown.and_then(|(_, invoice)| invoice.observed_at);
    OrderView {
        id: order.id.to_string(),
        version: u32::try_from(order.version).unwrap_or(u32::MAX),
        environment: context.environment,
        store: store_view(context.store),
        title: order.terms.title.clone(),
        lines: order.terms.lines.iter().map(line_view).collect(),
        amount: order.terms.amount.to_text(),
        currency: order.terms.currency.to_string(),
        status,
        failure_reason: (status == OrderStatus::Failed).then(|| failure_reason(attempt.as_ref())),
        blocked_reason: (status == OrderStatus::Blocked).then(|| blocked_reason(attempt.as_ref())),
        flow: order.terms.flow,
        payment_process_url: hosted_page(snapshot, context.checkout_url, context.now),
        paid_at: order
            .settled_at
            .filter(|_| status.is_settled())
            .map(|at| at.to_string()),
        reverted: order.reverted.is_some(),
        late_payment: order.late_payment,
        attempt: shown
            .and_then(|(attempt, invoice)| attempt_view(order, attempt, invoice, context)),
        email_kept: order.receipt_email.is_some(),
        email_required: requires_email(order, context.store),
        owed_in: owed_in(snapshot).map(|asset| OwedIn {
            asset: asset.symbol().to_owned(),
            network: asset.network().to_owned(),
        }),
        refund_address: order.refund_address.clone(),
        return_url: return_url(order, context.store),
        can_open_attempt: order.takes_attempts(context.now),
        delayed: context.delayed && !status.is_settled(),
        next_poll_seconds: next_poll_seconds(status, order, context.now),
        checked_seconds_ago: observed_at.map(|at| whole_seconds(context.now, at)),
        as_of: context.now.to_string(),
    }
}

/// The asset in which the store owes money; `None` while it owes none, and for an unknown asset.
pub(crate) fn owed_in(snapshot: &Snapshot) -> Option<Asset> {
    Asset::of(snapshot.owed_in()?)
}

fn requires_email(order: &Order, store: &Store) -> bool {
    let sku = order.terms.metadata.get("sku");
    let product = sku.and_then(|sku| store.product(sku.as_str()?));
    order.terms.price_source == PriceSource::Catalogue
        && product.is_some_and(|product| product.asks_for_email)
        && order.receipt_email.is_none()
        && !order.status.is_settled()
}

pub(crate) fn line_view(line: &OrderLine) -> LineView {
    LineView {
        title: line.title.clone(),
        kind: line.kind,
        quantity: line.quantity,
        unit_amount: line.unit_amount.map(Amount::to_text),
        amount: line.signed_amount(),
        image_url: line.image_url.clone(),
    }
}

pub(crate) fn store_view(store: &Store) -> StoreView {
    let tokens = store.theme_tokens.iter();
    StoreView {
        id: store.id.to_string(),
        name: store.name.clone(),
        support_url: store.support_url.clone(),
        logo_url: store.logo_url.as_ref().map(ToString::to_string),
        theme: store.theme.clone(),
        theme_tokens: tokens
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
    }
}

/// The gateway's page, until the session expires, and while a payment is on its way. `None` for a page outside the gateway's
/// checkout address.
pub(crate) fn hosted_page(
    snapshot: &Snapshot,
    checkout_url: Option<&Url>,
    now: Timestamp,
) -> Option<String> {
    let invoice = snapshot.attempt.as_ref()?.invoice()?;
    let is_live = match snapshot.order.status {
        OrderStatus::AwaitingPayment => now < invoice.expires_at,
        OrderStatus::Checking | OrderStatus::Processing | OrderStatus::Underpaid => true,
        _ => false,
    };
    let page = invoice.page().filter(|_| is_live)?;
    checks::is_gateways_page(page, checkout_url?).then(|| page.to_string())
}

/// Until when a paid order is updated; `None` for one that is not paid.
pub(crate) fn updates_until(order: &Order) -> Option<Timestamp> {
    let settled_at = order.settled_at.filter(|_| order.status.is_settled())?;
    Some(settled_at + PAID_IS_FOLLOWED_FOR)
}

pub(crate) fn is_updated(order: &Order, now: Timestamp) -> bool {
    updates_until(order).is_none_or(|until| now < until)
}

fn failure_reason(attempt: Option<&Attempt>) -> FailureReason {
    match attempt.and_then(Attempt::invoice) {
        Some(invoice) if invoice.was_seen => FailureReason::NotCompleted,
        _ => FailureReason::NothingReceived,
    }
}

fn blocked_reason(attempt: Option<&Attempt>) -> BlockedReason {
    match attempt.and_then(Attempt::invoice) {
        Some(invoice) if invoice.payment_state == PaymentState::AddressChanged => {
            BlockedReason::AddressChanged
        }
        _ => BlockedReason::InvoiceRejected,
    }
}

fn attempt_view(
    order: &Order,
    attempt: &Attempt,
    invoice: &Invoice,
    context: ViewContext<'_>,
) -> Option<AttemptView> {
    let terms = attempt.terms.custom()?;
    let Destination::Address {
        address,
        qr_string,
        warnings,
    } = &invoice.destination
    else {
        return None;
    };
    let asset = Asset::of(&terms.crypto_code);
    let requested = terms.requested.amounts;
    let received = invoice.progress.received.crypto;
    let excess = received
        .checked_sub(requested.crypto)
        .ok()
        .filter(|excess| !excess.is_zero());
    let remaining = requested
        .crypto
        .checked_sub(received)
        .unwrap_or(Amount::ZERO);
    // In a paid order, a remaining amount within the store's tolerance is not due.
    let due = if order.status.is_settled() {
        Amount::ZERO
    } else {
        remaining
    };
    // The row may hold an invoice of another network.
    let target = asset
        .and_then(|asset| checks::target(asset, terms, address, qr_string, context.network).ok());
    let written = target.as_ref();
    let is_partly_paid = !received.is_zero() && !due.is_zero();
    // Received and missing parts never add up to more than the price.
    let in_local = |part, rounding| {
        quotes::in_local_currency(&terms.requested, part, rounding).map(Amount::to_text)
    };
    let excess = excess.filter(|_| order.status == OrderStatus::Overpaid);
    let was_seen = invoice.progress.has_payment();
    let (count, required) = invoice
        .progress
        .confirmations
        .unwrap_or((0, REQUIRED_CONFIRMATIONS));
    Some(AttemptView {
        crypto_code: terms.crypto_code.to_string(),
        asset: asset.map_or_else(|| terms.crypto_code.to_string(), |a| a.symbol().to_owned()),
        network: asset
            .map(|asset| asset.network().to_owned())
            .unwrap_or_default(),
        address: address.clone(),
        verified: target.is_some(),
        evm_transaction: written.and_then(|target| target.evm_transaction(due)),
        tron_transaction: written.and_then(|target| target.tron_transaction(due)),
        qr_string: target.map_or_else(|| address.clone(), |target| target.uri(due)),
        amount_in_crypto: requested.crypto.to_text(),
        amount_in_usd: requested.usd.to_text(),
        amount_in_local_currency: requested.local.to_text(),
        local_currency_code: terms.requested.local_currency.to_string(),
        rate_in_local_currency: quotes::rate(&terms.requested).map(Amount::to_text),
        expires_in_seconds: seconds_left(invoice, context.now),
        lifetime_seconds: whole_seconds(invoice.expires_at, invoice.opened_at),
        warnings: warning_views(warnings),
        marked_as_paid: invoice.marked_as_paid_at.is_some(),
        transaction_hint: invoice
            .transaction_hint
            .as_ref()
            .filter(|_| !was_seen)
            .map(ToString::to_string),
        received_in_crypto: received.to_text(),
        received_in_local_currency: Some(received)
            .filter(|some| !some.is_zero())
            .and_then(|received| in_local(received, Rounding::Down)),
        remaining_in_crypto: remaining.to_text(),
        remaining_in_local_currency: Some(remaining)
            .filter(|_| is_partly_paid)
            .and_then(|remaining| in_local(remaining, Rounding::Up)),
        excess_in_crypto: excess.map(Amount::to_text),
        excess_in_local_currency: excess.and_then(|excess| in_local(excess, Rounding::Down)),
        confirmations: was_seen.then_some(Confirmations { count, required }),
        transaction_hash: invoice.progress.transaction_hash.clone(),
        explorer_url: explorer_url(asset, invoice, context.environment),
    })
}

/// Where the customer goes from here: the order's own address, else the store's, with the order's id and no status. From an
/// order that is not paid it is `cancel_url`, if there is one.
fn return_url(order: &Order, store: &Store) -> Option<String> {
    let terms = &order.terms;
    let cancel_url = terms.cancel_url.as_ref().or(store.cancel_url.as_ref());
    let cancel_url = cancel_url.filter(|_| !order.status.is_settled());
    let base = cancel_url
        .or(terms.return_url.as_ref())
        .or(store.return_url.as_ref())?;
    let mut url = Url::parse(base).ok()?;
    url.query_pairs_mut()
        .append_pair("order_id", order.id.as_str());
    Some(url.into())
}

fn next_poll_seconds(status: OrderStatus, order: &Order, now: Timestamp) -> Option<u32> {
    match status {
        OrderStatus::AwaitingPayment | OrderStatus::Checking => Some(POLL_EXPECTING_SECONDS),
        OrderStatus::Processing | OrderStatus::Underpaid => Some(POLL_CONFIRMING_SECONDS),
        // Nothing can move but by the customer's choice; a payment may still arrive on an older attempt.
        OrderStatus::Open if now < order.terms.expires_at => Some(POLL_OVER_SECONDS),
        OrderStatus::Paid | OrderStatus::Overpaid if is_updated(order, now) => {
            Some(POLL_PAID_SECONDS)
        }
        OrderStatus::Open | OrderStatus::Paid | OrderStatus::Overpaid => None,
        OrderStatus::Failed
        | OrderStatus::Cancelled
        | OrderStatus::Expired
        | OrderStatus::Blocked => Some(POLL_OVER_SECONDS),
    }
}

/// Public explorers of main networks. Test chains are the sandbox's own, which no explorer knows.
fn explorer_url(
    asset: Option<Asset>,
    invoice: &Invoice,
    environment: Environment,
) -> Option<String> {
    let hash = invoice.progress.transaction_hash.as_deref()?;
    let is_plain = hash.bytes().all(|b| b.is_ascii_alphanumeric());
    if environment == Environment::Test || !is_plain {
        return None;
    }
    asset.map(|asset| asset.explorer_url(hash))
}

/// Seconds until an invoice runs out; never more than it lives, also when this machine's clock was set back.
pub(crate) fn seconds_left(invoice: &Invoice, now: Timestamp) -> u32 {
    let lifetime = whole_seconds(invoice.expires_at, invoice.opened_at);
    whole_seconds(invoice.expires_at, now).min(lifetime)
}

/// Whole seconds from `earlier` to `later`; 0 when that is not ahead.
pub(crate) fn whole_seconds(later: Timestamp, earlier: Timestamp) -> u32 {
    u32::try_from(later.duration_since(earlier).as_secs().max(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use florin_orders::fixtures;

    use super::*;

    #[test]
    fn a_page_is_handed_out_while_it_is_live_and_the_gateways() {
        let mut snapshot = Snapshot {
            order: fixtures::order(OrderStatus::AwaitingPayment),
            attempt: Some(fixtures::hosted(1)),
        };
        let handed_out = |snapshot: &Snapshot, checkout_url: &str, second| {
            let checkout_url = Url::parse(checkout_url).ok();
            hosted_page(snapshot, checkout_url.as_ref(), fixtures::at(second))
        };
        let page = Some("https://checkout.example/?id=inv_1".to_owned());
        let gateways = "https://checkout.example";
        assert_eq!(handed_out(&snapshot, gateways, 3599), page);
        assert_eq!(handed_out(&snapshot, gateways, 3600), None);
        // The address was configured anew, or is no longer configured.
        for elsewhere in [
            "https://other.example",
            "http://checkout.example",
            "https://checkout.example/pay",
            "",
        ] {
            assert_eq!(handed_out(&snapshot, elsewhere, 10), None, "{elsewhere}");
        }
        snapshot.order.status = OrderStatus::Paid;
        assert_eq!(handed_out(&snapshot, gateways, 10), None);
    }

    #[test]
    fn no_more_time_is_shown_than_an_invoice_has() {
        let invoice = fixtures::invoice(1);
        for (now, left) in [(0, 900), (300, 600), (900, 0), (2000, 0), (-3600, 900)] {
            assert_eq!(seconds_left(&invoice, fixtures::at(now)), left, "{now}");
        }
    }
}
