<?php
/**
 * A shop with a proxy, and what happens to them in a test.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/**
 * Starts the stand-in of the proxy.
 *
 * @return resource
 */
function start_proxy() {
	$file = tempnam( sys_get_temp_dir(), 'florin' );
	putenv( "FLORIN_STATE=$file" );
	register_shutdown_function( 'unlink', $file );
	list( $process, $port ) = start_server( __DIR__ . '/proxy.php', array() );
	putenv( "FLORIN_PORT=$port" );
	return $process;
}

/**
 * Starts PHP's own server with a program, in its folder. Returns the process and its port.
 */
function start_server( string $program, array $environment ): array {
	$socket = stream_socket_server( 'tcp://127.0.0.1:0' );
	$port   = (int) substr( strrchr( stream_socket_get_name( $socket, false ), ':' ), 1 );
	fclose( $socket );
	$quiet   = array( 1 => array( 'file', '/dev/null', 'w' ), 2 => array( 'file', '/dev/null', 'w' ) );
	$process = proc_open( array( PHP_BINARY, '-S', "127.0.0.1:$port", $program ), $quiet, $pipes, dirname( $program ), $environment + getenv() );
	for ( $try = 0; $try < 100 && ! @fsockopen( '127.0.0.1', $port ); $try++ ) {
		usleep( 50000 );
	}
	return array( $process, $port );
}

/**
 * Begins anew: a shop with the plugin in live mode, and a proxy without orders.
 */
function reset_shop(): void {
	foreach ( array( 'notices', 'scripts', 'log', 'boxes', 'query', 'locks', 'schedule' ) as $name ) {
		\Shop::$$name = array();
	}
	\Shop::$environment = 'production';
	\Shop::$is_manager = true;
	\Shop::$is_locked  = false;
	\WC_Order::$stored = array();
	\WC_Order::$stock  = 10;
	$_POST             = array();
	$_GET              = array();
	$url               = 'http://127.0.0.1:' . getenv( 'FLORIN_PORT' );
	$of_mode           = array( 'url' => $url, 'store' => 'shop', 'secret_key' => 'sk_right', 'webhook_secret' => WEBHOOK_SECRET );
	\Shop::$options    = array( Settings::OPTION => $of_mode + array( 'enabled' => 'yes' ) );
	$admission         = array( 'public_url' => $url, 'store' => 'shop', 'pages' => array( 'listed' ), 'line' => '' );
	$webhooks          = array( array( 'id' => 'default', 'state' => 'enabled' ) );
	$state             = array( 'orders' => array(), 'events' => array(), 'requests' => array(), 'webhooks' => $webhooks, 'admission' => $admission, 'environment' => 'production', 'refund_amount' => '0.00' );
	file_put_contents( getenv( 'FLORIN_STATE' ), json_encode( $state ) );
}

/**
 * Sets a setting.
 */
function set( string $name, string $value ): void {
	\Shop::$options[ Settings::OPTION ][ $name ] = $value;
}

/**
 * Returns, and with changes first changes, the state of the proxy.
 */
function proxy( array $changes = array() ): array {
	$state = array_replace( json_decode( file_get_contents( getenv( 'FLORIN_STATE' ) ), true ), $changes );
	file_put_contents( getenv( 'FLORIN_STATE' ), json_encode( $state ) );
	return $state;
}

/**
 * Places an order and opens it at the proxy. Returns its id in the shop and there.
 */
function sell( array $data = array() ): array {
	$id     = \WC_Order::place( $data );
	$result = ( new Gateway() )->process_payment( $id );
	same( 'success', $result['result'] );
	return array( $id, meta( $id, '_florin_order' ) );
}

/**
 * Changes an order at the proxy.
 */
function at_proxy( string $florin_id, array $changes ): array {
	$orders               = proxy()['orders'];
	$orders[ $florin_id ] = array_replace( $orders[ $florin_id ], $changes );
	proxy( array( 'orders' => $orders ) );
	return $orders[ $florin_id ];
}

/**
 * What arrived for an order.
 */
function attempt( string $received = '0.001', ?string $hash = 'ab12' ): array {
	return array( 'crypto_code' => 'BTC', 'amount_in_crypto' => '0.001', 'received_in_crypto' => $received, 'transaction_hash' => $hash );
}

/**
 * Makes the event of an order as it is at the proxy now, in the proxy's list.
 */
function event( string $type, string $florin_id ): array {
	$state = proxy();
	$event = array( 'id' => 'evt_' . count( $state['events'] ), 'type' => $type, 'timestamp' => gmdate( 'c' ), 'data' => array( 'sequence' => 1, 'order' => $state['orders'][ $florin_id ] ) );
	proxy( array( 'events' => array( ...$state['events'], $event ) ) );
	return $event;
}

/**
 * Returns the body and the headers of a delivery, signed as Standard Webhooks says.
 */
function signed( array $event, string $secret = WEBHOOK_SECRET, ?int $at = null ): array {
	$body = json_encode( array_diff_key( $event, array( 'id' => 0 ) ) );
	$at   = (string) ( $at ?? time() );
	$key  = base64_decode( substr( $secret, strlen( 'whsec_' ) ) );
	$mac  = base64_encode( hash_hmac( 'sha256', "$event[id].$at.$body", $key, true ) );
	return array( $body, array( 'webhook-id' => $event['id'], 'webhook-timestamp' => $at, 'webhook-signature' => "v1,$mac" ) );
}

/**
 * Delivers an event as the proxy does. Returns the status.
 */
function deliver( array $event, string $secret = WEBHOOK_SECRET, ?int $at = null ): int {
	return Events::receive( ...signed( $event, $secret, $at ) )[0];
}

/**
 * An order changes at the proxy, and a webhook reports it.
 */
function report( string $type, string $florin_id, array $changes ): void {
	at_proxy( $florin_id, $changes );
	same( 200, deliver( event( $type, $florin_id ) ) );
}

/**
 * A payment in full.
 */
function pay( string $florin_id ): void {
	report( 'order.paid', $florin_id, array( 'status' => 'paid', 'attempt' => attempt() ) );
}

function status( int $id ): string {
	return \WC_Order::$stored[ $id ]['status'];
}

function meta( int $id, string $name ) {
	return \WC_Order::$stored[ $id ]['meta'][ $name ] ?? '';
}

function notes( int $id ): string {
	return implode( "\n", \WC_Order::$stored[ $id ]['notes'] );
}

/**
 * Changes an order as other code of the shop does.
 */
function in_shop( int $id, callable $change ): void {
	$order = wc_get_order( $id );
	$change( $order );
	$order->save();
}

/**
 * Returns what a function prints.
 */
function printed( callable $function ): string {
	ob_start();
	try {
		$function();
	} finally {
		$text = ob_get_clean();
	}
	return $text;
}

/**
 * Returns the answer of a request that ends with one.
 */
function sent( callable $function ): \Sent {
	try {
		$function();
	} catch ( \Sent $sent ) {
		return $sent;
	}
	throw new \Exception( 'Nothing was sent.' );
}

function same( $expected, $found ): void {
	if ( $expected !== $found ) {
		throw new \Exception( 'expected ' . var_export( $expected, true ) . ', found ' . var_export( $found, true ) );
	}
}

function contains( string $part, string $text ): void {
	if ( ! str_contains( $text, $part ) ) {
		throw new \Exception( "\"$part\" is not in: $text" );
	}
}

function lacks( string $part, string $text ): void {
	if ( str_contains( $text, $part ) ) {
		throw new \Exception( "\"$part\" is in: $text" );
	}
}
