<?php
/**
 * The tests of the plugin: php run.php [PART OF A NAME]
 *
 * They play sales against a stand-in of the proxy, over HTTP, and stand-ins of WordPress and WooCommerce. `real.sh` plays them against
 * the real ones.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

error_reporting( E_ALL );
set_error_handler( static fn( $number, $text, $file, $line ) => error_reporting() & $number ? throw new \ErrorException( $text, 0, $number, $file, $line ) : false );
require __DIR__ . '/wordpress.php';
require __DIR__ . '/woocommerce.php';
require __DIR__ . '/sale.php';
require dirname( __DIR__ ) . '/florin-for-woocommerce.php';

$proxy = start_proxy();
do_action( 'plugins_loaded' );
$tests = array();
foreach ( glob( __DIR__ . '/test-*.php' ) as $file ) {
	$tests += require $file;
}
$failed = 0;
$passed = 0;
foreach ( $tests as $name => $test ) {
	if ( ! str_contains( $name, $argv[1] ?? '' ) ) {
		continue;
	}
	reset_shop();
	try {
		$test();
		++$passed;
	} catch ( \Throwable $error ) {
		++$failed;
		echo "FAILED: $name\n  {$error->getMessage()}\n  {$error->getFile()}:{$error->getLine()}\n";

	}
}
proc_terminate( $proxy );
echo "$passed passed, $failed failed\n";
exit( $failed || ! $passed ? 1 : 0 );
