<?php
/**
 * Removes the settings. Orders stay as they are, with what they know of their payments.
 *
 * @package Florin_For_WooCommerce
 */

defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

delete_option( 'woocommerce_florin_settings' );
delete_option( 'florin_cursor' );
delete_option( 'florin_last_webhook' );
