//! The checks of one store.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ledger::StoreId;
use money::{Amount, Currency};
use secrecy::ExposeSecret as _;
use url::Host;

use super::check::{Findings, MIN_GUESSABLE_CHARS};
use super::check_donation::donations;
use super::check_theme::theme;
use super::check_token_keys::token_keys;
use super::secret::secret;
use super::source::{OneOrMore, ProductTable, StoreTable, WebhookTable};
use super::web_address::{is_loopback, web_address};
use super::{Origin, Product, Store, Webhook, images};
use crate::webhooks::{WebhookSecret, WebhookSecrets};

/// Bytes of a webhook secret. Source: Standard Webhooks 1.0.0, "Signature scheme": between 24 and 64.
const WEBHOOK_SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// One in use, and the one before it.
const MAX_WEBHOOK_SECRETS: usize = 2;

/// Checks a store, all of it.
pub(super) fn store(findings: &mut Findings, table: StoreTable, is_test: bool) -> Option<Store> {
    let key = |name: &str| format!("store.{}.{name}", table.id);
    let id = StoreId::parse(&table.id).map_err(|error| error.to_string());
    let id = findings.take(&key("id"), id);
    let currency = Currency::parse(table.currency.as_deref().unwrap_or("USD"));
    let currency = findings.take(
        &key("currency"),
        currency.map_err(|error| error.to_string()),
    );
    let mut origins = Vec::new();
    for text in &table.origins {
        origins.extend(findings.take(&key("origins"), origin(text)));
    }
    let logo_url = table.logo_url.as_deref();
    let logo_url = logo_url.map(|text| images::picture(text, is_test));
    let logo_url = findings.take(&key("logo_url"), logo_url.transpose());
    let mut image_origins = Vec::new();
    for text in &table.image_origins {
        let found = images::picture(text, is_test).and_then(|_| origin(text));
        image_origins.extend(findings.take(&key("image_origins"), found));
    }
    let secret_key = if table.secret_key.is_some() || table.secret_key_file.is_some() {
        let found = secret(table.secret_key, table.secret_key_file, MIN_GUESSABLE_CHARS);
        findings.take(&key("secret_key"), found)
    } else {
        None
    };
    let token_keys = token_keys(findings, &table.id, table.token_keys);
    for (name, link) in [
        ("return_url", &table.return_url),
        ("support_url", &table.support_url),
    ] {
        if let Some(text) = link {
            findings.take(&key(name), link_address(text, name == "support_url"));
        }
    }
    let tolerance = Amount::parse(table.underpayment_tolerance.as_deref().unwrap_or("0"));
    let tolerance = findings.take(
        &key("underpayment_tolerance"),
        tolerance.map_err(|error| error.to_string()),
    );
    let confirmations_required = table.confirmations_required.unwrap_or(3);
    if !(1..=100).contains(&confirmations_required) {
        findings.add(&key("confirmations_required"), "write 1 to 100 blocks");
    }
    let merchant_id = table.merchant_id.map(merchant_id).transpose();
    let merchant_id = findings.take(&key("merchant_id"), merchant_id);
    let (theme, theme_tokens) = theme(findings, &table.id, table.theme);
    let webhook = table.webhook.and_then(|hook| {
        let found = webhook(hook, is_test);
        findings.take(&key("webhook"), found)
    });
    let mut products = Vec::new();
    for product in table.product {
        let sku_key = key(&format!("product.{}", product.sku));
        let found = currency.ok_or_else(String::new).and_then(|currency| {
            if let Some(image) = &product.image_url {
                images::admitted(&image_origins, image)
                    .map_err(|message| format!("image_url: {message}"))?;
            }
            self::product(product, currency, tolerance.unwrap_or(Amount::ZERO))
        });
        let found = findings.take(&sku_key, found);
        products.extend(found);
    }
    for (n, product) in products.iter().enumerate() {
        if products[..n]
            .iter()
            .any(|earlier: &Product| earlier.sku == product.sku)
        {
            findings.add(
                &key(&format!("product.{}", product.sku)),
                "there are two of this sku",
            );
        }
    }
    let donations = donations(findings, &table.id, table.donation, currency);
    Some(Store {
        name: table.name.unwrap_or_else(|| table.id.clone()),
        id: id?,
        origins,
        currency: currency?,
        secret_key,
        token_keys,
        return_url: table.return_url,
        support_url: table.support_url,
        logo_url: logo_url?,
        image_origins,
        merchant_id: merchant_id?,
        service_access: table.service_access.unwrap_or(false),
        tolerance: tolerance?,
        confirmations_required,
        webhook,
        theme,
        theme_tokens,
        products,
        donations,
    })
}

/// `Assumed:` a merchant's name at the service is visible ASCII, as its other identifiers are.
fn merchant_id(text: String) -> Result<String, String> {
    if (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(text);
    }
    Err("write 1 to 128 visible characters, as the service gave them".into())
}

fn origin(text: &str) -> Result<Origin, String> {
    let url = web_address(text)?;
    let origin = Origin::of(&url);
    if origin.as_str() == text {
        return Ok(origin);
    }
    Err(format!(
        "{text:?} is no origin: write {:?}",
        origin.as_str()
    ))
}

fn link_address(text: &str, may_be_mail: bool) -> Result<(), String> {
    if may_be_mail
        && text
            .strip_prefix("mailto:")
            .is_some_and(|to| to.contains('@'))
    {
        return Ok(());
    }
    web_address(text).map(|_| ())
}

fn product(table: ProductTable, currency: Currency, tolerance: Amount) -> Result<Product, String> {
    if table.sku.is_empty() || table.title.as_deref() == Some("") {
        return Err("sku and title must not be empty".into());
    }
    let text = table.price.ok_or("needs a price")?;
    let price = Amount::parse(&text).map_err(|error| error.to_string())?;
    if price.is_zero() {
        return Err("the price must be above zero".into());
    }
    if price <= tolerance {
        return Err("the price must be above the store's underpayment_tolerance".into());
    }
    if price.decimals() > currency.decimals() {
        let decimals = currency.decimals();
        return Err(format!(
            "{text} has more than the {decimals} decimals of {currency}"
        ));
    }
    let max_quantity = table.max_quantity.unwrap_or(1);
    if !(1..=10_000).contains(&max_quantity) {
        return Err("max_quantity: write 1 to 10000".into());
    }
    price
        .times(max_quantity)
        .map_err(|error| format!("price × max_quantity: {error}"))?;
    let title = table.title.unwrap_or_else(|| table.sku.clone());
    if title.chars().count() > 100 {
        return Err("the title has more than 100 characters".into());
    }
    Ok(Product {
        sku: table.sku,
        title,
        image_url: table.image_url,
        price: price.padded(currency.decimals()),
        max_quantity,
    })
}

fn webhook(table: WebhookTable, is_test: bool) -> Result<Webhook, String> {
    let private = table.dangerous_allow_private_targets;
    if private && !is_test {
        return Err("dangerous_allow_private_targets is for the environment test alone".into());
    }
    let url = web_address(&table.url).map_err(|message| format!("url: {message}"))?;
    let literal = match url.host() {
        Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
        _ => None,
    };
    if !private
        && (is_loopback(&url)
            || literal.is_some_and(|a| !crate::webhooks::address_filter::is_public(a)))
    {
        return Err(format!(
            "url: {} is a private address; for a test on one machine set \
             dangerous_allow_private_targets = true",
            table.url
        ));
    }
    Ok(Webhook {
        url,
        secrets: webhook_secrets(table.secret, table.secret_file)?,
        dangerous_allow_private_targets: private,
    })
}

/// One secret, or two while one is exchanged for the other.
fn webhook_secrets(
    values: Option<OneOrMore>,
    files: Option<OneOrMore>,
) -> Result<WebhookSecrets, String> {
    let given = match (values, files) {
        (Some(_), Some(_)) => {
            return Err("secret: is given as value and as file: leave one of them out".into());
        }
        (Some(values), None) => values
            .into_list()
            .into_iter()
            .map(|v| (Some(v), None))
            .collect(),
        (None, Some(files)) => files
            .into_list()
            .into_iter()
            .map(|f| (None, Some(f)))
            .collect(),
        (None, None) => vec![(None, None)],
    };
    if !(1..=MAX_WEBHOOK_SECRETS).contains(&given.len()) {
        return Err("secret: write one, or two while you exchange it, the new one first".into());
    }
    let secrets = given
        .into_iter()
        .map(|(value, file)| webhook_secret(value, file));
    Ok(WebhookSecrets::new(secrets.collect::<Result<_, _>>()?))
}

fn webhook_secret(value: Option<String>, file: Option<String>) -> Result<WebhookSecret, String> {
    let text = secret(value, file, 1).map_err(|message| format!("secret: {message}"))?;
    let shape = "secret: write whsec_ and 24 to 64 random bytes in base64";
    let encoded = text.expose_secret().strip_prefix("whsec_").ok_or(shape)?;
    let bytes = STANDARD.decode(encoded).map_err(|_| shape)?;
    if !WEBHOOK_SECRET_BYTES.contains(&bytes.len()) {
        return Err(shape.into());
    }
    Ok(WebhookSecret::new(bytes))
}
