<?php
/**
 * A stand-in of the proxy, for PHP's own server: what the plugin calls, with the rules of its documentation. Its state is the file that
 * FLORIN_STATE names; the tests change it there.
 *
 * @package Florin_For_WooCommerce
 */

$state  = json_decode( file_get_contents( getenv( 'FLORIN_STATE' ) ), true );
$method = $_SERVER['REQUEST_METHOD'];
$path   = parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH );
$body   = json_decode( file_get_contents( 'php://input' ), true ) ?? array();
$bearer = preg_replace( '/^Bearer /', '', $_SERVER['HTTP_AUTHORIZATION'] ?? '' );
$state['requests'][] = array( 'method' => $method, 'path' => $path, 'body' => $body, 'key' => $_SERVER['HTTP_IDEMPOTENCY_KEY'] ?? null );

$answer = static function ( int $status, array $json ) use ( &$state ): void {
	file_put_contents( getenv( 'FLORIN_STATE' ), json_encode( $state ) );
	http_response_code( $status );
	header( 'Content-Type: application/json' );
	echo json_encode( $json );
	exit;
};
$refuse = static fn( int $status, string $code, string $message = '…', ?string $field = null ) => $answer( $status, array( 'error' => array( 'code' => $code, 'message' => $message, 'request_id' => 'req_1' ) + array_filter( array( 'field' => $field ) ) ) );

if ( '/admission.js' === $path ) {
	file_put_contents( getenv( 'FLORIN_STATE' ), json_encode( $state ) );
	echo 'export default ' . json_encode( $state['admission'], JSON_UNESCAPED_SLASHES ) . ";\n";
	exit;
}
if ( $state['failure'] ?? null ) {
	list( $status, $code ) = $state['failure'];
	$refuse( $status, $code, 'It was asked to fail.' );
}
if ( str_starts_with( $path, '/v1/checkout' ) ) {
	$id = substr( $bearer, strlen( 'token_' ) );
	isset( $state['orders'][ $id ] ) || $refuse( 404, 'not_found' );
	$quote = array( 'crypto_code' => 'BTC', 'asset' => 'BTC', 'network' => 'Bitcoin', 'available' => true );
	$answer( 200, '/v1/checkout' === $path ? array( 'environment' => $state['environment'] ) : array( $quote ) );
}
'sk_right' === $bearer || $refuse( 401, 'unauthorized', 'No store has this key.' );

if ( 'POST' === $method && '/v1/orders' === $path ) {
	is_string( $body['amount'] ) && preg_match( '/^[A-Za-z0-9_.:-]{1,64}$/', $body['reference'] ) || $refuse( 400, 'invalid_request' );
	in_array( $body['currency'], array( 'USD', 'EUR' ), true ) || $refuse( 422, 'currency_unavailable' );
	$same = array_filter( $state['orders'], static fn( array $order ): bool => $order['reference'] === $body['reference'] );
	$order = current( $same );
	if ( $order && (float) $order['amount'] !== (float) $body['amount'] ) {
		$refuse( 409, 'order_conflict' );
	}
	if ( ! $order ) {
		$order = array(
			'id'         => sprintf( 'ord_%032x', count( $state['orders'] ) + 1 ),
			'reference'  => $body['reference'],
			'status'     => 'open',
			'amount'     => $body['amount'],
			'currency'   => $body['currency'],
			'expires_at' => gmdate( 'Y-m-d\TH:i:s\Z', time() + 86400 ),
			'reverted'   => null,
			'attempt'    => null,
		);
		$state['orders'][ $order['id'] ] = $order;
	}
	$opened   = array( 'order' => $order, 'client_token' => 'token_' . $order['id'], 'checkout_url' => 'http://proxy/pay#client_token=token_' . $order['id'] );
	$is_ended = in_array( $order['status'], array( 'expired', 'failed', 'cancelled' ), true ) && ( 'cancelled' === $order['status'] || strtotime( $order['expires_at'] ) <= time() );
	$answer( $same ? 200 : 201, $opened + ( $is_ended ? array( 'notice' => 'It has ended.' ) : array() ) );
}
if ( '/v1/events' === $path ) {
	$ids   = array_column( $state['events'], 'id' );
	$after = $_GET['after'] ?? null;
	null === $after || in_array( $after, $ids, true ) || $refuse( 400, 'invalid_request', 'The store has no such event.', 'after' );
	$answer( 200, array( 'events' => array_slice( $state['events'], null === $after ? 0 : array_search( $after, $ids, true ) + 1, (int) $_GET['limit'] ) ) );
}
if ( '/v1/webhooks' === $path ) {
	$answer( 200, array( 'webhooks' => $state['webhooks'] ) );
}
if ( '/v1/deliveries' === $path ) {
	$answer( 200, array( 'deliveries' => array( array( 'http_status' => 400, 'note' => 'no signature is that of the secret' ) ) ) );
}
preg_match( '#^/v1/orders/(ord_[0-9a-f]{32})(?:/(cancel|refunds|receipt))?$#', $path, $found ) || $refuse( 404, 'not_found' );
$order = &$state['orders'][ $found[1] ];
$order || $refuse( 404, 'not_found' );
switch ( $found[2] ?? '' ) {
	case 'cancel':
		in_array( $order['status'], array( 'open', 'awaiting_payment', 'expired', 'failed', 'cancelled' ), true ) || $refuse( 409, 'order_closed' );
		$order['status'] = 'cancelled';
		break;
	case 'refunds':
		$hash = strtolower( preg_replace( '/^0x/', '', $body['transaction'] ) );
		if ( ! in_array( $hash, array_column( $order['refunds'] ?? array(), 'transaction_hash' ), true ) ) {
			$order['refunds'][] = array( 'amount_in_crypto' => $body['amount_in_crypto'], 'crypto_code' => 'BTC', 'amount' => $state['refund_amount'], 'transaction_hash' => $hash );
		}
		break;
	case 'receipt':
		$answer( 200, array( 'receipt' => array( 'received_in_crypto' => '0.001', 'asset' => 'BTC' ), 'code' => 'B9D5M-PJTB9' ) );
}
$answer( 200, $order );
