<?php
/**
 * A shop as its visitors, its owner and its proxy reach it.
 *
 * @package Florin_For_WooCommerce
 */

/**
 * Runs PHP inside WordPress, in a process of its kind, and returns what the code returns.
 *
 * @param string $code      Ends with `return …;`.
 * @param array  $arguments `$arguments` of the code.
 * @param int    $processes How many processes run it at once. The first one's result is returned.
 */
function in_wordpress( string $code, array $arguments = array(), int $processes = 1 ) {
	global $site;
	$host    = '127.0.0.1:' . getenv( 'SHOP_PORT' );
	$program = '$_SERVER["HTTP_HOST"] = ' . var_export( $host, true ) . '; define( "WP_ADMIN", true ); require ' . var_export( "$site/wp-load.php", true ) . ';'
		. 'require_once ABSPATH . "wp-admin/includes/plugin.php"; $arguments = json_decode( $argv[1], true );'
		. 'echo "\n<<<", json_encode( ( static function ( $arguments ) { ' . $code . ' } )( $arguments ) );';
	$running = array();
	for ( $number = 0; $number < $processes; $number++ ) {
		$process   = proc_open( array( PHP_BINARY, '-d', 'memory_limit=512M', '-r', $program, '--', json_encode( $arguments ) ), array( 1 => array( 'pipe', 'w' ) ), $pipes );
		$running[] = array( $process, $pipes[1] );
	}
	$outputs = array_map( static fn( array $one ): string => stream_get_contents( $one[1] ), $running );
	foreach ( $running as list( $process ) ) {
		proc_close( $process );
	}
	$output = $outputs[0];
	list( $before, $result ) = explode( "\n<<<", $output, 2 ) + array( '', 'null' );
	if ( '' !== trim( $before ) ) {
		fwrite( STDERR, $before );
	}
	return json_decode( $result, true );
}

/**
 * A browser: it keeps cookies.
 */
final class Browser {

	/**
	 * The handle of curl.
	 *
	 * @var CurlHandle
	 */
	private $curl;

	/**
	 * The status and address of the last page.
	 *
	 * @var int
	 */
	public int $status = 0;

	/**
	 * The address of the last page.
	 *
	 * @var string
	 */
	public string $url = '';

	/**
	 * Opens it.
	 */
	public function __construct() {
		$this->curl = curl_init();
		curl_setopt_array( $this->curl, array( CURLOPT_COOKIEFILE => '', CURLOPT_RETURNTRANSFER => true, CURLOPT_FOLLOWLOCATION => true, CURLOPT_TIMEOUT => 60 ) );
	}

	/**
	 * Requests a page; with fields by POST.
	 *
	 * @param string            $url     The address; of the shop, if it has no host.
	 * @param array|string|null $fields  Fields of a form, or a body.
	 * @param array             $headers Lines.
	 */
	public function request( string $url, $fields = null, array $headers = array() ): string {
		$url = str_starts_with( $url, '/' ) ? 'http://127.0.0.1:' . getenv( 'SHOP_PORT' ) . $url : $url;
		curl_setopt_array( $this->curl, array( CURLOPT_URL => $url, CURLOPT_HTTPHEADER => $headers, CURLOPT_HTTPGET => true ) );
		if ( null !== $fields ) {
			curl_setopt_array( $this->curl, array( CURLOPT_POST => true, CURLOPT_POSTFIELDS => is_array( $fields ) ? http_build_query( $fields ) : $fields ) );
		}
		$text         = (string) curl_exec( $this->curl );
		$this->status = curl_getinfo( $this->curl, CURLINFO_RESPONSE_CODE );
		$this->url    = curl_getinfo( $this->curl, CURLINFO_EFFECTIVE_URL );
		return $text;
	}

	/**
	 * Sends JSON, and reads JSON.
	 *
	 * @param string $url     The address.
	 * @param ?array $body    By POST; `null` for GET.
	 * @param array  $headers Lines.
	 */
	public function json( string $url, ?array $body = null, array $headers = array() ) {
		$text = $this->request( $url, null === $body ? null : json_encode( (object) $body ), array_merge( $headers, array( 'Content-Type: application/json' ) ) );
		return json_decode( $text, true ) ?? $text;
	}
}

/**
 * Fails the run if a claim does not hold.
 *
 * @param string $claim What holds.
 * @param bool   $holds Whether it does.
 * @param mixed  $found What was found instead.
 */
function holds( string $claim, bool $holds, $found = null ): void {
	global $passed;
	if ( ! $holds ) {
		fwrite( STDERR, "FAILED: $claim\n" . print_r( $found, true ) . "\n" );
		exit( 1 );
	}
	++$passed;
	echo "ok: $claim\n";
}

/**
 * Waits until something is so.
 *
 * @param callable $is_so  Returns whether it is.
 * @param int      $seconds The longest time.
 */
function within( callable $is_so, int $seconds = 30 ): bool {
	$end = microtime( true ) + $seconds;
	do {
		if ( $is_so() ) {
			return true;
		}
		usleep( 300000 );
	} while ( microtime( true ) < $end );
	return false;
}

/**
 * Calls the control API of the sandbox.
 *
 * @param string $path Below `/sandbox`.
 * @param array  $body The request.
 */
function sandbox( string $path, array $body ) {
	return ( new Browser() )->json( 'http://127.0.0.1:' . getenv( 'SANDBOX_PORT' ) . "/sandbox/$path", $body );
}

/**
 * Chooses Bitcoin for an order, as the checkout in the frame does. Returns the order as the customer sees it.
 *
 * @param string $client_token The token in the page.
 */
function choose_bitcoin( string $client_token ): array {
	$proxy   = 'http://127.0.0.1:' . getenv( 'PROXY_PORT' );
	$headers = array( "Authorization: Bearer $client_token", 'Origin: http://127.0.0.1:' . getenv( 'SHOP_PORT' ) );
	$browser = new Browser();
	$quotes  = $browser->json( "$proxy/v1/checkout/quotes", null, $headers );
	$quote   = current( array_filter( $quotes, static fn( array $quote ): bool => 'BTC' === $quote['crypto_code'] ) );
	return $browser->json( "$proxy/v1/checkout/attempt", array( 'crypto_code' => 'BTC', 'quote_id' => $quote['quote_id'] ), $headers );
}

/**
 * Returns status, stock and notes of an order.
 *
 * @param int $id The shop's id of the order.
 */
function order( int $id ): array {
	return in_wordpress(
		'$order = wc_get_order( $arguments["id"] );
		$item = current( $order->get_items() );
		return array(
			"status" => $order->get_status(),
			"stock" => $item->get_product()->get_stock_quantity(),
			"notes" => array_column( wc_get_order_notes( array( "order_id" => $arguments["id"] ) ), "content" ),
			"florin" => $order->get_meta( "_florin_order" ),
			"pay" => $order->get_checkout_payment_url( true ),
			"received" => $order->get_checkout_order_received_url(),
		);',
		array( 'id' => $id )
	);
}

/**
 * Returns `true` once an order has a status.
 *
 * @param int    $id     The shop's id of the order.
 * @param string $status The status.
 */
function becomes( int $id, string $status ): bool {
	return within( static fn(): bool => order( $id )['status'] === $status );
}

/**
 * Buys a mug with the Checkout block's interface. Returns the order's id and the page to go to.
 */
function buy(): array {
	$browser = new Browser();
	$product = getenv( 'PRODUCT' );
	$page    = $browser->request( '/?p=' . $product );
	$nonce   = in_wordpress( 'return wp_create_nonce( "wc_store_api" );' );
	$cart    = $browser->request( '/index.php?rest_route=/wc/store/v1/cart' );
	$headers = array( "Nonce: $nonce" );
	$browser->json( '/index.php?rest_route=/wc/store/v1/cart/add-item', array( 'id' => (int) $product, 'quantity' => 1 ), $headers );
	$address = array( 'first_name' => 'Ada', 'last_name' => 'Lovelace', 'address_1' => 'Street 1', 'city' => 'Berlin', 'postcode' => '10115', 'country' => 'DE', 'state' => '', 'email' => 'ada@shop.example', 'phone' => '' );
	$answer  = $browser->json( '/index.php?rest_route=/wc/store/v1/checkout', array( 'billing_address' => $address, 'shipping_address' => $address, 'payment_method' => 'florin' ), $headers );
	holds( 'the Checkout block opens an order with Florin', 'success' === ( $answer['payment_result']['payment_status'] ?? '' ), $answer );
	return array( $answer['order_id'], $answer['payment_result']['redirect_url'], $browser );
}

/**
 * Returns the client token in a page of the shop.
 *
 * @param string $page The page.
 */
function token_in( string $page ): string {
	preg_match( '/<florin-checkout[^>]* client-token="([^"]+)"/', $page, $found );
	holds( 'the page shows the checkout', isset( $found[1] ), substr( strip_tags( $page ), 0, 2000 ) );
	return $found[1];
}
