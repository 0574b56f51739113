//! The proxy's configuration for the demo.

use super::{Folder, Ports, Secrets};
use crate::arguments::DemoWishes;

/// The text of `florin.toml`: one store, the demo shop, with `products` as its catalogue and donations.
pub(crate) fn florin_toml(
    ports: Ports,
    secrets: &Secrets,
    folder: &Folder,
    wishes: &DemoWishes,
    products: &str,
) -> String {
    let Ports {
        proxy,
        shop,
        sandbox,
        admin,
    } = ports;
    let Secrets {
        api_key,
        api_secret,
        callback_token,
        secret_key,
        token_key,
        webhook_secret,
    } = secrets;
    let here = format!("sqlite://{}/florin.db", folder.path().display());
    let database_url = wishes.database_url.as_ref().unwrap_or(&here);
    format!(
        r#"listen = "127.0.0.1:{proxy}"
admin_listen = "127.0.0.1:{admin}"
public_url = "http://127.0.0.1:{proxy}"
database_url = "{database_url}"
environment = "test"

[service]
url = "http://127.0.0.1:{sandbox}/api"
api_key = "{api_key}"
api_secret = "{api_secret}"
callback_token = "{callback_token}"
checkout_url = "http://127.0.0.1:{sandbox}/checkout"

[[store]]
id = "demo"
name = "Quiet Goods"
# The second is for a page of yours, like packages/florin/example; the third is that of `trunk serve`.
origins = ["http://127.0.0.1:{shop}", "http://127.0.0.1:3000", "http://127.0.0.1:8085"]
currency = "USD"
secret_key = "{secret_key}"
token_keys = [{{ kid = "k1", secret = "{token_key}" }}]
return_url = "http://127.0.0.1:{shop}/thanks"
support_url = "mailto:help@quiet-goods.example"

[store.webhook]
url = "http://127.0.0.1:{shop}/florin"
secret = "{webhook_secret}"
# The shop runs on this very machine; allowed in the environment test alone.
dangerous_allow_private_targets = true

{products}"#
    )
}
