<?php
/**
 * The hooks of the plugin.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

use Automattic\WooCommerce\Utilities\FeaturesUtil;

defined( 'ABSPATH' ) || exit;

/**
 * Joins the plugin to WordPress and WooCommerce. Without WooCommerce it does nothing but say so.
 */
final class Plugin {

	/**
	 * The payment method's name at WooCommerce. Orders of this method are ours.
	 */
	public const METHOD = 'florin';

	/**
	 * Registers what has to be there before other plugins are loaded.
	 */
	public static function start(): void {
		add_action( 'before_woocommerce_init', array( self::class, 'declare_compatibility' ) );
		add_action( 'plugins_loaded', array( self::class, 'load' ) );
		add_action( 'init', array( self::class, 'load_translations' ) );
		register_deactivation_hook( PLUGIN_FILE, array( self::class, 'deactivate' ) );
	}

	/**
	 * Orders are read and written by WooCommerce's own functions alone, wherever it stores them.
	 */
	public static function declare_compatibility(): void {
		if ( class_exists( FeaturesUtil::class ) ) {
			FeaturesUtil::declare_compatibility( 'custom_order_tables', PLUGIN_FILE, true );
			FeaturesUtil::declare_compatibility( 'cart_checkout_blocks', PLUGIN_FILE, true );
		}
	}

	/**
	 * Loads the classes and registers all other hooks.
	 */
	public static function load(): void {
		if ( ! class_exists( 'WooCommerce' ) ) {
			add_action( 'admin_notices', array( self::class, 'ask_for_woocommerce' ) );
			return;
		}
		$classes = array( 'proxy', 'settings', 'order-record', 'payments', 'events', 'checkout-page', 'refunds', 'order-screen', 'connection-test', 'gateway' );
		foreach ( $classes as $name ) {
			require_once __DIR__ . '/class-' . $name . '.php';
		}
		add_filter( 'woocommerce_payment_gateways', array( self::class, 'add_gateway' ) );
		add_action( 'woocommerce_blocks_payment_method_type_registration', array( self::class, 'add_to_blocks' ) );
		add_filter( 'plugin_action_links_' . plugin_basename( PLUGIN_FILE ), array( self::class, 'add_settings_link' ) );
		Payments::register();
		Events::register();
		Checkout_Page::register();
		Refunds::register();
		Order_Screen::register();
		Connection_Test::register();
	}

	/**
	 * Translations are in the plugin's folder; one that WordPress has downloaded counts before them.
	 */
	public static function load_translations(): void {
		load_plugin_textdomain( 'florin-for-woocommerce', false, dirname( plugin_basename( PLUGIN_FILE ) ) . '/languages' );
	}

	/**
	 * Shows why the plugin does nothing.
	 */
	public static function ask_for_woocommerce(): void {
		if ( current_user_can( 'activate_plugins' ) ) {
			$text = __( 'Florin for WooCommerce needs WooCommerce: install and activate it.', 'florin-for-woocommerce' );
			printf( '<div class="notice notice-error"><p>%s</p></div>', esc_html( $text ) );
		}
	}

	/**
	 * Adds the payment method.
	 *
	 * @param array $gateways Class names of payment methods.
	 */
	public static function add_gateway( array $gateways ): array {
		$gateways[] = Gateway::class;
		return $gateways;
	}

	/**
	 * Adds the payment method to the Checkout block.
	 *
	 * @param object $registry The registry of the block's payment methods.
	 */
	public static function add_to_blocks( $registry ): void {
		require_once __DIR__ . '/class-blocks.php';
		$registry->register( new Blocks() );
	}

	/**
	 * Adds a link to the settings to the list of plugins.
	 *
	 * @param array $links The links of this plugin.
	 */
	public static function add_settings_link( array $links ): array {
		$link = sprintf( '<a href="%s">%s</a>', esc_url( Settings::url() ), esc_html__( 'Settings', 'florin-for-woocommerce' ) );
		return array_merge( array( $link ), $links );
	}

	/**
	 * Ends the repeated work. Orders and settings stay.
	 */
	public static function deactivate(): void {
		if ( function_exists( 'as_unschedule_all_actions' ) ) {
			as_unschedule_all_actions( 'florin_poll' );
		}
	}
}
