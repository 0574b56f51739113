<?php
/**
 * Plugin Name: Florin for WooCommerce
 * Description: Takes payments in Bitcoin, Ether, USDT and other coins through your own Florin proxy.
 * Version: 0.1.0
 * Author: Florin
 * Requires at least: 6.5
 * Requires PHP: 8.1
 * Requires Plugins: woocommerce
 * WC requires at least: 8.9
 * WC tested up to: 11.0
 * License: GPL-2.0-or-later
 * License URI: https://www.gnu.org/licenses/gpl-2.0.html
 * Text Domain: florin-for-woocommerce
 * Domain Path: /languages
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

defined( 'ABSPATH' ) || exit;

const VERSION     = '0.1.0';
const PLUGIN_FILE = __FILE__;

require __DIR__ . '/includes/class-plugin.php';

Plugin::start();
