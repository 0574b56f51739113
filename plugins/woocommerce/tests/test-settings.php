<?php
/**
 * The connection test, and the plugin's files.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

/**
 * Runs the connection test. Returns what is wrong.
 */
function wrong( string $mode = Proxy::LIVE ): string {
	$test = new Connection_Test( $mode );
	$test->run();
	return implode( "\n", array_column( array_filter( $test->findings(), static fn( $finding ) => ! $finding['is_fine'] ), 'text' ) );
}

return array(
	'a right connection passes, and its order is cancelled' => static function (): void {
		same( '', wrong() );
		$order = current( proxy()['orders'] );
		same( array( 'cancelled', '10.00', 'USD' ), array( $order['status'], $order['amount'], $order['currency'] ) );
	},
	'each fault of the settings has its sentence' => static function (): void {
		foreach ( array(
			array( 'url', '', 'address of the proxy is missing' ),
			array( 'url', 'pay.shop.example', 'address of the proxy is missing' ),
			array( 'url', 'http://pay.shop.example', 'begins with http' ),
			array( 'url', 'http://127.0.0.1:1', 'cannot be reached' ),
			array( 'secret_key', '', 'secret key is missing' ),
			array( 'secret_key', 'sk_wrong', 'refuses the secret key' ),
			array( 'webhook_secret', 'sk_right', 'begins with whsec_' ),
		) as list( $name, $value, $text ) ) {
			reset_shop();
			set( $name, $value );
			contains( $text, wrong() );
		}
	},
	'each fault of the proxy has its sentence' => static function (): void {
		$admission = proxy()['admission'];
		foreach ( array(
			array( array( 'admission' => array( 'store' => null ) + $admission ), 'no store of this id' ),
			array( array( 'admission' => array( 'public_url' => 'https://pay.shop.example' ) + $admission ), 'write https://pay.shop.example' ),
			array( array( 'admission' => array( 'pages' => array( 'unlisted' ), 'line' => 'origins = ["https://shop.example"]' ) + $admission ), 'origins = ["https://shop.example"]' ),
			array( array( 'admission' => array( 'pages' => array( 'unencrypted' ) ) + $admission ), 'pages with https alone' ),
			array( array( 'admission' => 'no object' ), 'is not a Florin proxy' ),
			array( array( 'environment' => 'test' ), 'environment “test”' ),
			array( array( 'webhooks' => array() ), 'has no webhook' ),
			array( array( 'webhooks' => array( array( 'id' => 'default', 'state' => 'disabled' ) ) ), '“default” is disabled' ),
			array( array( 'failure' => array( 422, 'gateway_refused' ) ), 'It was asked to fail.' ),
		) as list( $changes, $text ) ) {
			reset_shop();
			proxy( $changes );
			contains( $text, wrong() );
		}
	},
	'a currency that the gateway does not price is named' => static function (): void {
		\Shop::$options['woocommerce_currency'] = 'XPF';
		contains( 'does not price the currency', wrong() );
	},
	'the test reports whether its webhook has arrived' => static function (): void {
		$reference = ( new Connection_Test( Proxy::LIVE ) )->run();
		$finding   = static function () use ( $reference ): array {
			$test = new Connection_Test( Proxy::LIVE );
			$test->test_webhook( $reference );
			return current( $test->findings() );
		};
		contains( '400 no signature is that of the secret', $finding()['text'] );
		$order = current( proxy()['orders'] );
		deliver( event( 'order.created', $order['id'] ) );
		same( true, $finding()['is_fine'] );
	},
	'only people who manage the shop can test' => static function (): void {
		$_POST             = array( '_ajax_nonce' => 'nonce-florin_connection_test' );
		\Shop::$is_manager = false;
		same( false, sent( array( Connection_Test::class, 'answer_connection' ) )->is_success );
		\Shop::$is_manager = true;
		same( true, sent( array( Connection_Test::class, 'answer_connection' ) )->is_success );
	},
	'uninstalling removes the settings and leaves the orders' => static function (): void {
		list( $id, $florin ) = sell();
		pay( $florin );
		Events::poll();
		same( 3, count( \Shop::$options ) );
		defined( 'WP_UNINSTALL_PLUGIN' ) || define( 'WP_UNINSTALL_PLUGIN', 'florin' );
		require dirname( __DIR__ ) . '/uninstall.php';
		same( array(), \Shop::$options );
		same( $florin, meta( $id, '_florin_order' ) );
	},
	'the translations are up to date and complete' => static function (): void {
		exec( escapeshellarg( PHP_BINARY ) . ' ' . escapeshellarg( dirname( __DIR__ ) . '/bin/translations.php' ) . ' --check 2>&1', $lines, $status );
		same( '', implode( "\n", $lines ) );
		same( 0, $status );
	},
	'the package has all that a shop needs' => static function (): void {
		$folder = sys_get_temp_dir() . '/florin-' . bin2hex( random_bytes( 8 ) );
		exec( 'sh ' . escapeshellarg( dirname( __DIR__ ) . '/bin/build.sh' ) . ' ' . escapeshellarg( $folder ) . ' 2>&1', $lines, $status );
		same( "$folder/florin-for-woocommerce.zip", implode( "\n", $lines ) );
		$package = new \PharData( "$folder/florin-for-woocommerce.zip" );
		foreach ( array( 'florin-for-woocommerce.php', 'readme.txt', 'includes/class-gateway.php', 'assets/blocks.js', 'lib/florin/src/Florin.php' ) as $file ) {
			same( true, isset( $package[ "florin-for-woocommerce/$file" ] ) );
		}
		same( false, isset( $package['florin-for-woocommerce/tests'] ) );
		$german = file_get_contents( "phar://$folder/florin-for-woocommerce.zip/florin-for-woocommerce/languages/florin-for-woocommerce-de_DE.l10n.php" );
		contains( "'Refund' => 'Erstattung'", $german );
		unlink( "$folder/florin-for-woocommerce.zip" );
		rmdir( $folder );
	},
	'the versions are the same everywhere' => static function (): void {
		$folder = dirname( __DIR__ );
		contains( ' * Version: ' . VERSION . "\n", file_get_contents( "$folder/florin-for-woocommerce.php" ) );
		contains( 'Stable tag: ' . VERSION . "\n", file_get_contents( "$folder/readme.txt" ) );
	},
);
