<?php
/**
 * A stand-in of the functions of WordPress that the plugin calls.
 *
 * @package Florin_For_WooCommerce
 */

define( 'ABSPATH', __DIR__ . '/' );
define( 'DB_NAME', 'shop' );
define( 'HOUR_IN_SECONDS', 3600 );

/**
 * What a request leaves behind. `reset_shop` empties it.
 */
final class Shop {
	public static array $options  = array();
	public static array $notices  = array();
	public static array $scripts  = array();
	public static array $log      = array();
	public static array $boxes    = array();
	public static array $schedule = array();
	public static array $query    = array();
	public static array $hooks    = array();
	public static string $environment = 'production';
	public static bool $is_manager = true;
	public static bool $is_locked  = false;
	public static array $locks     = array();
}

/**
 * The text that the plugin has sent by `wp_send_json_…`, which ends a request.
 */
final class Sent extends Exception {
	public function __construct( public readonly bool $is_success, public readonly mixed $data ) {
		parent::__construct( 'sent' );
	}
}

function add_filter( $name, $callback, $priority = 10, $count = 1 ) {
	Shop::$hooks[ $name ][] = array( $callback, $count );
}
function add_action( $name, $callback, $priority = 10, $count = 1 ) {
	add_filter( $name, $callback, $priority, $count );
}
function apply_filters( $name, $value, ...$more ) {
	foreach ( Shop::$hooks[ $name ] ?? array() as list( $callback, $count ) ) {
		$value = $callback( ...array_slice( array( $value, ...$more ), 0, $count ) );
	}
	return $value;
}
function do_action( $name, ...$arguments ) {
	foreach ( Shop::$hooks[ $name ] ?? array() as list( $callback, $count ) ) {
		$callback( ...array_slice( $arguments, 0, $count ) );
	}
}
function get_option( $name, $default = false ) {
	return Shop::$options[ $name ] ?? $default;
}
function update_option( $name, $value ) {
	Shop::$options[ $name ] = $value;
}
function delete_option( $name ) {
	unset( Shop::$options[ $name ] );
}
function current_user_can() {
	return Shop::$is_manager;
}
function wp_get_environment_type() {
	return Shop::$environment;
}
function wp_get_current_user() {
	return (object) array( 'display_name' => 'Ada' );
}
function __( $text ) {
	return $text;
}
function esc_html( $text ) {
	return htmlspecialchars( (string) $text, ENT_QUOTES );
}
function esc_attr( $text ) {
	return esc_html( $text );
}
function esc_html__( $text ) {
	return esc_html( $text );
}
function esc_html_e( $text ) {
	echo esc_html( $text );
}
function esc_url( $url ) {
	return esc_html( $url );
}
function esc_url_raw( $url ) {
	return $url;
}
function sanitize_text_field( $text ) {
	return trim( strip_tags( $text ) );
}
function wp_unslash( $text ) {
	return $text;
}
function wp_strip_all_tags( $text ) {
	return strip_tags( $text );
}
function wp_parse_url( $url, $part = -1 ) {
	return parse_url( $url, $part );
}
function absint( $number ) {
	return abs( (int) $number );
}
function home_url( $path = '' ) {
	return "https://shop.example$path";
}
function admin_url( $path ) {
	return "https://shop.example/wp-admin/$path";
}
function plugins_url( $path ) {
	return "https://shop.example/plugin/$path";
}
function plugin_basename( $file ) {
	return 'florin-for-woocommerce/' . basename( $file );
}
function add_query_arg( $name, $value, $url ) {
	return "$url?$name=$value";
}
function get_bloginfo() {
	return 'Tea &amp; Mugs';
}
function determine_locale() {
	return 'de_DE';
}
function get_query_var( $name ) {
	return Shop::$query[ $name ] ?? '';
}
function wp_safe_redirect( $url ) {
	throw new Sent( true, $url );
}
function wp_create_nonce( $action ) {
	return "nonce-$action";
}
function wp_verify_nonce( $nonce, $action ) {
	return "nonce-$action" === $nonce;
}
function wp_nonce_field( $action, $name ) {
	printf( '<input name="%s" value="nonce-%s">', $name, $action );
}
function check_ajax_referer( $action ) {
	if ( ! wp_verify_nonce( $_POST['_ajax_nonce'] ?? '', $action ) ) {
		throw new Sent( false, 'nonce' );
	}
}
function wp_send_json_success( $data = null ) {
	throw new Sent( true, $data );
}
function wp_send_json_error( $data = null ) {
	throw new Sent( false, $data );
}
function wp_enqueue_script( $name, $url ) {
	Shop::$scripts[ $name ] = $url;
}
function wp_enqueue_style( $name, $url ) {}
function nocache_headers() {}
function add_meta_box( $id ) {
	Shop::$boxes[] = $id;
}
function selected( $one, $other ) {
	return $one === $other ? 'selected' : '';
}
function register_deactivation_hook() {}
function load_plugin_textdomain() {}
function clean_post_cache() {}
function as_has_scheduled_action( $name ) {
	return in_array( $name, Shop::$schedule, true );
}
function as_schedule_recurring_action( $time, $seconds, $name ) {
	Shop::$schedule[] = $name;
}
function is_wp_error( $value ) {
	return $value instanceof WP_Error;
}
function wp_remote_get( $url ) {
	$body = @file_get_contents( $url );
	return false === $body ? new WP_Error() : array( 'body' => $body );
}
function wp_remote_retrieve_body( $answer ) {
	return $answer['body'];
}
function wp_remote_retrieve_response_code() {
	return 200;
}

final class WP_Error {
	public function get_error_message() {
		return 'It failed.';
	}
}

/**
 * The database knows locks alone.
 */
$wpdb = new class() {
	public string $prefix = 'wp_';

	public function prepare( $query, ...$values ) {
		return vsprintf( $query, $values );
	}

	public function get_var( $query ) {
		Shop::$locks[] = $query;
		return Shop::$is_locked ? '0' : '1';
	}

	public function query( $query ) {
		Shop::$locks[] = $query;
	}
};
