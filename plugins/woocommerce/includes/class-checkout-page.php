<?php
/**
 * What the customer sees of the payment in the shop.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

use Florin\FlorinException;

defined( 'ABSPATH' ) || exit;

/**
 * The checkout on the page of the order, its state after the payment, and the links in mails.
 */
final class Checkout_Page {

	/**
	 * The page of a paid order does not wait longer for its receipt.
	 */
	private const RECEIPT_SECONDS = 4.0;

	/**
	 * Registers the hooks.
	 */
	public static function register(): void {
		add_action( 'template_redirect', array( self::class, 'prepare' ) );
		add_action( 'woocommerce_receipt_' . Plugin::METHOD, array( self::class, 'show_checkout' ) );
		add_action( 'woocommerce_thankyou_' . Plugin::METHOD, array( self::class, 'show_state' ) );
		add_action( 'woocommerce_view_order', array( self::class, 'show_state' ), 5 );
		add_action( 'woocommerce_email_before_order_table', array( self::class, 'add_to_mail' ), 10, 3 );
	}

	/**
	 * Before the page of an order is shown, the proxy is asked for its state: a webhook may be lost. A customer whose payment was seen
	 * is led from the page to pay on to the page of the order.
	 */
	public static function prepare(): void {
		$order_id = absint( get_query_var( 'order-pay' ) ?: get_query_var( 'order-received' ) );
		// phpcs:ignore WordPress.Security.NonceVerification.Recommended -- The key of the order is compared.
		$key    = isset( $_GET['key'] ) ? sanitize_text_field( wp_unslash( $_GET['key'] ) ) : '';
		$record = $order_id > 0 ? Order_Record::fresh( $order_id ) : null;
		if ( ! $record || ! $record->is_ours() || ! hash_equals( $record->order->get_order_key(), $key ) ) {
			return;
		}
		nocache_headers();
		Payments::sync_current( $record );
		$order = wc_get_order( $order_id );
		if ( get_query_var( 'order-pay' ) && $order->has_status( array( 'on-hold', ...wc_get_is_paid_statuses() ) ) ) {
			wp_safe_redirect( $order->get_checkout_order_received_url() );
			exit;
		}
	}

	/**
	 * Shows the checkout of an order that waits for its payment.
	 *
	 * @param int $order_id The shop's id of the order.
	 */
	public static function show_checkout( $order_id ): void {
		$order = wc_get_order( $order_id );
		try {
			self::print_checkout( $order, Payments::open( $order ), Settings::get( 'display' ) );
		} catch ( FlorinException $error ) {
			Events::log_failure( "order $order_id was not opened", $error );
			wc_print_notice( esc_html( Gateway::explain( $error ) ), 'error' );
		}
		printf( '<p><a class="button" href="%s">%s</a></p>', esc_url( $order->get_checkout_payment_url() ), esc_html__( 'Choose another payment method', 'florin-for-woocommerce' ) );
	}

	/**
	 * Shows the state of an order whose payment is on its way, and the receipt of a paid one.
	 *
	 * @param int $order_id The shop's id of the order.
	 */
	public static function show_state( $order_id ): void {
		$order  = wc_get_order( $order_id );
		$record = new Order_Record( $order );
		if ( ! $record->is_ours() || '' === $record->current() ) {
			return;
		}
		try {
			if ( '' !== $record->credited() ) {
				self::print_receipt( $record );
			} elseif ( $order->has_status( 'on-hold' ) && ! $record->is_paid() ) {
				self::print_checkout( $order, Payments::reopen( $record ), 'frame' );
			} elseif ( $order->needs_payment() ) {
				/* translators: %s: a link to pay. */
				$text = esc_html__( 'This order is not paid yet. %s', 'florin-for-woocommerce' );
				$link = sprintf( '<a href="%s">%s</a>', esc_url( $order->get_checkout_payment_url() ), esc_html__( 'Pay now', 'florin-for-woocommerce' ) );
				wc_print_notice( sprintf( $text, $link ), 'notice' );
			}
		} catch ( FlorinException $error ) {
			// The page of the order is shown without it.
			Events::log_failure( "the payment of order $order_id was not shown", $error );
		}
		Refunds::show_form( $record );
	}

	/**
	 * Adds the way to pay, or the receipt, to mails to the customer.
	 *
	 * @param \WC_Order $order         The shop's order.
	 * @param bool      $sent_to_admin Whether the mail is the shop's.
	 * @param bool      $plain_text    Whether it has no markup.
	 */
	public static function add_to_mail( $order, $sent_to_admin, $plain_text = false ): void {
		$record = $order instanceof \WC_Order ? new Order_Record( $order ) : null;
		if ( ! $record || $sent_to_admin || ! $record->is_ours() ) {
			return;
		}
		if ( $order->needs_payment() ) {
			$text = __( 'You can pay this order here:', 'florin-for-woocommerce' );
			$url  = $order->get_checkout_payment_url();
		} elseif ( $order->has_status( 'on-hold' ) && ! $record->is_paid() ) {
			$text = __( 'Follow your payment here:', 'florin-for-woocommerce' );
			$url  = $order->get_checkout_order_received_url();
		} elseif ( '' !== $record->credited() ) {
			$text = __( 'The receipt of your payment is here:', 'florin-for-woocommerce' );
			$url  = $order->get_checkout_order_received_url();
		} else {
			return;
		}
		if ( $plain_text ) {
			echo esc_html( $text ) . ' ' . esc_url_raw( $url ) . "\n\n";
		} else {
			printf( '<p>%s <a href="%s">%s</a></p>', esc_html( $text ), esc_url( $url ), esc_html( wp_parse_url( $url, PHP_URL_HOST ) ) );
		}
	}

	/**
	 * Prints the element with the order's client token. The events of the element prove nothing: they only open the next page, which
	 * asks the proxy.
	 *
	 * @param \WC_Order $order   The shop's order.
	 * @param array     $opened  What the proxy has answered.
	 * @param string    $display As the setting.
	 */
	private static function print_checkout( \WC_Order $order, array $opened, string $display ): void {
		$mode = Order_Record::fresh( $order->get_id() )->mode( $opened['order']['id'] );
		wp_enqueue_script( 'florin', Settings::of_mode( $mode, 'url' ) . '/florin.js', array(), null, array( 'strategy' => 'async' ) ); // phpcs:ignore WordPress.WP.EnqueuedResourceParameters.MissingVersion -- The proxy names its version.
		wp_enqueue_script( 'florin-checkout', plugins_url( 'assets/checkout.js', PLUGIN_FILE ), array(), VERSION, array( 'strategy' => 'defer' ) );
		wp_enqueue_style( 'florin-checkout', plugins_url( 'assets/checkout.css', PLUGIN_FILE ), array(), VERSION );
		$attributes = array(
			'store'          => Settings::of_mode( $mode, 'store' ),
			'client-token'   => $opened['client_token'],
			'locale'         => str_replace( '_', '-', determine_locale() ),
			'display'        => $display,
			'data-next-page' => $order->get_checkout_order_received_url(),
		);
		$printed = '';
		foreach ( array_filter( $attributes ) as $name => $value ) {
			$printed .= sprintf( ' %s="%s"', $name, esc_attr( $value ) );
		}
		$link = sprintf( '<a href="%s">%s</a>', esc_url( $opened['checkout_url'] ), esc_html__( 'Pay with coins', 'florin-for-woocommerce' ) );
		$text = 'frame' === $display ? $link : esc_html__( 'Pay with coins', 'florin-for-woocommerce' );
		// phpcs:ignore WordPress.Security.EscapeOutput.OutputNotEscaped -- Each part is escaped above.
		echo "<florin-checkout$printed>$text</florin-checkout>";
		// What the customer sees where no script runs.
		// phpcs:ignore WordPress.Security.EscapeOutput.OutputNotEscaped
		echo 'frame' === $display ? '' : "<noscript>$link</noscript>";
	}

	/**
	 * Prints the code that proves the payment.
	 *
	 * @param Order_Record $record The shop's order.
	 * @throws FlorinException If the proxy does not answer.
	 */
	private static function print_receipt( Order_Record $record ): void {
		$id      = $record->credited();
		$client  = Proxy::client( $record->mode( $id ) );
		$receipt = $client->request( 'GET', '/v1/orders/' . rawurlencode( $id ) . '/receipt', timeout: self::RECEIPT_SECONDS );
		$rows    = array(
			__( 'Paid', 'florin-for-woocommerce' )        => trim( $receipt['receipt']['received_in_crypto'] . ' ' . ( $receipt['receipt']['asset'] ?? '' ) ),
			__( 'Transaction', 'florin-for-woocommerce' ) => $receipt['receipt']['transaction_hash'] ?? '',
			__( 'Receipt', 'florin-for-woocommerce' )     => $receipt['code'] ?? '',
		);
		echo '<section class="florin-receipt"><h2>' . esc_html__( 'Your payment', 'florin-for-woocommerce' ) . '</h2><dl>';
		foreach ( array_filter( $rows ) as $name => $value ) {
			printf( '<dt>%s</dt><dd>%s</dd>', esc_html( $name ), esc_html( $value ) );
		}
		echo '</dl></section>';
	}
}
