//! An asset's icon: a coloured disc with a glyph of our own drawing, and the network's on its rim where it matters.

use leptos::prelude::*;

use super::Drawing;
use crate::format::networks::coin_of;

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
    let (class, path) = match code {
        "BTC" => ("disc btc", B),
        "BCH" => ("disc bch", B),
        "ETH" => (
            "disc eth",
            "M12 3l5.5 9L12 15.2 6.5 12zM6.5 13.4L12 21l5.5-7.6-5.5 3.2z",
        ),
        "USDT" => (
            "disc usdt",
            "M6.5 6h11v3h-4v1.6c3 .2 5 .9 5 1.7s-2 1.5-5 1.7V19h-3v-5c-3-.2-5-.9-5-1.7s2-1.5 5-1.7V9h-4z",
        ),
        "TRX" => (
            "disc trx",
            "M4.5 5.5l11 2 4 3.5L10.5 20zM7 7.5l3.6 8.6 1-6.8zM13.4 10l-.9 6 4.6-4.8z",
        ),
        "LTC" => (
            "disc ltc",
            "M10 5h3l-1.5 5.6 2-.8-.5 2-2 .8-1 3.6h6.5l-.7 2.6H6.4l1.4-5.2-1.5.6.5-2 1.5-.6z",
        ),
        "DOGE" => (
            "disc doge",
            "M8 5h4.5c4 0 6.5 2.6 6.5 7s-2.5 7-6.5 7H8v-5.8H6v-2.4h2zm3 2.6v3.2h2.2v2.4H11v3.2h1.4c2.2 0 3.5-1.6 3.5-4.4s-1.3-4.4-3.5-4.4z",
        ),
        "BNB" => (
            "disc bnb",
            "M12 4l3.6 3.6-1.8 1.8L12 7.6l-1.8 1.8-1.8-1.8zM4 12l1.8-1.8L7.6 12l-1.8 1.8zM12 10.2l1.8 1.8-1.8 1.8-1.8-1.8zM16.4 12l1.8-1.8L20 12l-1.8 1.8zM12 16.4l1.8-1.8 1.8 1.8L12 20l-3.6-3.6 1.8-1.8z",
        ),
        _ => {
            let initial = code.chars().next().map(String::from);
            return view! { <span class="disc">{initial}</span> }.into_any();
        }
    };
    view! { <Drawing class=class view_box="0 0 24 24" path=path /> }.into_any()
}

const B: &str = "M7.5 6h2V4h1.7v2h1.2V4h1.7v2.1c2 .2 3.3 1.2 3.3 2.9 0 1.2-.6 2-1.6 2.5 1.4.4 2.2 1.4 2.2 2.8 0 2.1-1.5 3.4-3.9 3.6V20h-1.7v-2h-1.2v2H9.5v-2h-2zm2.7 2.3v2.5h2.1c1.3 0 2-.4 2-1.3s-.7-1.2-2-1.2zm0 4.7v2.7h2.5c1.3 0 2.1-.4 2.1-1.4s-.8-1.3-2.1-1.3z";
