//! The checkout page with its first screen: what its address sells, in the customer's language. The list of assets needs no
//! further request.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;
use florin_checkout_api::Offer;
use florin_money::AmountText;
use maud::html;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::{Config, Store};
use crate::http::checkout::offers::{OfferQuery, limit_here, offer_of_page, offer_of_posted};
use crate::payments::view::store_view;
use crate::state::AppState;
use crate::widget_files::{self, File};

/// A page is kept for this time: the seconds for which its prices are offered are as old.
const LONGEST_KEPT_SECONDS: i64 = 5;

/// Where the built page has room for the first screen.
const ROOM: &str = r#"id="first">null<"#;

const NOSCRIPT: &str = "<noscript><p>This checkout needs JavaScript.</p></noscript>";

/// What the page sells, and which store's pages may frame it. The page's script reads the other parameters. A token comes in the
/// fragment, which no server sees, or by a form.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct PageQuery {
    /// The store's id.
    pub store: Option<String>,
    /// The product's `sku`.
    pub product: Option<String>,
    /// How many; 1 when absent.
    pub quantity: Option<String>,
    /// The donation's `id`.
    pub donation: Option<String>,
    /// What the customer gives, in the store's currency.
    pub amount: Option<String>,
    /// The language of the page around this one, BCP 47.
    pub locale: Option<String>,
    /// Present: this page frames the gateway's own page, which sends no `Cross-Origin-Embedder-Policy`.
    pub hosted: Option<String>,
    /// By a form.
    #[serde(skip)]
    pub order_token: Option<String>,
}

struct Language {
    tag: &'static str,
    list: &'static str,
    /// The path of the texts after the choice.
    payment: String,
    noscript: String,
}

static LANGUAGES: LazyLock<BTreeMap<String, Language>> = LazyLock::new(|| {
    let languages = widget_files::languages().map(|(tag, list, payment)| {
        let texts: Value = serde_json::from_str(list).unwrap_or_default();
        let noscript = texts["noscript"].as_str().unwrap_or_default().to_owned();
        let language = Language {
            tag,
            list,
            payment,
            noscript,
        };
        (tag.to_ascii_lowercase(), language)
    });
    languages.collect()
});

/// The built page with the first screen; `None` where this client has read as many as it may, and in a build without languages.
/// Pages of what the store sells are kept, compressed, so that a view costs no more than a file.
pub(crate) async fn first_page(
    app: &Arc<AppState>,
    config: &Config,
    built: &'static File,
    store: &Store,
    query: &PageQuery,
    client: Option<IpAddr>,
    headers: &HeaderMap,
) -> Option<Arc<File>> {
    let language = language_of(query.locale.as_deref(), headers)?;
    if let Some(token) = &query.order_token {
        // Without an offer, the page asks for it, and says what is wrong.
        let offer = offer_of_posted(app, store, token, client).await.ok();
        let page = rendered(built, store, offer.as_ref(), Some(token), language);
        return Some(Arc::new(page));
    }
    let offered = offered(store, query);
    let age = app.now().as_second() / LONGEST_KEPT_SECONDS;
    let place = (config.generation, age, &store.id, language.tag);
    let key = format!("{place:?} {offered:?}");
    if let Some(page) = app.first_pages.get(&key) {
        return Some(page);
    }
    limit_here(app, client).ok()?;
    let is_configured = offered
        .as_ref()
        .is_none_or(|offered| is_configured(store, offered));
    let offer = match offered {
        Some(offered) => offer_of_page(app, store, offered).await.ok(),
        None => None,
    };
    let page = Arc::new(rendered(built, store, offer.as_ref(), None, language));
    let has_prices = offer.as_ref().is_none_or(|offer| offer.quotes.is_some());
    if is_configured && has_prices {
        app.first_pages.insert(key, page.clone());
    }
    Some(page)
}

/// Returns `true` if the store's configuration has all that is named: a page with other values of a client is not kept.
fn is_configured(store: &Store, offered: &OfferQuery) -> bool {
    match (&offered.product, &offered.donation) {
        (Some(sku), None) => {
            let product = store.product(sku);
            let quantity = offered.quantity.unwrap_or(1);
            product.is_some_and(|product| quantity <= product.max_quantity)
        }
        (None, Some(id)) => {
            let donation = store.donation(id);
            let is_suggested = |amount: &AmountText| {
                let mut suggested = donation.iter().flat_map(|donation| &donation.suggested);
                suggested.any(|one| one.to_text() == *amount)
            };
            donation.is_some() && offered.amount.as_ref().is_none_or(is_suggested)
        }
        _ => false,
    }
}

/// What the address names; `None` where it names nothing, or not as the catalogue does.
fn offered(store: &Store, query: &PageQuery) -> Option<OfferQuery> {
    let quantity = query.quantity.as_deref().map(str::parse);
    let amount = query.amount.as_deref().map(AmountText::parse);
    let offered = OfferQuery {
        store: store.id.to_string(),
        product: query.product.clone(),
        quantity: quantity.transpose().ok()?.filter(|quantity| *quantity != 1),
        donation: query.donation.clone(),
        amount: amount.transpose().ok()?,
    };
    (offered.product.is_some() || offered.donation.is_some()).then_some(offered)
}

fn rendered(
    built: &File,
    store: &Store,
    offer: Option<&Offer>,
    order_token: Option<&str>,
    Language {
        tag,
        list,
        payment,
        noscript,
    }: &Language,
) -> File {
    let shown = if let Some(offer) = offer {
        format!("\"offer\":{}", json!(offer))
    } else {
        let return_url = store.cancel_url.as_ref().or(store.return_url.as_ref());
        let (store, return_url) = (json!(store_view(store)), json!(return_url));
        format!("\"store\":{store},\"return_url\":{return_url}")
    };
    // No script can read the form that its page came by.
    let token = order_token.map(|token| format!(",\"order_token\":{}", json!(token)));
    let token = token.unwrap_or_default();
    let block = format!("{{\"language\":\"{tag}\",\"words\":{list},{shown}{token}}}");
    // Nothing in the data ends its element.
    let room = ROOM.replace("null", &block.replace('<', "\\u003c"));
    let plain = html! {
        p { (store.name) }
        @if let Some(offer) = offer {
            h1 { (offer.title) }
            p { (offer.amount.as_str()) " " (offer.currency) }
        }
        p lang=(tag) dir="auto" { (noscript) }
    };
    let page = str::from_utf8(&built.whole).expect("the page is text");
    let page = page.replacen(NOSCRIPT, &format!("<noscript>{}</noscript>", plain.0), 1);
    // Address and code wait for it, as for what the built page announces.
    let preload = html! { link rel="preload" as="fetch" crossorigin href=(payment); };
    let page = page.replacen("</head>", &(preload.0 + "</head>"), 1);
    File::compressed_quickly("pay.html", page.replacen(ROOM, &room, 1))
}

/// The language file that the page's script will choose, unless the customer has chosen another one:
/// `widget/js/locale.js` decides.
fn language_of(locale: Option<&str>, headers: &HeaderMap) -> Option<&'static Language> {
    let accepted = headers.get(ACCEPT_LANGUAGE);
    let accepted = accepted.and_then(|value| value.to_str().ok());
    let ranges = accepted.unwrap_or_default().split(',');
    let tags = ranges.filter_map(|range| range.split(';').next());
    let mut tags = locale.into_iter().chain(tags.map(str::trim));
    tags.find_map(|tag| LANGUAGES.get(file_of(tag)?.as_str()))
        .or_else(|| LANGUAGES.get("en"))
}

/// The tag of a language's file in lower case. `None` for no tag.
fn file_of(tag: &str) -> Option<String> {
    let tag = tag.to_ascii_lowercase();
    let mut parts = tag.split('-');
    let language = parts.next().filter(|language| !language.is_empty())?;
    let mut parts = parts.peekable();
    let file = match language {
        "no" | "nn" => "nb",
        "pt" if parts.peek().is_some() && parts.all(|part| part != "br") => "pt-pt",
        "zh" if parts.any(|part| ["hant", "tw", "hk", "mo"].contains(&part)) => "zh-tw",
        _ => language,
    };
    Some(file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_its_file() {
        for (tag, file) in [
            ("de", Some("de")),
            ("de-CH", Some("de")),
            ("nn-NO", Some("nb")),
            ("pt", Some("pt")),
            ("pt-BR", Some("pt")),
            ("pt-AO", Some("pt-pt")),
            ("zh-CN", Some("zh")),
            ("zh-Hant-HK", Some("zh-tw")),
            ("", None),
        ] {
            assert_eq!(file_of(tag).as_deref(), file, "{tag}");
        }
    }
}
