<?php
/**
 * The recipe of docs/guide/any-platform.md: its program is run as it stands there.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

/**
 * The functions that the page leaves to the shop.
 */
const SHOP = <<<'PHP'
function shop_order(string $number): object {
    return new class($number) {
        public $total = '42.00', $currency = 'USD', $page = 'https://shop.example/thanks', $page_to_pay = 'https://shop.example/cart';
        public function __construct(public string $number) {}
        public function pay_once(string $amount, string $currency): void {
            file_put_contents('paid', "$this->number $amount $currency\n", FILE_APPEND);
        }
    };
}
PHP;

return array(
	'the recipe for any other platform sells' => static function (): void {
		$root = dirname( __DIR__, 3 );
		preg_match( '/<!-- recipe -->\n```php\n(.*?)\n```/s', file_get_contents( "$root/docs/guide/any-platform.md" ), $found );
		same( true, substr_count( $found[1], "\n" ) < 36 );
		$folder = sys_get_temp_dir() . '/florin-' . bin2hex( random_bytes( 8 ) );
		mkdir( $folder );
		symlink( "$root/packages/php", "$folder/florin" );
		file_put_contents( "$folder/index.php", $found[1] . "\n" . SHOP );
		list( $shop, $port ) = start_server( "$folder/index.php", array( 'FLORIN_URL' => Settings::get( 'url' ), 'FLORIN_SECRET_KEY' => 'sk_right', 'WEBHOOK_SECRET' => WEBHOOK_SECRET ) );
		$send = static function ( string $path, string $body, array $headers ) use ( $port ): array {
			$http   = array( 'method' => 'POST', 'content' => $body, 'header' => $headers, 'follow_location' => 0, 'ignore_errors' => true );
			$answer = file_get_contents( "http://127.0.0.1:$port$path", false, stream_context_create( array( 'http' => $http ) ) );
			return array( $http_response_header[0], implode( "\n", $http_response_header ), $answer );
		};
		contains( 'Location: http://proxy/pay#client_token=', $send( '/pay', 'order=1017', array( 'Content-Type: application/x-www-form-urlencoded' ) )[1] );
		$order = current( proxy()['orders'] );
		same( array( '1017', '42.00' ), array( $order['reference'], $order['amount'] ) );
		at_proxy( $order['id'], array( 'status' => 'paid' ) );
		list( $body, $headers ) = signed( event( 'order.paid', $order['id'] ) );
		$lines = array_map( static fn( $name ) => "$name: $headers[$name]", array_keys( $headers ) );
		$lines[] = 'Content-Type: application/json';
		contains( '204', $send( '/florin', $body, $lines )[0] );
		contains( '400', $send( '/florin', "$body ", $lines )[0] );
		same( "1017 42.00 USD\n", file_get_contents( "$folder/paid" ) );
		proc_terminate( $shop );
		array_map( 'unlink', array( "$folder/florin", "$folder/index.php", "$folder/paid" ) );
		rmdir( $folder );
	},
);
