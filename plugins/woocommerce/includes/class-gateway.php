<?php
/**
 * The payment method.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

use Florin\FlorinException;

defined( 'ABSPATH' ) || exit;

/**
 * What WooCommerce asks a payment method for. Florin sends no money, so there is no automatic refund: see `Refunds`.
 */
final class Gateway extends \WC_Payment_Gateway {

	/**
	 * Reads the settings.
	 */
	public function __construct() {
		$this->id                 = Plugin::METHOD;
		$this->has_fields         = false;
		$this->supports           = array( 'products' );
		$this->method_title       = __( 'Florin', 'florin-for-woocommerce' );
		$this->method_description = __( 'Payments in Bitcoin, Ether, USDT and other coins through your own Florin proxy. Paid coins go to your wallet.', 'florin-for-woocommerce' );
		$this->init_form_fields();
		$this->init_settings();
		$this->title       = $this->get_option( 'title' );
		$this->description = $this->get_option( 'description' );
		if ( Proxy::TEST === Settings::mode() ) {
			$this->description .= ' ' . __( 'TEST MODE: no money moves.', 'florin-for-woocommerce' );
		}
		add_action( 'woocommerce_update_options_payment_gateways_' . $this->id, array( $this, 'process_admin_options' ) );
	}

	/**
	 * The fields of the settings page.
	 */
	public function init_form_fields() {
		$this->form_fields = Settings::fields();
	}

	/**
	 * Returns `true` if a customer can pay with it.
	 */
	public function is_available() {
		return parent::is_available() && self::is_offered();
	}

	/**
	 * Returns `true` if the mode's proxy is set. In test mode only people who manage the shop can choose it, because a test payment
	 * completes an order; on a site for development or staging everyone can.
	 */
	public static function is_offered(): bool {
		$mode = Settings::mode();
		$may_test = current_user_can( 'manage_woocommerce' ) || 'production' !== wp_get_environment_type();
		return Proxy::is_configured( $mode ) && ( Proxy::LIVE === $mode || $may_test );
	}

	/**
	 * Opens the order at the proxy and leads the customer to the checkout.
	 *
	 * @param int $order_id The shop's order.
	 */
	public function process_payment( $order_id ) {
		$order = wc_get_order( $order_id );
		try {
			$opened = Payments::open( $order );
		} catch ( FlorinException $error ) {
			Events::log_failure( "order $order_id was not opened", $error );
			wc_add_notice( self::explain( $error ), 'error' );
			return array( 'result' => 'failure' );
		}
		$is_redirect = 'redirect' === Settings::get( 'display' );
		return array(
			'result'   => 'success',
			'redirect' => $is_redirect ? $opened['checkout_url'] : $order->get_checkout_payment_url( true ),
		);
	}

	/**
	 * Returns what a customer can do about a refusal. The log has its reason.
	 *
	 * @param FlorinException $error The refusal.
	 */
	public static function explain( FlorinException $error ): string {
		if ( in_array( $error->errorCode, array( 'currency_unavailable', 'amount_out_of_range' ), true ) ) {
			return __( 'This amount cannot be paid in coins. Please choose another payment method.', 'florin-for-woocommerce' );
		}
		return __( 'The payment could not be started. Please try again in a minute, or choose another payment method.', 'florin-for-woocommerce' );
	}

	/**
	 * The row of the settings page with the connection test, and what the proxy's configuration needs.
	 */
	public function generate_florin_connection_test_html() {
		return Connection_Test::row();
	}
}
