<?php
/**
 * What customers and people who manage the shop see.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

/**
 * Opens a page of an order.
 */
function open_page( string $endpoint, int $id, ?string $key = null ): void {
	\Shop::$query = array( $endpoint => (string) $id );
	$_GET['key']  = $key ?? "wc_order_key$id";
	Checkout_Page::prepare();
}

return array(
	'the page to pay shows the checkout' => static function (): void {
		foreach ( array( 'frame', 'modal' ) as $display ) {
			set( 'display', $display );
			list( $id, $florin ) = sell();
			$page = printed( static fn() => Checkout_Page::show_checkout( $id ) );
			contains( "<florin-checkout store=\"shop\" client-token=\"token_$florin\" locale=\"de-DE\" display=\"$display\"", $page );
			contains( 'data-next-page="https://shop.example/received/' . $id . '"', $page );
			contains( '/florin.js', \Shop::$scripts['florin'] );
		}
	},
	'the page to pay says so if the proxy is away' => static function (): void {
		list( $id ) = sell();
		proxy( array( 'failure' => array( 500, 'internal' ) ) );
		$page = printed( static fn() => Checkout_Page::show_checkout( $id ) );
		contains( 'could not be started', $page );
		contains( 'Choose another payment method', $page );
	},
	'a customer who returns is shown what the proxy knows' => static function (): void {
		list( $id, $florin ) = sell();
		at_proxy( $florin, array( 'status' => 'paid', 'attempt' => attempt() ) );
		open_page( 'order-received', $id, 'of another order' );
		same( 'pending', status( $id ) );
		open_page( 'order-received', $id );
		same( 'processing', status( $id ) );
		contains( 'B9D5M-PJTB9', printed( static fn() => Checkout_Page::show_state( $id ) ) );
	},
	'the page to pay of a payment that was seen leads on' => static function (): void {
		list( $id, $florin ) = sell();
		open_page( 'order-pay', $id );
		at_proxy( $florin, array( 'status' => 'underpaid', 'attempt' => attempt( '0.0005' ) ) );
		same( "https://shop.example/received/$id", sent( static fn() => open_page( 'order-pay', $id ) )->data );
		contains( 'display="frame"', printed( static fn() => Checkout_Page::show_state( $id ) ) );
	},
	'a page is shown while the proxy is away' => static function (): void {
		list( $id ) = sell();
		proxy( array( 'failure' => array( 500, 'internal' ) ) );
		open_page( 'order-received', $id );
		contains( 'Pay now', printed( static fn() => Checkout_Page::show_state( $id ) ) );
		in_shop( $id, static fn( $order ) => $order->set_status( 'on-hold' ) );
		same( '', printed( static fn() => Checkout_Page::show_state( $id ) ) );
	},
	'mails lead to the payment or to its receipt' => static function (): void {
		list( $id, $florin ) = sell();
		$mail = static fn( bool $is_for_shop = false ): string => printed( static fn() => Checkout_Page::add_to_mail( wc_get_order( $id ), $is_for_shop, true ) );
		contains( "https://shop.example/pay/$id", $mail() );
		same( '', $mail( true ) );
		pay( $florin );
		contains( "receipt of your payment is here: https://shop.example/received/$id", $mail() );
	},
	'in test mode only people who manage the shop are offered it' => static function (): void {
		same( true, ( new Gateway() )->is_available() );
		set( 'test_mode', 'yes' );
		same( false, ( new Gateway() )->is_available() );
		set( 'test_url', 'http://127.0.0.1:1' );
		set( 'test_secret_key', 'sk_test' );
		same( true, ( new Gateway() )->is_available() );
		\Shop::$is_manager = false;
		same( false, ( new Gateway() )->is_available() );
		\Shop::$environment = 'staging';
		same( true, ( new Gateway() )->is_available() );
	},
	'without an address or a key it is not offered' => static function (): void {
		foreach ( array( 'url', 'secret_key' ) as $name ) {
			reset_shop();
			set( $name, '' );
			same( false, ( new Gateway() )->is_available() );
		}
	},
	'the list of orders marks what needs a person, and the box ends it' => static function (): void {
		list( $id, $florin ) = sell();
		$column = static fn(): string => printed( static fn() => Order_Screen::show_column( 'florin', wc_get_order( $id ) ) );
		same( '', $column() );
		report( 'order.overpaid', $florin, array( 'status' => 'overpaid', 'attempt' => attempt( '0.002' ) ) );
		contains( 'Look', $column() );
		contains( 'More than the price', printed( static fn() => Order_Screen::show_box( wc_get_order( $id ) ) ) );
		$_POST = array( 'order' => $id, '_ajax_nonce' => "nonce-florin_order_$id" );
		\Shop::$is_manager = false;
		same( false, sent( array( Order_Screen::class, 'done' ) )->is_success );
		contains( 'Look', $column() );
		\Shop::$is_manager = true;
		$_POST['_ajax_nonce'] = 'another';
		same( 'nonce', sent( array( Order_Screen::class, 'done' ) )->data );
		$_POST['_ajax_nonce'] = "nonce-florin_order_$id";
		same( true, sent( array( Order_Screen::class, 'done' ) )->is_success );
		same( 'Paid', $column() );
	},
	'what customers and others name is escaped' => static function (): void {
		list( $id ) = sell();
		in_shop( $id, static fn( $order ) => $order->update_meta_data( '_florin_attention', '<script>"' ) );
		lacks( '<script>', printed( static fn() => Order_Screen::show_box( wc_get_order( $id ) ) ) );
		lacks( '<script>', printed( static fn() => Order_Screen::show_column( 'florin', wc_get_order( $id ) ) ) );
	},
);
