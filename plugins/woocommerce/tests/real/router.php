<?php
/**
 * The router of PHP's own server: files as they are, everything else by WordPress.
 *
 * @package Florin_For_WooCommerce
 */

$path = $_SERVER['DOCUMENT_ROOT'] . parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH );
if ( is_file( $path ) ) {
	return false;
}
if ( is_file( rtrim( $path, '/' ) . '/index.php' ) && str_contains( $path, '/wp-admin' ) ) {
	chdir( rtrim( $path, '/' ) );
	require rtrim( $path, '/' ) . '/index.php';
	return;
}
$_SERVER['SCRIPT_NAME'] = '/index.php';
require $_SERVER['DOCUMENT_ROOT'] . '/index.php';
