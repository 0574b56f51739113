<?php
/**
 * Plays sales in a real shop: play.php SITE
 *
 * @package Florin_For_WooCommerce
 */

require __DIR__ . '/shop.php';

$site   = $argv[1];
$passed = 0;
$versions = in_wordpress( 'return array( get_bloginfo( "version" ), get_file_data( WP_PLUGIN_DIR . "/woocommerce/woocommerce.php", array( "Version" ) )[0], PHP_VERSION );' );
echo "WordPress $versions[0], WooCommerce $versions[1], PHP $versions[2]\n";
$plugin = 'florin-for-woocommerce/florin-for-woocommerce.php';

// Without WooCommerce.
$refused = in_wordpress( 'return is_wp_error( activate_plugin( $arguments[0] ) );', array( $plugin ) );
holds( 'WordPress does not activate the plugin without WooCommerce', true === $refused, $refused );
in_wordpress( 'update_option( "active_plugins", array( $arguments[0] ) ); return true;', array( $plugin ) );
$owner = new Browser();
$owner->request( '/wp-login.php' );
$owner->request( '/wp-login.php', array( 'log' => 'admin', 'pwd' => 'password', 'testcookie' => 1 ) );
$page = $owner->request( '/wp-admin/plugins.php' );
holds( 'an active plugin without WooCommerce says what it needs', str_contains( $page, 'Florin for WooCommerce needs WooCommerce' ), strip_tags( $page ) );

// With it.
in_wordpress( 'update_option( "active_plugins", array() ); activate_plugin( "woocommerce/woocommerce.php" ); return true;' );
in_wordpress( 'WC_Install::install(); update_option( "woocommerce_coming_soon", "no" ); update_option( "woocommerce_onboarding_profile", array( "skipped" => true ) ); return true;' );
$activated = in_wordpress( '$activated = activate_plugin( $arguments[0] ); return is_wp_error( $activated ) ? $activated->get_error_message() : true;', array( $plugin ) );
holds( 'the plugin is activated', true === $activated, $activated );
in_wordpress(
	'update_option( "woocommerce_custom_orders_table_enabled", $arguments[0] );
	update_option( "woocommerce_currency", "USD" );
	update_option( "woocommerce_default_country", "DE" );
	update_option( "woocommerce_enable_guest_checkout", "yes" );
	delete_transient( "_wc_activation_redirect" );
	return true;',
	array( 'no' === getenv( 'HPOS' ) ? 'no' : 'yes' )
);
$product = in_wordpress(
	'$product = new WC_Product_Simple();
	$product->set_name( "A mug" );
	$product->set_regular_price( "12.50" );
	$product->set_manage_stock( true );
	$product->set_stock_quantity( 10 );
	$product->save();
	return $product->get_id();'
);
putenv( "PRODUCT=$product" );
holds( 'orders are stored ' . ( 'no' === getenv( 'HPOS' ) ? 'as posts' : 'in tables' ), in_wordpress( 'return Automattic\WooCommerce\Utilities\OrderUtil::custom_orders_table_usage_is_enabled();' ) === ( 'no' !== getenv( 'HPOS' ) ) );

// The settings page, and its test.
$page = $owner->request( '/wp-admin/admin.php?page=wc-settings&tab=checkout&section=florin' );
holds( 'the settings page shows the lines for the proxy', str_contains( $page, 'wc-api=florin' ) && str_contains( $page, 'woocommerce_florin_test_secret_key' ), strip_tags( $page ) );
preg_match( '/name="_wpnonce" value="([^"]+)"/', $page, $form_nonce );
preg_match( '/florin-test" data-nonce="([^"]+)"/', $page, $test_nonce );
$proxy    = 'http://127.0.0.1:' . getenv( 'PROXY_PORT' );
$settings = array( 'enabled' => '1', 'title' => 'Coins', 'description' => '', 'display' => 'frame', 'test_mode' => '1', 'test_url' => $proxy, 'test_store' => 'shop', 'test_secret_key' => 'sk_wrong', 'test_webhook_secret' => 'whsec_YSB3ZWJob29rIHNlY3JldCBmb3IgdGhlIHRlc3RzIG9ubHk=', 'unpaid_status' => 'cancelled', 'underpaid_status' => 'on-hold', 'late_status' => 'on-hold', 'debug' => '1' );
$save     = static function ( array $settings ) use ( $owner, $form_nonce ): void {
	$fields = array( 'save' => 'Save changes', '_wpnonce' => $form_nonce[1], '_wp_http_referer' => '/wp-admin/admin.php?page=wc-settings&tab=checkout&section=florin' );
	foreach ( $settings as $name => $value ) {
		$fields[ "woocommerce_florin_$name" ] = $value;
	}
	$owner->request( '/wp-admin/admin.php?page=wc-settings&tab=checkout&section=florin', $fields );
};
$test = static fn(): array => json_decode( $owner->request( '/wp-admin/admin-ajax.php', array( 'action' => 'florin_test_connection', '_ajax_nonce' => $test_nonce[1] ) ), true ) ?? array();
$save( $settings );
$answer = $test();
holds( 'the connection test names a wrong key', str_contains( json_encode( $answer ), 'The proxy refuses the secret key' ), $answer );
$settings['test_secret_key'] = 'sk_a-secret-key-for-the-tests-only-0000';
$save( $settings );
$answer = $test();
$wrong  = array_filter( $answer['data']['findings'] ?? array( array( 'is_fine' => false ) ), static fn( array $finding ): bool => ! $finding['is_fine'] );
holds( 'the connection test passes', array() === $wrong, $answer );
$arrived = static function () use ( $owner, $test_nonce, $answer ): bool {
	$second = json_decode( $owner->request( '/wp-admin/admin-ajax.php', array( 'action' => 'florin_test_webhook', '_ajax_nonce' => $test_nonce[1], 'reference' => $answer['data']['reference'] ) ), true );
	return true === ( $second['data']['is_fine'] ?? null );
};
holds( 'its webhook arrives', within( $arrived ) );

// In test mode customers do not see it.
in_wordpress( '$settings = get_option( "woocommerce_florin_settings" ); foreach ( array( "url", "store", "secret_key", "webhook_secret" ) as $name ) { $settings[ $name ] = $settings[ "test_$name" ]; } update_option( "woocommerce_florin_settings", $settings ); return true;' );
holds( 'in test mode customers are not offered it', false === in_wordpress( 'return isset( WC()->payment_gateways()->get_available_payment_gateways()["florin"] );' ) );
in_wordpress( '$settings = get_option( "woocommerce_florin_settings" ); $settings["test_mode"] = "no"; update_option( "woocommerce_florin_settings", $settings ); return true;' );
$refusal = in_wordpress(
	'$order = wc_create_order();
	$order->add_product( wc_get_product( $arguments[0] ) );
	$order->calculate_totals();
	try { Florin\WooCommerce\Payments::open( $order ); } catch ( Florin\FlorinException $error ) { return $error->errorCode; }',
	array( $product )
);
holds( 'in live mode simulated coins are refused', 'wrong_environment' === $refusal, $refusal );
$config = file_get_contents( "$site/wp-config.php" );
file_put_contents( "$site/wp-config.php", str_replace( "'production'", "'local'", $config ) );

// A sale with the Checkout block.
list( $id, $redirect, $customer ) = buy();
$token = token_in( $customer->request( $redirect ) );
choose_bitcoin( $token );
sandbox( 'scenario', array( 'name' => 'paid' ) );
holds( 'a payment completes the order', becomes( $id, 'processing' ), order( $id ) );
$order = order( $id );
holds( 'the stock is reduced once', 9 === $order['stock'], $order );
$page = $customer->request( $order['pay'] );
holds( 'the page to pay leads to the page of the order, with the receipt', str_contains( $customer->url, 'order-received' ) && str_contains( $page, 'florin-receipt' ), $page );
$notes = count( $order['notes'] );
in_wordpress( 'delete_option( "florin_cursor" ); do_action( "florin_poll" ); return true;' );
$again = order( $id );
holds( 'the same events again change nothing', 9 === $again['stock'] && count( $again['notes'] ) === $notes, $again );

// A refund.
in_wordpress( 'Florin\WooCommerce\Refunds::ask( $arguments[0] ); return true;', array( $id ) );
$page = $customer->request( $order['received'] );
preg_match( '/name="florin_nonce" value="([^"]+)"/', $page, $nonce );
preg_match( '/name="florin_order_key" value="([^"]+)"/', $page, $key );
$address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
$customer->request( $order['received'], array( 'florin_nonce' => $nonce[1] ?? '', 'florin_order_key' => $key[1] ?? '', 'florin_order_id' => $id, 'florin_refund_address' => $address ) );
holds( 'the customer names an address for the refund', str_contains( implode( ' ', order( $id )['notes'] ), $address ), order( $id ) );
in_wordpress( 'Florin\WooCommerce\Refunds::record( $arguments[0], $arguments[1], "0.00001", "", "ab12" ); return true;', array( $id, $order['florin'] ) );
$refunded = in_wordpress( '$order = wc_get_order( $arguments[0] ); return array( (float) $order->get_total_refunded(), $order->get_status() );', array( $id ) );
holds( 'a refund is booked in part', $refunded[0] > 0 && $refunded[0] < 12.5 && 'processing' === $refunded[1], $refunded );

// Paid in part, then the rest.
list( $id, $redirect, $customer ) = buy();
choose_bitcoin( token_in( $customer->request( $redirect ) ) );
sandbox( 'scenario', array( 'name' => 'underpaid' ) );
holds( 'half a payment puts the order on hold', becomes( $id, 'on-hold' ), order( $id ) );
$page = $customer->request( $redirect );
holds( 'the customer is led to the page of the order, which shows the checkout', str_contains( $customer->url, 'order-received' ) && '' !== token_in( $page ) );
sandbox( 'invoices/latest/pay', array( 'amount' => 'rest' ) );
sandbox( 'mine', array( 'blocks' => 6 ) );
holds( 'the rest completes it', becomes( $id, 'processing' ), order( $id ) );

// A card instead: the order at the proxy is cancelled, and its end changes nothing.
list( $id, $redirect, $customer ) = buy();
choose_bitcoin( token_in( $customer->request( $redirect ) ) );
in_wordpress( '$order = wc_get_order( $arguments[0] ); $order->set_payment_method( "cod" ); $order->save(); $order->payment_complete( "card" ); return true;', array( $id ) );
$florin = in_wordpress( 'return Florin\WooCommerce\Proxy::client( "live" )->getOrder( $arguments[0] );', array( order( $id )['florin'] ) );
holds( 'an order paid by card is cancelled at the proxy', 'cancelled' === $florin['status'], $florin );
sandbox( 'invoices/latest/pay', array( 'amount' => 'exact' ) );
sandbox( 'mine', array( 'blocks' => 6 ) );
$noted = within( static fn(): bool => str_contains( implode( ' ', order( $id )['notes'] ), 'was paid already' ) );
holds( 'coins that arrive nevertheless are a note', $noted && 'processing' === order( $id )['status'], order( $id ) );

// The webhook is lost.
list( $id, $redirect, $customer ) = buy();
choose_bitcoin( token_in( $customer->request( $redirect ) ) );
in_wordpress( '$settings = get_option( "woocommerce_florin_settings" ); $settings["webhook_secret"] = "whsec_AAAA"; $settings["test_webhook_secret"] = ""; update_option( "woocommerce_florin_settings", $settings ); return true;' );
sandbox( 'scenario', array( 'name' => 'paid' ) );
$is_paid = static function () use ( &$id ): bool {
	return 'paid' === in_wordpress( 'return Florin\WooCommerce\Proxy::client( "live" )->getOrder( $arguments[0] )["status"];', array( order( $id )['florin'] ) );
};
holds( 'a webhook with another signature is refused', within( $is_paid ) && 'pending' === order( $id )['status'], order( $id ) );
$stock = order( $id )['stock'];
$age   = static fn( int $id ) => in_wordpress( 'global $wpdb; $wpdb->query( "UPDATE {$wpdb->prefix}wc_orders SET date_updated_gmt = \"2020-01-01\" WHERE id = {$arguments[0]}" ); $wpdb->query( "UPDATE {$wpdb->posts} SET post_modified = \"2020-01-01\", post_modified_gmt = \"2020-01-01\" WHERE ID = {$arguments[0]}" ); wp_cache_flush(); return true;', array( $id ) );
in_wordpress( 'do_action( "florin_poll" ); return true;', array(), 4 );
$order = order( $id );
$paid  = array_filter( $order['notes'], static fn( string $note ): bool => str_contains( $note, 'Florin: Paid' ) );
holds( 'the repeated work finds the payment, four times at once, and completes it once', 'processing' === $order['status'] && $stock - 1 === $order['stock'] && 1 === count( $paid ), $order );
list( $id, $redirect, $customer ) = buy();
choose_bitcoin( token_in( $customer->request( $redirect ) ) );
sandbox( 'scenario', array( 'name' => 'paid' ) );
within( $is_paid );
in_wordpress( 'foreach ( Florin\WooCommerce\Proxy::client( "live" )->events() as $event ) { $last = $event["id"]; } update_option( "florin_cursor", array( "live" => $last ) ); return true;' );
in_wordpress( 'do_action( "florin_poll" ); return true;' );
holds( 'a young order waits for its events', 'pending' === order( $id )['status'], order( $id ) );
$age( $id );
in_wordpress( 'do_action( "florin_poll" ); return true;' );
holds( 'an old unpaid order is looked after without an event', 'processing' === order( $id )['status'], order( $id ) );
holds( 'the repeated work is scheduled', true === in_wordpress( 'return as_has_scheduled_action( "florin_poll" );' ) );

// The classic checkout, with a dialog, in German. WordPress takes a language once it has a file of it.
mkdir( "$site/wp-content/languages" );
file_put_contents( "$site/wp-content/languages/de_DE.l10n.php", "<?php return array( 'messages' => array() );" );
in_wordpress( '$settings = get_option( "woocommerce_florin_settings" ); $settings["display"] = "modal"; update_option( "woocommerce_florin_settings", $settings ); update_option( "WPLANG", "de_DE" ); return true;' );
in_wordpress( '$page = wp_insert_post( array( "post_type" => "page", "post_status" => "publish", "post_title" => "Classic", "post_name" => "classic", "post_content" => "[woocommerce_checkout]" ) ); update_option( "woocommerce_checkout_page_id", $page ); flush_rewrite_rules(); return true;' );
$customer = new Browser();
$customer->request( "/?add-to-cart=$product" );
$page = $customer->request( '/classic/' );
preg_match( '/name="woocommerce-process-checkout-nonce" value="([^"]+)"/', $page, $nonce );
holds( 'the classic checkout offers Florin', str_contains( $page, 'payment_method_florin' ) && isset( $nonce[1] ), strip_tags( $page ) );
$fields = array( 'woocommerce-process-checkout-nonce' => $nonce[1], 'payment_method' => 'florin' );
foreach ( array( 'first_name' => 'Ada', 'last_name' => 'Lovelace', 'address_1' => 'Street 1', 'city' => 'Berlin', 'postcode' => '10115', 'country' => 'DE', 'phone' => '030123', 'email' => 'ada@shop.example' ) as $name => $value ) {
	$fields[ "billing_$name" ] = $value;
}
$answer = json_decode( $customer->request( '/?wc-ajax=checkout', $fields ), true );
holds( 'the classic checkout opens an order', 'success' === ( $answer['result'] ?? '' ), $answer );
$page = $customer->request( $answer['redirect'] );
holds( 'the page shows a dialog, in German', str_contains( $page, 'display="modal"' ) && str_contains( $page, 'Andere Zahlungsart wählen' ), $page );
choose_bitcoin( token_in( $page ) );
sandbox( 'scenario', array( 'name' => 'paid' ) );
within( static fn(): bool => 'paid' === in_wordpress( 'return Florin\WooCommerce\Proxy::client( "live" )->getOrder( $arguments[0] )["status"];', array( order( $answer['order_id'] )['florin'] ) ) );
$customer->request( $answer['redirect'] );
holds( 'a customer who returns finds the order paid', 'processing' === order( $answer['order_id'] )['status'] && str_contains( $customer->url, 'order-received' ), order( $answer['order_id'] ) );
in_wordpress( 'update_option( "WPLANG", "" ); return true;' );

// The time that WooCommerce waits is over.
list( $id ) = buy();
in_wordpress( '$order = wc_get_order( $arguments[0] ); $order->set_created_via( "checkout" ); $order->set_date_created( time() - 7200 ); $order->set_date_modified( time() - 7200 ); $order->save(); return true;', array( $id ) );
$age( $id );
in_wordpress( 'wc_cancel_unpaid_orders(); return true;' );
holds( 'an unpaid order is cancelled in the shop and at the proxy', 'cancelled' === order( $id )['status'] && 'cancelled' === in_wordpress( 'return Florin\WooCommerce\Proxy::client( "live" )->getOrder( $arguments[0] )["status"];', array( order( $id )['florin'] ) ), order( $id ) );

// The screen of an order.
$edit = in_wordpress( 'return wc_get_order( $arguments[0] )->get_edit_order_url();', array( $id ) );
$page = $owner->request( $edit );
holds( 'the page of an order has the box', str_contains( $page, 'florin-box' ), strip_tags( $page ) );
$list = 'no' === getenv( 'HPOS' ) ? '/wp-admin/edit.php?post_type=shop_order' : '/wp-admin/admin.php?page=wc-orders';
holds( 'the list of orders has the column', str_contains( $owner->request( $list ), 'column-florin' ) );

// Uninstall.
in_wordpress( 'deactivate_plugins( $arguments[0] ); return true;', array( $plugin ) );
in_wordpress( 'define( "WP_UNINSTALL_PLUGIN", "florin" ); include WP_PLUGIN_DIR . "/florin-for-woocommerce/uninstall.php"; return true;' );
$left = order( $id );
holds( 'uninstalling removes the settings and leaves the orders', '' !== $left['florin'] && false === in_wordpress( 'return get_option( "woocommerce_florin_settings" );' ), $left );
$log = is_file( "$site/wp-content/debug.log" ) ? file_get_contents( "$site/wp-content/debug.log" ) : '';
holds( 'no error of the plugin is logged', ! preg_match( '/PHP .*florin-for-woocommerce/', $log ), $log );
echo "$passed claims hold\n";
