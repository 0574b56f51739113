<?php
/**
 * The settings of the payment method.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

defined( 'ABSPATH' ) || exit;

/**
 * What the shop's owner sets, and where. WooCommerce stores and shows it.
 */
final class Settings {

	public const OPTION = 'woocommerce_florin_settings';

	/**
	 * What a mode has separately.
	 */
	private const OF_MODE = array( 'url', 'store', 'secret_key', 'webhook_secret' );

	/**
	 * Returns a value of the settings, its default if none is stored.
	 *
	 * @param string $name The field.
	 */
	public static function get( string $name ): string {
		$stored = (array) get_option( self::OPTION, array() );
		$field  = self::fields()[ $name ] ?? array();
		return trim( (string) ( $stored[ $name ] ?? $field['default'] ?? '' ) );
	}

	/**
	 * Returns what the settings name for a mode.
	 *
	 * @param string $mode Proxy::LIVE or Proxy::TEST.
	 * @param string $name One of `OF_MODE`.
	 */
	public static function of_mode( string $mode, string $name ): string {
		$value = self::get( Proxy::TEST === $mode ? "test_$name" : $name );
		return 'url' === $name ? rtrim( $value, '/' ) : $value;
	}

	/**
	 * Returns the mode in which orders are opened.
	 */
	public static function mode(): string {
		return 'yes' === self::get( 'test_mode' ) ? Proxy::TEST : Proxy::LIVE;
	}

	/**
	 * Returns the address of the settings page.
	 */
	public static function url(): string {
		return admin_url( 'admin.php?page=wc-settings&tab=checkout&section=' . Plugin::METHOD );
	}

	/**
	 * Returns the address that receives webhooks. It works without permalinks.
	 */
	public static function webhook_url(): string {
		return add_query_arg( 'wc-api', Plugin::METHOD, home_url( '/' ) );
	}

	/**
	 * Returns the origin of the shop's pages, as the proxy's configuration lists it.
	 */
	public static function origin(): string {
		$parts = wp_parse_url( home_url() );
		$port  = isset( $parts['port'] ) ? ':' . $parts['port'] : '';
		return $parts['scheme'] . '://' . $parts['host'] . $port;
	}

	/**
	 * Returns the fields of the settings page.
	 */
	public static function fields(): array {
		return self::checkout_fields() + self::connection_fields( '' ) + self::test_fields() + self::state_fields();
	}

	/**
	 * What the customer sees.
	 */
	private static function checkout_fields(): array {
		return array(
			'enabled'     => array(
				'title'   => __( 'Enable/Disable', 'florin-for-woocommerce' ),
				'type'    => 'checkbox',
				'label'   => __( 'Take payments with Florin', 'florin-for-woocommerce' ),
				'default' => 'no',
			),
			'title'       => array(
				'title'       => __( 'Title', 'florin-for-woocommerce' ),
				'type'        => 'safe_text',
				'description' => __( 'The name of the payment method at the checkout.', 'florin-for-woocommerce' ),
				'default'     => __( 'Bitcoin and other coins', 'florin-for-woocommerce' ),
				'desc_tip'    => true,
			),
			'description' => array(
				'title'       => __( 'Description', 'florin-for-woocommerce' ),
				'type'        => 'textarea',
				'description' => __( 'What customers read when they choose the payment method.', 'florin-for-woocommerce' ),
				'default'     => __( 'Choose a coin on the next page and pay with your wallet.', 'florin-for-woocommerce' ),
				'desc_tip'    => true,
			),
			'display'     => array(
				'title'       => __( 'Payment page', 'florin-for-woocommerce' ),
				'type'        => 'select',
				'description' => __( 'Where customers choose a coin and see the address to pay to.', 'florin-for-woocommerce' ),
				'default'     => 'frame',
				'options'     => array(
					'frame'    => __( 'In a frame on the page of the order', 'florin-for-woocommerce' ),
					'modal'    => __( 'In a dialog on the page of the order', 'florin-for-woocommerce' ),
					'redirect' => __( 'On the page of the proxy', 'florin-for-woocommerce' ),
				),
				'desc_tip'    => true,
			),
		);
	}

	/**
	 * Where the proxy of a mode is.
	 *
	 * @param string $prefix `test_`, or nothing.
	 */
	private static function connection_fields( string $prefix ): array {
		$fields = array(
			'connection'     => array(
				'title'       => '' === $prefix ? __( 'Connection', 'florin-for-woocommerce' ) : __( 'Connection in test mode', 'florin-for-woocommerce' ),
				'type'        => 'title',
				'description' => '' === $prefix ? '' : __( 'A proxy of the environment “test”, such as one with the sandbox.', 'florin-for-woocommerce' ),
			),
			'url'            => array(
				'title'       => __( 'Address of the proxy', 'florin-for-woocommerce' ),
				'type'        => 'url',
				'placeholder' => 'https://pay.shop.example',
				'description' => __( 'Its public_url.', 'florin-for-woocommerce' ),
			),
			'store'          => array(
				'title'       => __( 'Store', 'florin-for-woocommerce' ),
				'type'        => 'text',
				'description' => __( 'The id of the store in the configuration of the proxy.', 'florin-for-woocommerce' ),
			),
			'secret_key'     => array(
				'title'       => __( 'Secret key', 'florin-for-woocommerce' ),
				'type'        => 'password',
				'placeholder' => 'sk_…',
				'description' => __( 'The secret_key of the store.', 'florin-for-woocommerce' ),
			),
			'webhook_secret' => array(
				'title'       => __( 'Webhook secret', 'florin-for-woocommerce' ),
				'type'        => 'password',
				'placeholder' => 'whsec_…',
				'description' => __( 'The secret of the webhook that leads to this shop.', 'florin-for-woocommerce' ),
			),
		);
		$named  = array();
		foreach ( $fields as $name => $field ) {
			$named[ $prefix . $name ] = $field + array( 'default' => '' );
		}
		return $named;
	}

	/**
	 * The test mode, its proxy, and the connection test.
	 */
	private static function test_fields(): array {
		$mode = array(
			'test_mode' => array(
				'title'       => __( 'Test mode', 'florin-for-woocommerce' ),
				'type'        => 'checkbox',
				'label'       => __( 'Use the proxy for tests', 'florin-for-woocommerce' ),
				'description' => __( 'No money moves. Only people who manage the shop see the payment method.', 'florin-for-woocommerce' ),
				'default'     => 'no',
			),
		);
		$test = array( 'connection_test' => array( 'type' => 'florin_connection_test' ) );
		return $mode + self::connection_fields( 'test_' ) + $test;
	}

	/**
	 * What becomes of orders that were not paid as they should be.
	 */
	private static function state_fields(): array {
		$on_hold   = __( 'On hold', 'florin-for-woocommerce' );
		$failed    = __( 'Failed', 'florin-for-woocommerce' );
		$cancelled = __( 'Cancelled', 'florin-for-woocommerce' );
		return array(
			'states'           => array(
				'title'       => __( 'Order status', 'florin-for-woocommerce' ),
				'type'        => 'title',
				'description' => __( 'An order is on hold while its payment is not confirmed, and is completed once. Each of these cases also adds a note to the order.', 'florin-for-woocommerce' ),
			),
			'unpaid_status'    => array(
				'title'   => __( 'Not paid in time', 'florin-for-woocommerce' ),
				'type'    => 'select',
				'default' => 'cancelled',
				'options' => array(
					'cancelled' => $cancelled,
					'failed'    => $failed,
					'leave'     => __( 'Leave it as it is', 'florin-for-woocommerce' ),
				),
			),
			'underpaid_status' => array(
				'title'   => __( 'Paid in part', 'florin-for-woocommerce' ),
				'type'    => 'select',
				'default' => 'on-hold',
				'options' => array(
					'on-hold' => $on_hold,
					'failed'  => $failed,
				),
			),
			'late_status'      => array(
				'title'   => __( 'Paid in full after it was cancelled', 'florin-for-woocommerce' ),
				'type'    => 'select',
				'default' => 'on-hold',
				'options' => array(
					'on-hold' => __( 'On hold, to check the stock', 'florin-for-woocommerce' ),
					'paid'    => __( 'Paid, as any other order', 'florin-for-woocommerce' ),
				),
			),
			'debug'            => array(
				'title'   => __( 'Log', 'florin-for-woocommerce' ),
				'type'    => 'checkbox',
				'label'   => __( 'Also write what went well to the log (WooCommerce > Status > Logs)', 'florin-for-woocommerce' ),
				'default' => 'no',
			),
		);
	}
}
