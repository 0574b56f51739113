<?php
/**
 * What becomes of orders that are paid, or not.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

return array(
	'a payment completes the order once' => static function (): void {
		list( $id, $florin ) = sell();
		pay( $florin );
		same( 'processing', status( $id ) );
		same( $florin, \WC_Order::$stored[ $id ]['transaction'] );
		contains( '0.001 BTC, transaction ab12', notes( $id ) );
		$notes = notes( $id );
		deliver( event( 'order.paid', $florin ) );
		Events::poll();
		same( 9, \WC_Order::$stock );
		same( $notes, notes( $id ) );
	},
	'an old event changes nothing' => static function (): void {
		list( $id, $florin ) = sell();
		at_proxy( $florin, array( 'status' => 'expired', 'expires_at' => '2020-01-01T00:00:00Z' ) );
		$old = event( 'order.expired', $florin );
		at_proxy( $florin, array( 'status' => 'paid', 'attempt' => attempt() ) );
		same( 200, deliver( $old ) );
		same( 'processing', status( $id ) );
	},
	'a payment that is not confirmed puts the order on hold' => static function (): void {
		list( $id, $florin ) = sell();
		report( 'order.payment_seen', $florin, array( 'status' => 'checking', 'attempt' => attempt( '0' ) ) );
		same( 'on-hold', status( $id ) );
		same( 9, \WC_Order::$stock );
		report( 'order.processing', $florin, array( 'status' => 'processing' ) );
		pay( $florin );
		same( 'processing', status( $id ) );
		same( 9, \WC_Order::$stock );
	},
	'what the customer says is no payment' => static function (): void {
		list( $id, $florin ) = sell();
		report( 'order.attempt_opened', $florin, array( 'status' => 'checking', 'attempt' => attempt( '0', null ) ) );
		at_proxy( $florin, array( 'status' => 'checking' ) );
		Payments::sync_current( Order_Record::fresh( $id ) );
		same( 'pending', status( $id ) );
	},
	'a payment that vanishes fails the order' => static function (): void {
		list( $id, $florin ) = sell();
		report( 'order.processing', $florin, array( 'status' => 'processing', 'attempt' => attempt() ) );
		report( 'order.failed', $florin, array( 'status' => 'failed' ) );
		same( 'failed', status( $id ) );
	},
	'an order of another price is not completed' => static function (): void {
		list( $id, $florin ) = sell();
		\WC_Order::$stored[ $id ]['total'] = '43.00';
		pay( $florin );
		same( 'on-hold', status( $id ) );
		contains( '42.00 USD was paid, but the order’s total is 43.00 USD now', notes( $id ) );
		Events::poll();
		same( 'on-hold', status( $id ) );
	},
	'an order of another currency is not completed' => static function (): void {
		list( $id, $florin ) = sell();
		\WC_Order::$stored[ $id ]['currency'] = 'EUR';
		pay( $florin );
		same( 'on-hold', status( $id ) );
	},
	'a half payment waits on hold, or as the shop chooses' => static function (): void {
		foreach ( array( 'on-hold', 'failed' ) as $status ) {
			set( 'underpaid_status', $status );
			list( $id, $florin ) = sell();
			report( 'order.underpaid', $florin, array( 'status' => 'underpaid', 'attempt' => attempt( '0.0005' ) ) );
			same( $status, status( $id ) );
			contains( '0.0005 BTC of 0.001 arrived', notes( $id ) );
			contains( '0.0005', meta( $id, '_florin_attention' ) );
			pay( $florin );
			same( 'processing', status( $id ) );
		}
	},
	'an overpaid order is complete and asks for a person' => static function (): void {
		list( $id, $florin ) = sell();
		report( 'order.overpaid', $florin, array( 'status' => 'overpaid', 'attempt' => attempt( '0.002' ) ) );
		same( 'processing', status( $id ) );
		contains( '0.002 BTC arrived', meta( $id, '_florin_attention' ) );
	},
	'an order that was paid by card is never cancelled' => static function (): void {
		list( $id, $florin ) = sell();
		in_shop( $id, static fn( $order ) => $order->payment_complete( 'card' ) );
		\WC_Order::$stored[ $id ]['method'] = 'card';
		same( 'cancelled', proxy()['orders'][ $florin ]['status'] );
		deliver( event( 'order.cancelled', $florin ) );
		report( 'order.expired', $florin, array( 'status' => 'expired', 'expires_at' => '2020-01-01T00:00:00Z' ) );
		same( 'processing', status( $id ) );
	},
	'an unpaid order of another method is left alone' => static function (): void {
		foreach ( array( 'expired', 'paid', 'processing', 'underpaid' ) as $status ) {
			list( $id, $florin ) = sell();
			\WC_Order::$stored[ $id ]['method'] = 'card';
			report( "order.$status", $florin, array( 'status' => $status, 'expires_at' => '2020-01-01T00:00:00Z', 'attempt' => attempt() ) );
			same( 'pending', status( $id ) );
			same( 'expired' === $status ? '' : 'asks', '' === meta( $id, '_florin_attention' ) ? '' : 'asks' );
		}
	},
	'coins for an order that was paid otherwise are owed' => static function (): void {
		list( $id, $florin ) = sell();
		in_shop( $id, static fn( $order ) => $order->payment_complete( 'card' ) );
		pay( $florin );
		same( 9, \WC_Order::$stock );
		contains( 'This money is owed to the customer', notes( $id ) );
		same( '', meta( $id, '_florin_credited' ) );
	},
	'an order that was paid otherwise and put on hold stays so' => static function (): void {
		foreach ( array( 'processing', 'failed', 'paid' ) as $status ) {
			list( $id, $florin ) = sell();
			report( 'order.processing', $florin, array( 'status' => 'processing', 'attempt' => attempt() ) );
			in_shop( $id, static fn( $order ) => $order->payment_complete( 'card' ) );
			in_shop( $id, static fn( $order ) => $order->set_status( 'on-hold' ) );
			report( "order.$status", $florin, array( 'status' => $status ) );
			same( 'on-hold', status( $id ) );
			same( '', meta( $id, '_florin_credited' ) );
			same( 'failed' === $status ? '' : 'asks', '' === meta( $id, '_florin_attention' ) ? '' : 'asks' );
		}
	},
	'a payment after the cancellation waits for a person, or completes' => static function (): void {
		foreach ( array( 'on-hold' => 'on-hold', 'paid' => 'processing' ) as $setting => $status ) {
			set( 'late_status', $setting );
			list( $id, $florin ) = sell();
			in_shop( $id, static fn( $order ) => $order->set_status( 'cancelled' ) );
			pay( $florin );
			same( $status, status( $id ) );
			deliver( event( 'order.paid', $florin ) );
			same( $status, status( $id ) );
		}
	},
	'a late payment is noted once for each event' => static function (): void {
		list( $id, $florin ) = sell();
		pay( $florin );
		$event = event( 'order.late_payment', $florin );
		deliver( $event );
		deliver( $event );
		Events::poll();
		same( 1, substr_count( notes( $id ), 'came late or a second time: 0.001 BTC' ) );
		same( 'processing', status( $id ) );
	},
	'a reverted payment stops what is not shipped' => static function (): void {
		foreach ( array( 'processing' => 'on-hold', 'completed' => 'completed' ) as $before => $after ) {
			list( $id, $florin ) = sell();
			pay( $florin );
			in_shop( $id, static fn( $order ) => $order->set_status( $before ) );
			report( 'order.reverted', $florin, array( 'reverted' => array( 'at' => '2026-11-28T10:00:00Z', 'payment_state' => 'failed' ) ) );
			same( $after, status( $id ) );
			contains( 'the gateway reports “failed”', meta( $id, '_florin_attention' ) );
			in_shop( $id, static fn( $order ) => $order->set_status( 'processing' ) );
			deliver( event( 'order.reverted', $florin ) );
			same( 'processing', status( $id ) );
		}
	},
	'a reverted second payment stops nothing' => static function (): void {
		list( $id, $first ) = sell();
		at_proxy( $first, array( 'status' => 'cancelled' ) );
		( new Gateway() )->process_payment( $id );
		$second = meta( $id, '_florin_order' );
		pay( $first );
		report( 'order.reverted', $second, array( 'status' => 'paid', 'attempt' => attempt(), 'reverted' => array( 'at' => '2026-11-28T10:00:00Z', 'payment_state' => 'failed' ) ) );
		same( 'processing', status( $id ) );
	},
	'an unpaid order ends as the shop chooses, after its time' => static function (): void {
		foreach ( array( 'cancelled' => 'cancelled', 'failed' => 'failed', 'leave' => 'pending' ) as $setting => $status ) {
			set( 'unpaid_status', $setting );
			list( $id, $florin ) = sell();
			at_proxy( $florin, array( 'status' => 'expired' ) );
			Events::poll();
			same( 'pending', status( $id ) );
			at_proxy( $florin, array( 'expires_at' => '2020-01-01T00:00:00Z' ) );
			Events::poll();
			same( $status, status( $id ) );
		}
	},
	'an order that a person put on hold stays on hold' => static function (): void {
		list( $id, $florin ) = sell();
		in_shop( $id, static fn( $order ) => $order->set_status( 'on-hold' ) );
		report( 'order.cancelled', $florin, array( 'status' => 'cancelled' ) );
		same( 'on-hold', status( $id ) );
	},
	'a blocked payment and a decision of the operator ask for a person' => static function (): void {
		list( $id, $florin ) = sell();
		report( 'order.blocked', $florin, array( 'status' => 'blocked' ) );
		contains( 'doubtful address', meta( $id, '_florin_attention' ) );
		same( 'pending', status( $id ) );
		report( 'order.cancelled', $florin, array( 'status' => 'cancelled', 'decision' => array( 'outcome' => 'closed' ) ) );
		contains( 'An operator of the proxy closed the order', notes( $id ) );
		same( 'cancelled', status( $id ) );
	},
	'WooCommerce cancels an unpaid order only once it is cancelled at the proxy' => static function (): void {
		foreach ( array( 'open' => true, 'expired' => true, 'awaiting_payment' => false, 'checking' => false, 'processing' => false, 'underpaid' => false ) as $status => $may ) {
			list( $id, $florin ) = sell();
			at_proxy( $florin, array( 'status' => $status ) );
			same( $may, apply_filters( 'woocommerce_cancel_unpaid_order', true, wc_get_order( $id ) ) );
			same( $may ? 'cancelled' : $status, proxy()['orders'][ $florin ]['status'] );
		}
		list( $id, $florin ) = sell();
		same( false, apply_filters( 'woocommerce_cancel_unpaid_order', false, wc_get_order( $id ) ) );
		same( 'open', proxy()['orders'][ $florin ]['status'] );
		proxy( array( 'failure' => array( 500, 'internal' ) ) );
		same( false, apply_filters( 'woocommerce_cancel_unpaid_order', true, wc_get_order( $id ) ) );
		same( true, apply_filters( 'woocommerce_cancel_unpaid_order', true, wc_get_order( \WC_Order::place( array( 'method' => 'card' ) ) ) ) );
	},
	'a change waits for another of the same order' => static function (): void {
		list( $id, $florin ) = sell();
		at_proxy( $florin, array( 'status' => 'paid', 'attempt' => attempt() ) );
		\Shop::$is_locked = true;
		same( 503, deliver( event( 'order.paid', $florin ) ) );
		same( 'pending', status( $id ) );
		\Shop::$is_locked = false;
		$lock = \Shop::$locks[0];
		contains( 'GET_LOCK', $lock );
		contains( 'RELEASE_LOCK', end( \Shop::$locks ) );
	},
);
