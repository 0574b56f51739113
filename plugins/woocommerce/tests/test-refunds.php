<?php
/**
 * Refunds.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

const ADDRESS = 'bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh';

return array(
	'WooCommerce offers no automatic refund' => static function (): void {
		same( array( 'products' ), ( new Gateway() )->supports );
	},
	'the customer is asked for an address, and names one' => static function (): void {
		list( $id, $florin ) = sell();
		pay( $florin );
		$record = static fn(): Order_Record => Order_Record::fresh( $id );
		same( false, Refunds::keep_address( $id, "wc_order_key$id", ADDRESS ) );
		same( '', printed( static fn() => Refunds::show_form( $record() ) ) );
		Refunds::ask( $id );
		contains( "to the customer: We will send coins back to you. Please name an address for them here: https://shop.example/received/$id", notes( $id ) );
		contains( 'name="florin_refund_address"', printed( static fn() => Refunds::show_form( $record() ) ) );
		same( false, Refunds::keep_address( $id, 'of another order', ADDRESS ) );
		same( false, Refunds::keep_address( $id, "wc_order_key$id", '<b>bc1</b>' ) );
		$_POST = array( 'florin_nonce' => 'nonce-florin_refund_address', 'florin_order_id' => $id, 'florin_order_key' => "wc_order_key$id", 'florin_refund_address' => ADDRESS );
		Refunds::receive_address();
		contains( 'Thank you', end( \Shop::$notices ) );
		contains( ADDRESS, notes( $id ) );
		contains( ADDRESS, printed( static fn() => Order_Screen::show_box( wc_get_order( $id ) ) ) );
		same( false, Refunds::keep_address( $id, "wc_order_key$id", strrev( ADDRESS ) ) );
	},
	'a form without its nonce is ignored' => static function (): void {
		list( $id ) = sell();
		Refunds::ask( $id );
		$_POST = array( 'florin_nonce' => 'another', 'florin_order_id' => $id, 'florin_order_key' => "wc_order_key$id", 'florin_refund_address' => ADDRESS );
		Refunds::receive_address();
		same( '', Refunds::address( Order_Record::fresh( $id ) ) );
	},
	'a refund is recorded once, at the proxy and in the shop' => static function (): void {
		list( $id, $florin ) = sell();
		pay( $florin );
		proxy( array( 'refund_amount' => '4.20' ) );
		Refunds::record( $id, $florin, '0.0001', '', '0xAB12' );
		Refunds::record( $id, $florin, '0.0001', '', '0xAB12' );
		same( 1, count( proxy()['orders'][ $florin ]['refunds'] ) );
		$refunds = \WC_Order::$stored[ $id ]['refunds'];
		same( array( 1, '4.20', false ), array( count( $refunds ), $refunds[0]['amount'], $refunds[0]['refund_payment'] ) );
		same( 1, substr_count( notes( $id ), 'A refund was recorded: 0.0001 BTC, transaction ab12. It takes 4.20 USD back' ) );
		$keys = array_column( array_filter( proxy()['requests'], static fn( $request ) => str_ends_with( $request['path'], '/refunds' ) ), 'key' );
		same( 1, count( array_unique( $keys ) ) );
	},
	'money that was owed is no refund of the price' => static function (): void {
		list( $id, $florin ) = sell();
		pay( $florin );
		Refunds::record( $id, $florin, '0.0001', '', 'ab12' );
		same( false, isset( \WC_Order::$stored[ $id ]['refunds'] ) );
	},
	'a refund that was recorded elsewhere is a note' => static function (): void {
		list( $id, $florin ) = sell();
		pay( $florin );
		report( 'order.refunded', $florin, array( 'refunds' => array( array( 'amount_in_crypto' => '0.001', 'crypto_code' => 'BTC', 'amount' => '42.00' ) ) ) );
		contains( 'It takes 42.00 USD back of the price', notes( $id ) );
		same( false, isset( \WC_Order::$stored[ $id ]['refunds'] ) );
	},
	'an address of the payment page is noted' => static function (): void {
		list( $id, $florin ) = sell();
		pay( $florin );
		report( 'order.refund_address_added', $florin, array( 'refund_address' => ADDRESS ) );
		contains( ADDRESS, meta( $id, '_florin_attention' ) );
	},
	'the box records what a person enters' => static function (): void {
		list( $id, $florin ) = sell();
		pay( $florin );
		$_POST = array( 'order' => $id, '_ajax_nonce' => "nonce-florin_order_$id", 'amount' => '1,5', 'transaction' => 'ab12', 'payment' => $florin );
		contains( 'Write an amount', sent( array( Order_Screen::class, 'record' ) )->data );
		$_POST['amount'] = '0.0001';
		$_POST['payment'] = 'ord_of_another_order';
		same( false, sent( array( Order_Screen::class, 'record' ) )->is_success );
		$_POST['payment'] = $florin;
		same( true, sent( array( Order_Screen::class, 'record' ) )->is_success );
		same( 'ab12', proxy()['orders'][ $florin ]['refunds'][0]['transaction_hash'] );
	},
);
