<?php
/**
 * Webhooks, and events that are asked for.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

/**
 * Sells, and is paid without a webhook. The order is on hold, so that only the list of events leads to it.
 */
function sell_without_webhook(): array {
	list( $id, $florin ) = sell();
	in_shop( $id, static fn( $order ) => $order->set_status( 'on-hold' ) );
	at_proxy( $florin, array( 'status' => 'paid', 'attempt' => attempt() ) );
	return array( $id, $florin );
}

return array(
	'a webhook that is not signed by the proxy changes nothing' => static function (): void {
		list( $id, $florin ) = sell();
		at_proxy( $florin, array( 'status' => 'paid', 'attempt' => attempt() ) );
		$event = event( 'order.paid', $florin );
		same( 400, deliver( $event, 'whsec_' . base64_encode( str_repeat( 'x', 24 ) ) ) );
		same( 400, deliver( $event, WEBHOOK_SECRET, time() - 600 ) );
		same( 400, Events::receive( '', array( 'webhook-id' => '', 'webhook-timestamp' => '', 'webhook-signature' => '' ) )[0] );
		same( 'pending', status( $id ) );
		set( 'webhook_secret', '' );
		same( 400, deliver( $event ) );
		same( array( 400, 'The settings have no webhook secret.' ), Events::receive( ...signed( $event, 'whsec_' ) ) );
		same( array(), get_option( Events::LAST_WEBHOOK, array() ) );
	},
	'a webhook is sent again while the proxy does not answer' => static function (): void {
		list( $id, $florin ) = sell();
		at_proxy( $florin, array( 'status' => 'paid', 'attempt' => attempt() ) );
		$event = event( 'order.paid', $florin );
		proxy( array( 'failure' => array( 500, 'internal' ) ) );
		same( 503, deliver( $event ) );
		proxy( array( 'failure' => null ) );
		same( 200, deliver( $event ) );
		same( 'processing', status( $id ) );
	},
	'events of others are accepted and ignored' => static function (): void {
		list( , $florin ) = sell();
		$event = event( 'order.paid', $florin );
		foreach ( array( 'wc-999-0123456789abcdef', 'catalogue-1' ) as $reference ) {
			$event['data']['order']['reference'] = $reference;
			same( 200, deliver( $event ) );
		}
		same( 200, deliver( array( 'id' => 'evt_t', 'type' => 'webhook.test', 'data' => array( 'store' => 'shop' ) ) ) );
	},
	'a lost webhook is found by the repeated work' => static function (): void {
		list( $id, $florin ) = sell_without_webhook();
		$event = event( 'order.paid', $florin );
		Events::poll();
		same( 'processing', status( $id ) );
		same( $event['id'], get_option( Events::CURSOR )['live'] );
	},
	'the list is read on from the last event, in pages' => static function (): void {
		list( , $florin ) = sell();
		for ( $number = 0; $number < 120; $number++ ) {
			$events[] = array( 'id' => "evt_$number", 'type' => 'order.created', 'data' => array( 'order' => proxy()['orders'][ $florin ] ) );
		}
		proxy( array( 'events' => $events, 'requests' => array() ) );
		Events::poll();
		same( 'evt_119', get_option( Events::CURSOR )['live'] );
		$count = static fn( string $path ): int => count( array_filter( proxy()['requests'], static fn( $request ) => str_starts_with( $request['path'], $path ) ) );
		same( 2, $count( '/v1/events' ) );
		// Nothing is asked because of an event that changes no order; the unpaid order itself is.
		same( 1, $count( '/v1/orders/' ) );
	},
	'an event that fails is read again' => static function (): void {
		list( $id, $florin ) = sell_without_webhook();
		event( 'order.paid', $florin );
		\Shop::$is_locked = true;
		Events::poll();
		same( false, isset( get_option( Events::CURSOR, array() )['live'] ) );
		\Shop::$is_locked = false;
		Events::poll();
		same( 'processing', status( $id ) );
	},
	'a proxy with a new database is read from its beginning' => static function (): void {
		list( $id, $florin ) = sell_without_webhook();
		update_option( Events::CURSOR, array( 'live' => 'evt_of_before' ) );
		event( 'order.paid', $florin );
		Events::poll();
		Events::poll();
		same( 'processing', status( $id ) );
	},
	'an event of an order that is gone does not stop the list' => static function (): void {
		list( $id, $florin ) = sell();
		list( $other_id, $other ) = sell_without_webhook();
		event( 'order.expired', $florin );
		event( 'order.paid', $other );
		proxy( array( 'orders' => array( $other => proxy()['orders'][ $other ] ) ) );
		Events::poll();
		same( array( 'pending', 'processing' ), array( status( $id ), status( $other_id ) ) );
	},
	'the repeated work is scheduled once' => static function (): void {
		Events::schedule();
		Events::schedule();
		same( array( 'florin_poll' ), \Shop::$schedule );
	},
);
