//! What needs a person: the causes of orders with their texts, and what is wrong with the proxy itself at present: its
//! database, the gateway, its clock, its configuration. The operator's first page shows both.

use florin_gateway_client::Health;
use florin_orders::AttentionCause;
use florin_storage::Totals;
use jiff::SignedDuration;
use strum::VariantArray;

use crate::admin::pages::duration;
use crate::clock::MAX_SKEW;
use crate::payments::payable::unpriced;
use crate::state::AppState;

/// The first words about a cause, and what it means and what to do: the sentences of docs/operations/operators-page.md.
pub(crate) fn texts(cause: AttentionCause) -> (&'static str, &'static str) {
    match cause {
        AttentionCause::NeedsReview => (
            "Response needs review",
            "The gateway's latest response is unclear or contradicts what was requested. Nothing is credited by it. \
             Compare both columns, ask the gateway's support with the invoice id, then decide.",
        ),
        AttentionCause::AddressChanged => (
            "Address changed",
            "The gateway named another address than the one that the customer saw. Nothing is credited by this \
             invoice, whatever the gateway reports. Find out from the gateway which address it pays out from.",
        ),
        AttentionCause::Blocked => (
            "Invoice blocked",
            "An invoice of the gateway did not pass the checks of its address or QR code. The customer saw no address \
             and can choose again. The log line \"the gateway's invoice is not shown\" has its id and the reason: \
             report both to the gateway.",
        ),
        AttentionCause::Underpaid => (
            "Underpaid",
            "The gateway completed the payment with less than the price. Ask the customer for the rest, which is \
             found by itself; or accept what came; or resolve the entry and refund it.",
        ),
        AttentionCause::EndedWithMoney => (
            "Ended with money",
            "Money arrived, and then the order ended without a credit. Ask the gateway where the money is, then accept the order, or resolve the entry and refund the customer.",
        ),
        AttentionCause::Reverted => (
            "Credit contradicted",
            "The order is credited, and the gateway contradicts that now. The order stays paid. Ship nothing more \
             before the gateway has explained it.",
        ),
        AttentionCause::LatePayment => (
            "Paid late",
            "The payment came after the invoice had expired. It covered the amounts of that invoice and was credited; \
             the asset may be worth less by now. Resolve the entry once you have decided to ship.",
        ),
        AttentionCause::SecondPayment => (
            "Money owed: paid again",
            "More money arrived for an order that is paid or closed. Refund it or agree with the customer on what it \
             is for, then resolve the entry.",
        ),
        AttentionCause::Overpaid => (
            "Money owed: overpaid",
            "More than the price arrived, and the order is paid. Refund what exceeds it or agree with the customer on \
             what it is for, then resolve the entry.",
        ),
    }
}

pub(crate) const DISABLED_WEBHOOK: &str = "The store's endpoint answered 410 Gone. Events wait, and none is lost. Once it is repaired, enable the webhook.";

pub(crate) const GIVEN_UP_EVENT: &str = "The store accepted it in none of ten tries over three days. Repair the endpoint, then redeliver.";

/// Polls that are later than this are late for a customer who waits.
pub(crate) const MAX_LAG: SignedDuration = SignedDuration::from_mins(1);
/// Events that wait for longer are reported.
const MAX_EVENT_AGE: SignedDuration = SignedDuration::from_mins(1);
/// Of the connections that the public listener may hold, in percent.
const MOST_CONNECTIONS: u64 = 80;
/// Less room on the database's volume is reported.
const LEAST_FREE_BYTES: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub(crate) enum Condition {
    StorageFails,
    KeyRejected,
    CurrencyNotPriced,
    GatewayAway,
    GatewayPause,
    PollsLate,
    EventsWait,
    ConnectionsFull,
    DiskFillsUp,
    ReloadRefused,
    ClockOff,
    UnnamedReverseProxy,
}

#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) condition: Condition,
    /// Its reason or its extent; empty if the sentence says all.
    pub(crate) detail: String,
}

impl Condition {
    /// Its first words, what it means and what to do (the sentences of docs/operations/operators-page.md), and the page of the
    /// documentation.
    pub(crate) fn texts(self) -> [&'static str; 3] {
        match self {
            Self::StorageFails => [
                "Orders cannot be stored",
                "Customers cannot open orders, and payments are found afterwards. No order, event or credit is \
                 lost. Do what the reason says.",
                "docs/operations/running.md#full-disk",
            ],
            Self::KeyRejected => [
                "The gateway rejects the key",
                "It answers 401. Customers cannot choose an asset, and payments are found later. Compare \
                 gateway.api_key and gateway.api_secret with the account, correct them, and reload.",
                "docs/operations/rotating-keys.md#the-gateways-key-and-secret",
            ],
            Self::CurrencyNotPriced => [
                "The gateway does not price a store's currency",
                "No order in it can be paid. Write a currency that the gateway's account prices and reload, or \
                 let the gateway change the account's local currency.",
                "docs/guide/stores.md#currencies",
            ],
            Self::GatewayAway => [
                "The gateway does not answer",
                "Customers cannot choose an asset, and payments are found later; none is lost. Check the network \
                 and the gateway's status.",
                "docs/operations/gateway.md#failures",
            ],
            Self::GatewayPause => [
                "The gateway asks for a pause",
                "Nothing is sent to it meanwhile. If it comes often or lasts long, ask the gateway for a higher \
                 limit, or whether it blocks the account.",
                "docs/operations/gateway.md#request-budget",
            ],
            Self::PollsLate => [
                "Polls are late",
                "Payments are found later. If the gateway answers, ask it for a higher limit and raise \
                 gateway.requests_per_second.",
                "docs/operations/gateway.md#polling",
            ],
            Self::EventsWait => [
                "Events wait for a store",
                "They were not delivered, and the store may not know that customers have paid. The time line of \
                 one of its orders has the responses of the store, and Stores sends a test event.",
                "docs/reference/webhooks.md",
            ],
            Self::ConnectionsFull => [
                "Connections run out",
                "Those that send nothing are closed to serve customers. Raise LimitNOFILE, or limit connections \
                 in the reverse proxy.",
                "docs/operations/running.md#open-files-and-connections",
            ],
            Self::DiskFillsUp => [
                "The disk fills up",
                "Free space on the database's volume, or make it larger.",
                "docs/operations/data-retention.md",
            ],
            Self::ReloadRefused => [
                "The configuration was not reloaded",
                "The one before is in force, whole. Correct what the reason names, and reload.",
                "docs/operations/running.md#reload",
            ],
            Self::ClockOff => [
                "The clocks differ",
                "Nonces follow the gateway's clock. Set the clock of this machine by NTP, and with PostgreSQL \
                 that of its server: orders expire by it, and stores refuse webhooks that seem older than five \
                 minutes.",
                "docs/operations/gateway.md#clock-and-nonces",
            ],
            Self::UnnamedReverseProxy => [
                "A reverse proxy is not named",
                "It sends X-Forwarded-For and is not in trusted_proxies: no client address is known, and the \
                 limits for one address do nothing. Add it.",
                "docs/operations/rate-limits.md#choices",
            ],
        }
    }
}

/// Returns what is wrong now. `totals` are missing while the database cannot be read.
pub(crate) fn conditions(app: &AppState, totals: Option<&Totals>) -> Vec<Finding> {
    let health = app.gateway.health();
    let conditions = Condition::VARIANTS.iter();
    let found = conditions.filter_map(|condition| {
        let detail = detail(app, &health, totals, *condition)?;
        Some(Finding {
            condition: *condition,
            detail,
        })
    });
    found.collect()
}

/// Returns the reason or the extent of a condition, or `None` if all is well.
fn detail(
    app: &AppState,
    health: &Health,
    totals: Option<&Totals>,
    condition: Condition,
) -> Option<String> {
    let nothing = String::new;
    match condition {
        Condition::StorageFails => app.storage_health.reason(),
        Condition::KeyRejected => health.is_key_rejected.then(nothing),
        Condition::CurrencyNotPriced => {
            let found = unpriced(&app.config(), &app.prices.currencies()).into_iter();
            let found = found.map(|it| format!("{}: {}.", it.problem.key, it.problem.message));
            let found: Vec<String> = found.collect();
            (!found.is_empty()).then(|| found.join(" "))
        }
        Condition::GatewayAway => app.gateway_unavailable().then(nothing),
        Condition::GatewayPause => {
            let seconds = health.pause.as_secs();
            (seconds > 0).then(|| format!("{seconds} s are left."))
        }
        Condition::PollsLate => {
            let lag = app.polling_pace().lag;
            (lag > MAX_LAG).then(|| format!("The longest waiting one is {} s late.", lag.as_secs()))
        }
        // While nothing can be stored, nothing is delivered.
        Condition::EventsWait if app.storage_health.reason().is_some() => None,
        Condition::EventsWait => {
            let now = app.now();
            let late = totals?.outboxes.iter().filter_map(|outbox| {
                let oldest = outbox.oldest_at.filter(|_| !outbox.is_disabled)?;
                let is_late = now.duration_since(oldest) > MAX_EVENT_AGE;
                let waiting = outbox.waiting;
                is_late.then(|| {
                    format!(
                        "{}, {}: {waiting}, the oldest happened {} ago.",
                        outbox.store_id,
                        outbox.webhook,
                        duration(oldest, now)
                    )
                })
            });
            let late: Vec<String> = late.collect();
            (!late.is_empty()).then(|| late.join(" "))
        }
        Condition::ConnectionsFull => {
            let counts = app.public_slots.get()?.counts();
            let is_full = counts.open * 100 >= counts.limit * MOST_CONNECTIONS;
            is_full.then(|| format!("{} of {} are open.", counts.open, counts.limit))
        }
        Condition::DiskFillsUp => {
            let free = totals?.free_bytes?;
            (free < LEAST_FREE_BYTES).then(|| format!("{} MB are left.", free / 1_000_000))
        }
        Condition::ReloadRefused => app.refused_reload.lock().clone(),
        Condition::ClockOff => {
            let skew = health.skew.filter(|skew| skew.abs() > MAX_SKEW)?;
            let side = if skew.is_negative() {
                "behind"
            } else {
                "ahead"
            };
            Some(format!(
                "The gateway's is {} s {side}.",
                skew.abs().as_secs()
            ))
        }
        Condition::UnnamedReverseProxy => {
            let has_unnamed = app.address_notices.lock().has_unnamed_proxy;
            has_unnamed.then(nothing)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(page: &str) -> String {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        std::fs::read_to_string(format!("{root}/{page}")).unwrap()
    }

    #[test]
    fn the_page_of_the_documentation_has_the_sentences() {
        let page = read("docs/operations/operators-page.md");
        let causes = AttentionCause::VARIANTS.iter().map(|cause| texts(*cause));
        let others = [
            ("Disabled webhook", DISABLED_WEBHOOK),
            ("Event given up", GIVEN_UP_EVENT),
        ];
        let conditions = Condition::VARIANTS.iter();
        let conditions = conditions.map(|condition| condition.texts());
        let conditions = conditions.map(|[title, sentence, _]| (title, sentence));
        for (kind, texts) in [
            ("entry", causes.chain(others).collect::<Vec<_>>()),
            ("condition", conditions.collect()),
        ] {
            let rows = texts.iter();
            let rows = rows.map(|(title, sentence)| format!("| {title} | {sentence} |\n"));
            let rows = rows.collect::<String>();
            let table = format!("| {kind} | sentence |\n|---|---|\n{rows}");
            assert!(page.contains(&table), "the page needs this:\n\n{table}");
        }
    }

    #[test]
    fn each_condition_leads_to_a_section_of_the_documentation() {
        for [_, _, page] in Condition::VARIANTS
            .iter()
            .map(|condition| condition.texts())
        {
            let (file, section) = page.split_once('#').unwrap_or((page, ""));
            let text = read(file);
            let mut headings = text.lines().filter(|line| line.starts_with('#'));
            let is_named = |heading: &str| {
                let heading = heading.trim_start_matches('#').trim().to_lowercase();
                heading.replace(' ', "-").replace('\'', "") == section
            };
            assert!(section.is_empty() || headings.any(is_named), "{page}");
        }
    }
}
