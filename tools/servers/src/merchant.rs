//! What a gateway and a proxy on the nodes of this machine are configured with: a merchant's public keys, and prices.

/// The wallet's public key of Litecoin. Source: BIP-32, test vector 1, of the seed 000102…0f.
const LITECOIN_KEY: &str = "wpkh(tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B/0/*)";
const ETHEREUM_KEY: &str = "xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr";
/// Where invoices of a private network expect USDT: at the main network's contract.
pub const USDT: &str = "0xdAC17F958D2ee523a2206206994597C13D831ec7";

/// In dollars, to answer a request for the price of a symbol.
pub fn price(symbol: &str) -> &'static str {
    match symbol {
        "LTC" => "84.20",
        "ETH" => "3120",
        _ => "1.0000",
    }
}

/// The end of a gateway's configuration: two sources of prices, which answer `{"price": …}` at `prices` and a symbol, and
/// the chains, each with three confirmations.
pub fn gateway_toml(prices: &str, ethereum: &str, litecoin: Option<&str>) -> String {
    let source = |name: &str| {
        format!(
            "[[prices.sources]]\nname = \"{name}\"\naddress = \"{prices}/{{symbol}}\"\npath = \"/price\"\n\
             assets = {{ LTC = \"LTC\", ETH = \"ETH\", USDT = \"USDT\" }}\n"
        )
    };
    let chain = |name: &str, key: &str, node: &str| {
        format!(
            "[[chain]]\nname = \"{name}\"\nkey = \"{key}\"\nnode_url = \"{node}\"\n\
             confirmations = [{{ from_usd = \"0\", confirmations = 3 }}]\n"
        )
    };
    let parts = [
        "[prices]\ninterval_seconds = 5\n".to_owned(),
        source("a"),
        source("b"),
        chain("ethereum", ETHEREUM_KEY, ethereum),
        litecoin.map_or_else(String::new, |node| chain("litecoin", LITECOIN_KEY, node)),
    ];
    parts.concat()
}

/// The end of a proxy's section `[gateway]`: the keys of the same chains.
pub fn proxy_toml() -> String {
    let key = |code: &str, key: &str| {
        format!("[[gateway.deposit_key]]\ncrypto_code = \"{code}\"\nkey = \"{key}\"\n")
    };
    let keys = [
        key("LTC", LITECOIN_KEY),
        key("ETH", ETHEREUM_KEY),
        key("USDTERC20", ETHEREUM_KEY),
    ];
    format!("regtest = true\n{}", keys.concat())
}
