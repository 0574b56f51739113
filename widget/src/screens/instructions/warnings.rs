//! Warnings of the gateway, to be read before paying.

use florin_checkout_api::{AttemptView, WarningKind};
use leptos::prelude::*;

use crate::i18n::use_i18n;

/// The warnings in the gateway's words: those about lost money open, the others one press away.
#[component]
pub(super) fn Warnings<'a>(attempt: &'a AttemptView) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let texts = |is_shown_open: bool| -> Vec<String> {
        let warnings = attempt.warnings.iter();
        let chosen = warnings.filter(|warning| is_severe(warning.kind) == is_shown_open);
        chosen.map(|warning| warning.text.clone()).collect()
    };
    let (severe, others) = (texts(true), texts(false));
    let count = u32::try_from(others.len()).unwrap_or(u32::MAX);
    let more = i18n.plural("warnings_more", count, &[("count", &count.to_string())]);
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
                {(!others.is_empty())
                    .then(|| {
                        view! {
                            <details>
                                <summary data-testid="warnings-more">{more}</summary>
                                <ul>{lines(others)}</ul>
                            </details>
                        }
                    })}
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
