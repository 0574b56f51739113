//! The script that asks a wallet of the browser: it sends the checked payment or nothing.

use support::wallet_guards;

#[test]
fn the_script_asks_for_the_checked_payment_alone_and_names_each_refusal() {
    assert_eq!(wallet_guards(), "");
}
