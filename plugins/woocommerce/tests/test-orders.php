<?php
/**
 * Opening orders at the proxy.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

/**
 * Fills in the connection of the test mode: the same proxy, with another webhook secret.
 */
function set_test_proxy(): void {
	foreach ( array( 'url', 'store', 'secret_key' ) as $name ) {
		set( "test_$name", Settings::get( $name ) );
	}
	set( 'test_webhook_secret', 'whsec_' . base64_encode( str_repeat( 't', 24 ) ) );
}

return array(
	'an order is opened with its price, and the customer goes to the page to pay' => static function (): void {
		$id     = \WC_Order::place();
		$result = ( new Gateway() )->process_payment( $id );
		same( "https://shop.example/pay/$id/receipt", $result['redirect'] );
		$request = proxy()['requests'][0];
		$body    = $request['body'];
		same( array( '42.00', 'USD' ), array( $body['amount'], $body['currency'] ) );
		same( 1, preg_match( "/^wc-$id-[0-9a-f]{16}$/", $body['reference'] ) );
		same( "Order $id, Tea & Mugs", $body['title'] );
		same( array( array( 'title' => 'A mug & more', 'quantity' => 2 ) ), $body['lines'] );
		same( "https://shop.example/received/$id", $body['return_url'] );
		same( true, strlen( $request['key'] ) >= 16 );
		same( 'pending', status( $id ) );
	},
	'a second press opens no second order' => static function (): void {
		list( $id, $florin ) = sell();
		( new Gateway() )->process_payment( $id );
		same( 1, count( proxy()['orders'] ) );
		same( $florin, meta( $id, '_florin_order' ) );
	},
	'the proxy’s page is opened if the shop chooses so' => static function (): void {
		set( 'display', 'redirect' );
		$result = ( new Gateway() )->process_payment( \WC_Order::place() );
		contains( 'http://proxy/pay#client_token=', $result['redirect'] );
	},
	'another total opens another order, and cancels the first' => static function (): void {
		list( $id, $first ) = sell();
		\WC_Order::$stored[ $id ]['total'] = '50.00';
		( new Gateway() )->process_payment( $id );
		$orders = proxy()['orders'];
		$second = meta( $id, '_florin_order' );
		same( $orders[ $first ]['reference'] . '-2', $orders[ $second ]['reference'] );
		same( '50.00', $orders[ $second ]['amount'] );
		same( 'cancelled', $orders[ $first ]['status'] );
		report( 'order.cancelled', $first, array() );
		same( 'pending', status( $id ) );
		pay( $second );
		same( 'processing', status( $id ) );
	},
	'an order that has ended is opened anew, and a payment of the first one counts' => static function (): void {
		list( $id, $first ) = sell();
		at_proxy( $first, array( 'status' => 'cancelled' ) );
		( new Gateway() )->process_payment( $id );
		$second = meta( $id, '_florin_order' );
		same( false, $first === $second );
		pay( $first );
		same( 'processing', status( $id ) );
		same( $first, meta( $id, '_florin_credited' ) );
		same( 'cancelled', proxy()['orders'][ $second ]['status'] );
		pay( $second );
		same( 9, \WC_Order::$stock );
		contains( 'was paid already', notes( $id ) );
	},
	'an order that was paid without a webhook is completed at the next press' => static function (): void {
		list( $id, $florin ) = sell();
		at_proxy( $florin, array( 'status' => 'paid', 'attempt' => attempt() ) );
		( new Gateway() )->process_payment( $id );
		same( 'processing', status( $id ) );
	},
	'a refusal is explained to the customer, and its reason logged without the key' => static function (): void {
		foreach ( array( array( 422, 'currency_unavailable', 'cannot be paid in coins' ), array( 500, 'internal', 'try again' ) ) as list( $status, $code, $text ) ) {
			proxy( array( 'failure' => array( $status, $code ) ) );
			$id = \WC_Order::place();
			same( array( 'result' => 'failure' ), ( new Gateway() )->process_payment( $id ) );
			contains( $text, end( \Shop::$notices ) );
			contains( "$code: It was asked to fail. (req_1)", end( \Shop::$log ) );
			lacks( 'sk_right', implode( \Shop::$log ) );
			same( '', meta( $id, '_florin_order' ) );
		}
	},
	'a reference of another shop is none of ours' => static function (): void {
		list( $id, $florin ) = sell();
		$foreign = "wc-$id-0123456789abcdef";
		at_proxy( $florin, array( 'reference' => $foreign, 'status' => 'paid', 'attempt' => attempt() ) );
		same( 200, deliver( event( 'order.paid', $florin ) ) );
		same( 'pending', status( $id ) );
		same( null, Order_Record::id_of( 'order-1017' ) );
		same( $id, Order_Record::id_of( "$foreign-2" ) );
	},
	'in live mode simulated coins are refused, except on a site for tests' => static function (): void {
		proxy( array( 'environment' => 'test' ) );
		$id = \WC_Order::place();
		same( array( 'result' => 'failure' ), ( new Gateway() )->process_payment( $id ) );
		contains( 'wrong_environment', end( \Shop::$log ) );
		same( '', meta( $id, '_florin_order' ) );
		\Shop::$environment = 'staging';
		same( 'success', ( new Gateway() )->process_payment( $id )['result'] );
	},
	'what the proxy for tests reports pays no other order' => static function (): void {
		set_test_proxy();
		list( $id, $florin ) = sell();
		at_proxy( $florin, array( 'status' => 'paid', 'attempt' => attempt() ) );
		same( 200, deliver( event( 'order.paid', $florin ), Settings::of_mode( Proxy::TEST, 'webhook_secret' ) ) );
		same( 'pending', status( $id ) );
	},
	'a test order stays one of the test proxy' => static function (): void {
		set_test_proxy();
		set( 'test_mode', 'yes' );
		list( $id, $florin ) = sell();
		at_proxy( $florin, array( 'status' => 'paid', 'attempt' => attempt() ) );
		same( 200, deliver( event( 'order.paid', $florin ), Settings::of_mode( Proxy::TEST, 'webhook_secret' ) ) );
		contains( 'Florin, TEST without money: Paid', notes( $id ) );
		same( Proxy::TEST, Order_Record::fresh( $id )->mode( $florin ) );
	},
);
