<?php
/**
 * Prints the configuration of the proxy, for the sandbox whose log is beside it.
 *
 * @package Florin_For_WooCommerce
 */

$log = file_get_contents( 'sandbox.log' );
preg_match( '/apikey\s+(\S+)/', $log, $key );
preg_match( '/secret\s+(\S+)/', $log, $secret );
$port = static fn( string $name ): string => '127.0.0.1:' . getenv( $name . '_PORT' );
echo <<<TOML
listen = "{$port( 'PROXY' )}"
admin_listen = "{$port( 'ADMIN' )}"
public_url = "http://{$port( 'PROXY' )}"
database_url = "sqlite://florin.db"
environment = "test"

[gateway]
url = "http://{$port( 'SANDBOX' )}/api"
api_key = "$key[1]"
api_secret = "$secret[1]"
callback_token = "a-callback-token-for-the-tests-only"

[[store]]
id = "shop"
name = "Shop"
origins = ["http://{$port( 'SHOP' )}"]
currency = "USD"
secret_key = "sk_a-secret-key-for-the-tests-only-0000"
staff_pages = "write"

[[store.webhook]]
url = "http://{$port( 'SHOP' )}/?wc-api=florin"
secret = "whsec_YSB3ZWJob29rIHNlY3JldCBmb3IgdGhlIHRlc3RzIG9ubHk="
dangerous_allow_private_targets = true

TOML;
