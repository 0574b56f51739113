//! Warnings of the gateway, to be read before paying.

use florin_checkout_api::{AttemptView, Warning, WarningKind};
use leptos::prelude::*;

use super::help::names;
use crate::i18n::{I18n, use_i18n};

/// The warnings about lost money are open, the others one press away, and there the gateway's own words of all that
/// is shown in others. Each known kind is shown once, in the customer's language; any other in the gateway's words.
#[component]
pub(super) fn Warnings<'a>(attempt: &'a AttemptView) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let (severe, others): (Vec<_>, Vec<_>) = attempt
        .warnings
        .iter()
        .partition(|warning| is_severe(warning.kind));
    let severe = texts(i18n, attempt, &severe);
    let others = texts(i18n, attempt, &others);
    let count = u32::try_from(others.len()).unwrap_or(u32::MAX);
    let more = i18n.plural("warnings_more", count, &[("count", &count.to_string())]);
    let original: Vec<_> = attempt
        .warnings
        .iter()
        .filter(|warning| warning.kind != WarningKind::Other)
        .map(|warning| warning.text.clone())
        .collect();
    let original = (!original.is_empty()).then(|| {
        view! {
            <details class="original">
                <summary>{i18n.text("details")}</summary>
                <ul>{lines(original)}</ul>
            </details>
        }
    });
    let folded = if others.is_empty() {
        original.into_any()
    } else {
        view! {
            <details>
                <summary data-testid="warnings-more">{more}</summary>
                <ul>{lines(others)}</ul>
                {original}
            </details>
        }
        .into_any()
    };
    (!attempt.warnings.is_empty()).then(|| {
        view! {
            <div
                class="warnings"
                part="warnings"
                role="group"
                aria-label=i18n.text("warnings")
                data-testid="warnings"
            >
                {(!severe.is_empty()).then(|| view! { <ul>{lines(severe)}</ul> })}
                {folded}
            </div>
        }
    })
}

fn lines(texts: Vec<String>) -> Vec<AnyView> {
    let line = |text| view! { <li dir="auto">{text}</li> }.into_any();
    texts.into_iter().map(line).collect()
}

/// Returns `true` if a customer who ignores it loses money; unknown warnings count as severe.
fn is_severe(kind: WarningKind) -> bool {
    match kind {
        WarningKind::OnlyThisAsset | WarningKind::WrongNetwork | WarningKind::Other => true,
        WarningKind::Confirmations
        | WarningKind::Expiry
        | WarningKind::NetworkFee
        | WarningKind::LatePrice => false,
    }
}

/// The texts, each once: two kinds may be of one meaning.
fn texts(i18n: I18n, attempt: &AttemptView, warnings: &[&Warning]) -> Vec<String> {
    let mut texts = Vec::new();
    for warning in warnings {
        let text = match warning.kind {
            WarningKind::OnlyThisAsset | WarningKind::WrongNetwork => {
                i18n.text_with("warning_only_asset", &names(attempt))
            }
            WarningKind::Confirmations => i18n.text_with("warning_confirmations", &names(attempt)),
            WarningKind::NetworkFee => i18n.text("warning_network_fee"),
            WarningKind::Expiry | WarningKind::LatePrice => i18n.text("warning_price_expires"),
            WarningKind::Other => warning.text.clone(),
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}
