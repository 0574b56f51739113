//! An asset's icon: a coloured disc with a glyph of our own drawing, and the network's on its rim where it matters.

use leptos::prelude::*;

use super::Drawing;
use crate::format::networks::coin_of;
use crate::state::use_checkout;

/// The icon of an asset on a network. `several`: the asset exists on other networks as well, so that this one shows.
#[component]
pub(crate) fn AssetIcon<'a>(
    asset: &'a str,
    network: &'a str,
    several: bool,
) -> impl IntoView + use<> {
    let coin = coin_of(network);
    // A network that is not known has a letter for its badge, which may be the asset's.
    let is_repeated =
        coin == asset || (coin == network && coin.chars().next() == asset.chars().next());
    let badge = (several && !network.is_empty() && !is_repeated)
        .then(|| view! { <span class="badge">{disc(coin)}</span> });
    view! {
        <span class="coin" aria-hidden="true">
            {disc(asset)}
            {badge}
        </span>
    }
}

fn disc(code: &str) -> AnyView {
    let glyph = use_checkout()
        .shared()
        .and_then(|shared| shared.host.glyph(code));
    if let Some(path) = glyph {
        let class = format!("disc {}", code.to_ascii_lowercase());
        view! { <Drawing class=class view_box="0 0 24 24" path=path /> }.into_any()
    } else {
        let initial = code.chars().next().map(String::from);
        view! { <span class="disc">{initial}</span> }.into_any()
    }
}
