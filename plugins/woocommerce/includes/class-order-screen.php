<?php
/**
 * What people who manage the shop see of the payment of an order.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

use Florin\FlorinException;

defined( 'ABSPATH' ) || exit;

/**
 * A box on the page of an order, and a column in the list of orders.
 */
final class Order_Screen {

	private const COLUMN = 'florin';

	/**
	 * Registers the hooks. WooCommerce has two lists of orders: its own, and that of posts.
	 */
	public static function register(): void {
		add_action( 'add_meta_boxes', array( self::class, 'add_box' ), 10, 2 );
		add_action( 'admin_enqueue_scripts', array( self::class, 'add_script' ) );
		foreach ( array( 'manage_woocommerce_page_wc-orders', 'manage_edit-shop_order' ) as $list ) {
			add_filter( "{$list}_columns", array( self::class, 'add_column' ), 20 );
		}
		foreach ( array( 'manage_woocommerce_page_wc-orders', 'manage_shop_order_posts' ) as $list ) {
			add_action( "{$list}_custom_column", array( self::class, 'show_column' ), 10, 2 );
		}
		foreach ( array( 'ask', 'record', 'done', 'staff' ) as $action ) {
			add_action( "wp_ajax_florin_$action", array( self::class, $action ) );
		}
	}

	/**
	 * Adds the column behind the status.
	 *
	 * @param array $columns Titles by name.
	 */
	public static function add_column( $columns ) {
		$with = array();
		foreach ( $columns as $name => $title ) {
			$with[ $name ] = $title;
			if ( 'order_status' === $name ) {
				$with[ self::COLUMN ] = __( 'Florin', 'florin-for-woocommerce' );
			}
		}
		return $with;
	}

	/**
	 * Shows whether an order needs a person.
	 *
	 * @param string         $column The column.
	 * @param int|\WC_Order  $order  The order, or its id.
	 */
	public static function show_column( $column, $order ): void {
		if ( self::COLUMN !== $column ) {
			return;
		}
		$order  = $order instanceof \WC_Order ? $order : wc_get_order( $order );
		$record = new Order_Record( $order );
		if ( '' !== $record->attention() ) {
			printf( '<mark class="order-status status-on-hold tips" data-tip="%1$s" title="%1$s"><span>%2$s</span></mark>', esc_attr( $record->attention() ), esc_html__( 'Look', 'florin-for-woocommerce' ) );
		} elseif ( '' !== $record->credited() ) {
			esc_html_e( 'Paid', 'florin-for-woocommerce' );
		}
	}

	/**
	 * Adds the box to orders that were opened at the proxy.
	 *
	 * @param string            $screen The kind of page.
	 * @param \WP_Post|\WC_Order $order  The order, or its post.
	 */
	public static function add_box( $screen, $order ): void {
		$order = $order instanceof \WC_Order ? $order : ( 'shop_order' === $screen ? wc_get_order( $order->ID ) : null );
		if ( $order && '' !== ( new Order_Record( $order ) )->current() ) {
			add_meta_box( 'florin', __( 'Florin', 'florin-for-woocommerce' ), array( self::class, 'show_box' ), null, 'side' );
		}
	}

	/**
	 * Shows the box.
	 *
	 * @param \WP_Post|\WC_Order $order The order, or its post.
	 */
	public static function show_box( $order ): void {
		$order  = $order instanceof \WC_Order ? $order : wc_get_order( $order->ID );
		$record = new Order_Record( $order );
		printf( '<div class="florin-box" data-order="%s" data-nonce="%s">', esc_attr( $order->get_id() ), esc_attr( wp_create_nonce( self::nonce( $order->get_id() ) ) ) );
		if ( '' !== $record->attention() ) {
			echo '<p><strong>' . esc_html( $record->attention() ) . '</strong></p>';
			self::print_button( 'done', __( 'Done', 'florin-for-woocommerce' ) );
		}
		foreach ( $record->all() as $id => $entry ) {
			$note = $record->credited() === $id ? __( 'paid', 'florin-for-woocommerce' ) : '';
			$test = Proxy::TEST === $entry['mode'] ? __( 'test', 'florin-for-woocommerce' ) : '';
			printf( '<p><code>%s</code> %s %s</p>', esc_html( $entry['reference'] ), esc_html( $note ), esc_html( $test ) );
		}
		self::print_button( 'staff', __( 'Open at the proxy', 'florin-for-woocommerce' ) );
		self::print_refund( $record );
		echo '<p class="florin-result" role="status"></p></div>';
	}

	/**
	 * The part of the box for refunds.
	 *
	 * @param Order_Record $record The shop's order.
	 */
	private static function print_refund( Order_Record $record ): void {
		$address = Refunds::address( $record );
		echo '<details><summary>' . esc_html__( 'Refund', 'florin-for-woocommerce' ) . '</summary>';
		echo '<p>' . esc_html__( 'Florin sends no money. Ask the customer for an address, send the coins from your wallet, and record the transaction here.', 'florin-for-woocommerce' ) . '</p>';
		if ( '' !== $address ) {
			echo '<p>' . esc_html__( 'Address of the customer:', 'florin-for-woocommerce' ) . ' <code>' . esc_html( $address ) . '</code></p>';
		}
		self::print_button( 'ask', __( 'Ask for an address by mail', 'florin-for-woocommerce' ) );
		$fields = array(
			'amount'      => __( 'Amount in the coin', 'florin-for-woocommerce' ),
			'coin'        => __( 'Coin, if several were paid', 'florin-for-woocommerce' ),
			'transaction' => __( 'Transaction', 'florin-for-woocommerce' ),
		);
		foreach ( $fields as $name => $label ) {
			printf( '<p><label>%s <input type="text" data-florin="%s" autocomplete="off"></label></p>', esc_html( $label ), esc_attr( $name ) );
		}
		echo '<p><label>' . esc_html__( 'Payment', 'florin-for-woocommerce' ) . ' <select data-florin="payment">';
		$chosen = '' === $record->credited() ? $record->current() : $record->credited();
		foreach ( $record->all() as $id => $entry ) {
			printf( '<option value="%s" %s>%s</option>', esc_attr( $id ), selected( $id, $chosen, false ), esc_html( $entry['reference'] ) );
		}
		echo '</select></label></p>';
		self::print_button( 'record', __( 'Record the refund', 'florin-for-woocommerce' ) );
		echo '</details>';
	}

	/**
	 * Prints a button that `admin.js` serves.
	 *
	 * @param string $action What it does.
	 * @param string $text   Its text.
	 */
	private static function print_button( string $action, string $text ): void {
		printf( '<p><button type="button" class="button" data-florin-action="%s">%s</button></p>', esc_attr( $action ), esc_html( $text ) );
	}

	/**
	 * Adds the script of the box and of the connection test.
	 *
	 * @param string $page The admin page.
	 */
	public static function add_script( $page ): void {
		if ( in_array( $page, array( 'woocommerce_page_wc-orders', 'woocommerce_page_wc-settings', 'post.php' ), true ) ) {
			wp_enqueue_script( 'florin-admin', plugins_url( 'assets/admin.js', PLUGIN_FILE ), array(), VERSION, true );
		}
	}

	/**
	 * Asks the customer for an address.
	 */
	public static function ask(): void {
		self::answer( static fn( int $order_id ) => Refunds::ask( $order_id ) );
	}

	/**
	 * Records a refund.
	 */
	public static function record(): void {
		self::answer(
			static function ( int $order_id ): void {
				$amount      = self::field( 'amount' );
				$transaction = self::field( 'transaction' );
				if ( ! preg_match( '/^\d{1,18}(\.\d{1,18})?$/', $amount ) || ! preg_match( '/^[A-Za-z0-9]{1,128}$/', $transaction ) ) {
					throw new FlorinException( 'invalid_request', esc_html__( 'Write an amount like 0.0015, and the transaction that sent it.', 'florin-for-woocommerce' ) );
				}
				Refunds::record( $order_id, self::field( 'payment' ), $amount, strtoupper( self::field( 'coin' ) ), $transaction );
			}
		);
	}

	/**
	 * No person is needed any more.
	 */
	public static function done(): void {
		self::answer(
			static fn( int $order_id ) => Payments::locked(
				$order_id,
				static function ( Order_Record $record ): void {
					$record->set_attention( '' );
					$record->order->save();
				}
			)
		);
	}

	/**
	 * Makes a link to the pages for the store's staff.
	 */
	public static function staff(): void {
		self::answer(
			static function ( int $order_id ): array {
				$record = new Order_Record( wc_get_order( $order_id ) );
				$person = mb_substr( wp_get_current_user()->display_name, 0, 64 );
				$link   = Proxy::client( $record->mode( $record->current() ) )->createStaffLink( array( 'person' => $person ) );
				return array( 'url' => $link['url'] );
			}
		);
	}

	/**
	 * Answers a request of the box: its nonce and the person's capability are checked before anything is done.
	 *
	 * @param callable $work Takes the shop's id of the order.
	 */
	private static function answer( callable $work ): void {
		$order_id = absint( self::field( 'order' ) );
		check_ajax_referer( self::nonce( $order_id ) );
		if ( ! current_user_can( 'edit_shop_orders' ) || ! wc_get_order( $order_id ) ) {
			wp_send_json_error( __( 'You may not change this order.', 'florin-for-woocommerce' ), 403 );
		}
		try {
			wp_send_json_success( $work( $order_id ) );
		} catch ( FlorinException $error ) {
			wp_send_json_error( $error->getMessage() );
		}
	}

	/**
	 * Returns a field of the request.
	 *
	 * @param string $name Its name.
	 */
	private static function field( string $name ): string {
		// phpcs:ignore WordPress.Security.NonceVerification.Missing -- `answer` has checked it.
		return isset( $_POST[ $name ] ) ? sanitize_text_field( wp_unslash( $_POST[ $name ] ) ) : '';
	}

	/**
	 * The name of the nonce of an order.
	 *
	 * @param int $order_id The shop's id of the order.
	 */
	private static function nonce( int $order_id ): string {
		return "florin_order_$order_id";
	}
}
