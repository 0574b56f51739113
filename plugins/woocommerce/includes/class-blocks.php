<?php
/**
 * The payment method in the Checkout block.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

use Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType;

defined( 'ABSPATH' ) || exit;

/**
 * Gives the block what it shows. The payment itself is that of `Gateway`.
 */
final class Blocks extends AbstractPaymentMethodType {

	/**
	 * The payment method's name.
	 *
	 * @var string
	 */
	protected $name = Plugin::METHOD;

	/**
	 * Reads the settings.
	 */
	public function initialize() {
		$this->settings = (array) get_option( Settings::OPTION, array() );
	}

	/**
	 * Returns `true` if customers can choose it.
	 */
	public function is_active() {
		return 'yes' === Settings::get( 'enabled' ) && Gateway::is_offered();
	}

	/**
	 * Returns the scripts that the block loads.
	 */
	public function get_payment_method_script_handles() {
		$needs = array( 'wc-blocks-registry', 'wc-settings', 'wp-element', 'wp-html-entities' );
		wp_register_script( 'florin-blocks', plugins_url( 'assets/blocks.js', PLUGIN_FILE ), $needs, VERSION, true );
		return array( 'florin-blocks' );
	}

	/**
	 * Returns what the script reads.
	 */
	public function get_payment_method_data() {
		$gateway = new Gateway();
		return array(
			'title'       => $gateway->title,
			'description' => $gateway->description,
			'supports'    => array( 'products' ),
		);
	}
}
