//! `florin-proxy config-reference`: every key with its unit, default and reason.

/// Key, variable, default, and what it is for.
type Row = (&'static str, &'static str, &'static str, &'static str);

const SERVICE_LEVEL: [Row; 19] = [
    (
        "listen",
        "FLORIN_LISTEN",
        "127.0.0.1:8080",
        "address and port that browsers and stores call",
    ),
    (
        "admin_listen",
        "FLORIN_ADMIN_LISTEN",
        "127.0.0.1:9090",
        "address and port of the health pages; keep it from the public",
    ),
    (
        "public_url",
        "FLORIN_PUBLIC_URL",
        "http://127.0.0.1:8080",
        "where browsers reach `listen`: scheme, host and port; https unless loopback",
    ),
    (
        "database_url",
        "FLORIN_DATABASE_URL",
        "sqlite://florin.db",
        "the ledger; made when it is not there; it remembers its environment and refuses the other",
    ),
    (
        "environment",
        "FLORIN_ENVIRONMENT",
        "test",
        "test or production; production is said explicitly",
    ),
    (
        "log",
        "FLORIN_LOG",
        "info",
        "tracing filter, like info or proxy=debug; JSON when not a terminal",
    ),
    (
        "trusted_proxies",
        "",
        "none",
        "reverse proxies in front, like [\"10.0.0.0/8\"]: their X-Forwarded-For says who the client is",
    ),
    (
        "opens_per_minute",
        "",
        "30",
        "orders that one address may open by product or donation, 1 to 10000; not counted for private addresses that are \
         no trusted_proxies, since everybody may come from there",
    ),
    (
        "service.url",
        "FLORIN_SERVICE_URL",
        "required",
        "base address of the payment service, with its /api",
    ),
    (
        "service.api_key",
        "FLORIN_SERVICE_API_KEY",
        "required",
        "the account at the service; or service.api_key_file / …_FILE",
    ),
    (
        "service.api_secret",
        "FLORIN_SERVICE_API_SECRET",
        "required",
        "what calls are signed with; or service.api_secret_file / …_FILE",
    ),
    (
        "service.callback_token",
        "FLORIN_CALLBACK_TOKEN",
        "required",
        "32 or more random characters; the service calls back at {public_url}/callbacks/{token}; or …_file / …_FILE",
    ),
    (
        "service.checkout_url",
        "FLORIN_SERVICE_CHECKOUT_URL",
        "none",
        "address of the service's hosted page; required for orders with flow hosted, whose customers are sent nowhere else",
    ),
    (
        "service.quote_seconds",
        "",
        "60",
        "how long a price is offered, 10 to 600; Assumed: a conversion_id lives at least so long",
    ),
    (
        "service.watch_seconds",
        "",
        "5",
        "how often an attempt is asked about while somebody watches it, 1 to 60",
    ),
    (
        "service.requests_per_second",
        "",
        "10",
        "the most requests to the service, 1 to 1000; Assumed: it bears ten; a 429 halves it, answers raise it again",
    ),
    (
        "service.nonces",
        "",
        "may_repeat",
        "must_increase when the service takes each nonce once: one request a second is all there is then",
    ),
    (
        "service.sign_put_body",
        "",
        "false",
        "true when the service signs a PUT's body too; Assumed: it does not, as the specification says of POST alone",
    ),
    (
        "store",
        "",
        "one at least",
        "the stores, each as [[store]]; the keys below belong to it",
    ),
];

const STORE_LEVEL: [Row; 41] = [
    (
        "id",
        "",
        "required",
        "1 to 32 small letters, digits and hyphens",
    ),
    ("name", "", "the id", "what customers read"),
    (
        "origins",
        "",
        "none",
        "pages that may embed the checkout and call, like https://shop.example",
    ),
    (
        "currency",
        "",
        "USD",
        "ISO 4217 code of the catalogue's prices",
    ),
    (
        "secret_key",
        "",
        "none",
        "32 or more characters for the store's server; or secret_key_file",
    ),
    (
        "token_keys.kid",
        "",
        "required",
        "1 to 32 letters, digits, - and _; the keys as token_keys = [{ kid, secret }], two while one is replaced",
    ),
    (
        "token_keys.secret",
        "",
        "required",
        "32 or more random characters, which sign order tokens (HS256) as they are written; or secret_file",
    ),
    (
        "return_url",
        "",
        "none",
        "where customers go afterwards; gets ?order_id=…, never a status",
    ),
    (
        "support_url",
        "",
        "none",
        "https: or mailto: where customers get help",
    ),
    (
        "logo_url",
        "",
        "none",
        "a picture beside the store's name; https, in the environment test also http on loopback",
    ),
    (
        "image_origins",
        "",
        "none",
        "where pictures of order lines and products may be: [\"https://cdn.shop.example\"]; a checkout loads from no other",
    ),
    (
        "merchant_id",
        "",
        "none",
        "the store's name at the service, on a platform with several merchants; it can act for no other",
    ),
    (
        "service_access",
        "",
        "true for an only store, else false",
        "whether its server may change wallets and settings at the service: they are all stores' together",
    ),
    (
        "underpayment_tolerance",
        "",
        "0",
        "how much may be missing, in the store's currency",
    ),
    (
        "confirmations_required",
        "",
        "3",
        "blocks shown as required until the service states its own",
    ),
    (
        "theme.preset",
        "",
        "auto",
        "auto, light, dark, contrast, paper, midnight or sorbet; auto is light or dark as the customer's system has it",
    ),
    (
        "theme.accent",
        "",
        "the theme's",
        "buttons and links: \"#0b6e52\", or for both schemes \"light-dark(#0b6e52, #4fd1a1)\"",
    ),
    (
        "theme.on_accent",
        "",
        "black or white",
        "text on the accent; by itself whichever reads better",
    ),
    ("theme.ground", "", "the theme's", "the background"),
    (
        "theme.side",
        "",
        "from ink and ground",
        "the background of the summary",
    ),
    ("theme.ink", "", "the theme's", "text"),
    ("theme.soft", "", "from ink and ground", "quiet text"),
    ("theme.line", "", "from ink and ground", "thin lines"),
    ("theme.warn", "", "the theme's", "text of warnings"),
    ("theme.bad", "", "the theme's", "text of what went wrong"),
    ("theme.radius", "", "the theme's", "corners, 0px to 40px"),
    (
        "theme.font",
        "",
        "the theme's",
        "a font-family; a frame knows only the fonts of the customer's device",
    ),
    (
        "theme.density",
        "",
        "1",
        "how much room there is, 0.75 to 1.5, as text",
    ),
    (
        "webhook.url",
        "",
        "none",
        "where events are delivered; https, or http on loopback",
    ),
    (
        "webhook.secret",
        "",
        "required",
        "whsec_ and 24 to 64 bytes in base64, or a list of two while one is exchanged, the new one first; or webhook.secret_file",
    ),
    (
        "webhook.dangerous_allow_private_targets",
        "",
        "false",
        "deliver to loopback and private addresses; environment test alone",
    ),
    (
        "product.sku",
        "",
        "required",
        "the element's attribute `product`; as [[store.product]]",
    ),
    (
        "product.title",
        "",
        "the sku",
        "what customers read, at most 100 characters",
    ),
    (
        "product.image_url",
        "",
        "none",
        "its picture, on one of the store's image_origins",
    ),
    (
        "product.price",
        "",
        "required",
        "price of one, in the store's currency, as a string",
    ),
    (
        "product.max_quantity",
        "",
        "1",
        "the most that is sold at once",
    ),
    (
        "donation.id",
        "",
        "required",
        "the element's attribute `donation`; as [[store.donation]]",
    ),
    (
        "donation.title",
        "",
        "the id",
        "what customers read, at most 100 characters",
    ),
    (
        "donation.min",
        "",
        "required",
        "the least that is taken, in the store's currency, as a string",
    ),
    ("donation.max", "", "required", "the most that is taken"),
    (
        "donation.suggested",
        "",
        "none",
        "amounts that the checkout offers, within the bounds",
    ),
];

/// The reference as a page of text.
pub fn reference() -> String {
    let mut page = String::from(
        "Keys of florin.toml. A variable, where there is one, wins over the file.\n\nThe proxy\n",
    );
    for row in SERVICE_LEVEL {
        line(&mut page, row);
    }
    page.push_str("\nA store ([[store]])\n");
    for row in STORE_LEVEL {
        line(&mut page, row);
    }
    page.push_str("\n`florin-proxy check-config` says everything that is wrong, by key.\n");
    page
}

fn line(page: &mut String, (key, variable, default, reason): Row) {
    let variable = if variable.is_empty() {
        String::new()
    } else {
        format!(" · {variable}")
    };
    let lines = format!("  {key}{variable}\n      default: {default}\n      {reason}\n");
    page.push_str(&lines);
}
