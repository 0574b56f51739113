<?php
/**
 * Orders of the shop at the proxy: opening, closing, and the lock around each change.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

use Florin\FlorinException;

defined( 'ABSPATH' ) || exit;

require_once __DIR__ . '/class-changes.php';

/**
 * The only place that changes an order because of a payment. Whatever asks for it (a webhook, a customer who returns, the repeated
 * work), the proxy is asked for the order as it is now, so that a late or repeated webhook changes nothing twice.
 */
final class Payments {

	/**
	 * The longest that one change may wait for another of the same order.
	 */
	private const LOCK_SECONDS = 30;

	/**
	 * How often a reference is given up for the next one before the checkout fails.
	 */
	private const MOST_REFERENCES = 20;

	/**
	 * How many lines the proxy takes, and how long a text of one.
	 */
	private const MOST_LINES = 50;
	private const MOST_CHARS = 120;

	/**
	 * Registers the hooks.
	 */
	public static function register(): void {
		add_filter( 'woocommerce_cancel_unpaid_order', array( self::class, 'may_be_cancelled' ), 10, 2 );
		add_action( 'woocommerce_order_status_changed', array( self::class, 'close_after_change' ), 10, 4 );
	}

	/**
	 * Opens an order at the proxy, or finds the one that is open. The customer can pay it with what is returned.
	 *
	 * @param \WC_Order $order The shop's order.
	 * @return array{order: array, client_token: string, checkout_url: string}
	 * @throws FlorinException If the proxy does not open it.
	 */
	public static function open( \WC_Order $order ): array {
		$mode   = Settings::mode();
		$opened = self::locked(
			$order->get_id(),
			static function ( Order_Record $record ) use ( $mode ): array {
				$before = $record->current();
				$opened = self::open_reference( $record, $mode );
				if ( Proxy::LIVE === $mode && ! isset( $record->all()[ $opened['order']['id'] ] ) ) {
					self::require_real_money( $opened['client_token'] );
				}
				$record->add( $opened['order'], $mode );
				$record->make_current( $opened['order']['id'] );
				$record->order->save();
				if ( ! in_array( $before, array( '', $record->current() ), true ) ) {
					// It has ended, or has another price.
					self::close( $record, $before );
				}
				return $opened;
			}
		);
		// It may have been paid before, by a payment that no webhook has reported yet.
		if ( 'open' !== $opened['order']['status'] ) {
			self::sync( $order->get_id(), $mode, $opened['order'] );
		}
		return $opened;
	}

	/**
	 * Returns a token with which the customer sees the order at the proxy that is open already.
	 *
	 * @param Order_Record $record The shop's order.
	 * @return array{order: array, client_token: string, checkout_url: string}
	 * @throws FlorinException If the proxy does not answer, or knows the order at another price.
	 */
	public static function reopen( Order_Record $record ): array {
		$entry = $record->all()[ $record->current() ];
		$terms = self::terms( $record );
		return Proxy::client( $entry['mode'] )->createOrder( array( 'reference' => $entry['reference'] ) + $terms );
	}

	/**
	 * Brings the shop's order up to what the proxy knows of it now.
	 *
	 * @param int    $order_id     The shop's id of the order.
	 * @param string $mode         The mode whose proxy has it.
	 * @param array  $florin_order The order as the proxy described it at some time: `id` and `reference` are used.
	 * @param ?array $event        The event that reported it, if any.
	 * @throws FlorinException If the proxy does not answer.
	 */
	public static function sync( int $order_id, string $mode, array $florin_order, ?array $event = null ): void {
		self::locked(
			$order_id,
			static function ( Order_Record $record ) use ( $mode, $florin_order, $event ): void {
				// What the proxy for tests reports pays no other order.
				if ( ! $record->has_reference( $florin_order['reference'] ) || $record->mode( $florin_order['id'] ) !== $mode ) {
					return;
				}
				$present = Proxy::client( $mode )->getOrder( $florin_order['id'] );
				$record->add( $present, $mode );
				( new Changes( $record, $present, $mode ) )->apply( $event );
				$record->order->save();
				$is_other = ! in_array( $record->current(), array( '', $record->credited() ), true );
				if ( $is_other && $record->credited() === $present['id'] ) {
					self::close( $record, $record->current() );
				}
			}
		);
	}

	/**
	 * Brings the shop's order up to date if its customer can still pay. The customer does not wait for a proxy that is away: the
	 * repeated work asks again.
	 *
	 * @param Order_Record $record The shop's order.
	 */
	public static function sync_current( Order_Record $record ): void {
		$entry = $record->all()[ $record->current() ] ?? null;
		if ( null === $entry || $record->is_paid() ) {
			return;
		}
		$known = array(
			'id'        => $record->current(),
			'reference' => $entry['reference'],
		);
		try {
			self::sync( $record->order->get_id(), $entry['mode'], $known );
		} catch ( FlorinException $error ) {
			Events::log_failure( 'order ' . $record->order->get_id() . ' was not read', $error );
		}
	}

	/**
	 * Decides whether WooCommerce may cancel an order whose time is over. An order that may still be paid is not cancelled, and neither
	 * is one whose proxy is away: no answer is not an unpaid order.
	 *
	 * @param bool      $may_be_cancelled What WooCommerce has decided.
	 * @param \WC_Order $order            The shop's order.
	 */
	public static function may_be_cancelled( $may_be_cancelled, $order ): bool {
		$record = new Order_Record( $order );
		if ( ! $may_be_cancelled || ! $record->is_ours() || '' === $record->current() ) {
			return (bool) $may_be_cancelled;
		}
		try {
			$client  = Proxy::client( $record->mode( $record->current() ) );
			$present = $client->getOrder( $record->current() );
			if ( in_array( $present['status'], array( 'open', 'expired', 'failed' ), true ) ) {
				$present = $client->cancelOrder( $record->current() );
			}
			return 'cancelled' === $present['status'];
		} catch ( FlorinException $error ) {
			Events::log_failure( 'order ' . $order->get_id() . ' is not cancelled', $error );
			return false;
		}
	}

	/**
	 * Once an order was paid in another way, or was cancelled, no coin payment of it can be started.
	 *
	 * @param int       $order_id The shop's id of the order.
	 * @param string    $from     The status before.
	 * @param string    $to       The status now.
	 * @param \WC_Order $order    The shop's order.
	 */
	public static function close_after_change( $order_id, $from, $to, $order ): void {
		$ended  = array_merge( wc_get_is_paid_statuses(), array( 'cancelled', 'refunded', 'trash' ) );
		$record = new Order_Record( $order );
		if ( in_array( $to, $ended, true ) && '' === $record->credited() && '' !== $record->current() ) {
			self::close( $record, $record->current() );
		}
	}

	/**
	 * Cancels an order at the proxy. One whose payment was seen, or that has ended, stays: the proxy reports what comes.
	 *
	 * @param Order_Record $record    The shop's order.
	 * @param string       $florin_id The proxy's id.
	 */
	private static function close( Order_Record $record, string $florin_id ): void {
		try {
			Proxy::client( $record->mode( $florin_id ) )->cancelOrder( $florin_id );
		} catch ( FlorinException $error ) {
			if ( 'order_closed' !== $error->errorCode ) {
				Events::log_failure( "$florin_id was not cancelled", $error );
			}
		}
	}

	/**
	 * Opens the order under its latest reference that can be paid.
	 *
	 * @param Order_Record $record The shop's order.
	 * @param string       $mode   The mode whose proxy is asked.
	 * @throws FlorinException If the proxy does not open it.
	 */
	private static function open_reference( Order_Record $record, string $mode ): array {
		$terms = self::terms( $record );
		$first = $record->number();
		for ( $number = $first; $number < $first + self::MOST_REFERENCES; $number++ ) {
			try {
				$opened = Proxy::client( $mode )->createOrder( array( 'reference' => $record->reference( $number ) ) + $terms );
			} catch ( FlorinException $error ) {
				if ( 'order_conflict' === $error->errorCode ) {
					continue;
				}
				throw $error;
			}
			// With a notice it has ended, and no payment of it can be started.
			if ( ! isset( $opened['notice'] ) ) {
				return $opened;
			}
		}
		throw new FlorinException( 'order_conflict', 'Every reference of the order has ended.' );
	}

	/**
	 * Refuses simulated coins: a shop whose settings name a proxy for tests in live mode would give its goods away. A site that
	 * WordPress knows as one for development or staging may do so.
	 *
	 * @param string $client_token The order's client token.
	 * @throws FlorinException If no money moves at the proxy.
	 */
	private static function require_real_money( string $client_token ): void {
		if ( 'production' !== wp_get_environment_type() ) {
			return;
		}
		$environment = Proxy::client_of_customer( Proxy::LIVE, $client_token )->request( 'GET', '/v1/checkout' )['environment'];
		if ( 'production' !== $environment ) {
			throw new FlorinException( 'wrong_environment', 'No money moves at this proxy: use it in test mode.' );
		}
	}

	/**
	 * What the proxy is asked to open. The lines have no amounts: taxes and rounding are the shop's, and the price is the total.
	 *
	 * @param Order_Record $record The shop's order.
	 */
	private static function terms( Order_Record $record ): array {
		$order = $record->order;
		$lines = array();
		foreach ( array_slice( $order->get_items(), 0, self::MOST_LINES ) as $item ) {
			$lines[] = array(
				'title'    => self::plain( $item->get_name() ),
				'quantity' => max( 1, (int) $item->get_quantity() ),
			);
		}
		$terms = array(
			'amount'     => Changes::total( $order ),
			'currency'   => $order->get_currency(),
			/* translators: 1: number of an order, 2: name of the shop. */
			'title'      => self::plain( sprintf( __( 'Order %1$s, %2$s', 'florin-for-woocommerce' ), $order->get_order_number(), get_bloginfo( 'name', 'raw' ) ) ),
			'lines'      => $lines,
			'return_url' => $order->get_checkout_order_received_url(),
			'cancel_url' => $order->get_checkout_payment_url(),
			'metadata'   => array(
				'woocommerce_order'  => $order->get_id(),
				'woocommerce_number' => (string) $order->get_order_number(),
			),
		);
		/**
		 * Filters what the proxy is asked to open. The amount is compared again before the order is completed.
		 *
		 * @param array     $terms Members of POST /v1/orders.
		 * @param \WC_Order $order The shop's order.
		 */
		return apply_filters( 'florin_order_terms', $terms, $order );
	}

	/**
	 * Returns a text as a title of the proxy.
	 *
	 * @param string $text May have markup and entities.
	 */
	private static function plain( string $text ): string {
		$text = html_entity_decode( wp_strip_all_tags( $text, true ), ENT_QUOTES | ENT_HTML5, 'UTF-8' );
		$text = trim( preg_replace( '/[\p{C}\p{Zl}\p{Zp}]+/u', ' ', $text ) );
		return '' === $text ? '-' : mb_substr( $text, 0, self::MOST_CHARS );
	}

	/**
	 * Runs a change while no other process changes the same order, on the order as it is in the database.
	 *
	 * @param int      $order_id The shop's id of the order.
	 * @param callable $change   Takes an `Order_Record`.
	 * @throws FlorinException If another change takes too long, or there is no such order.
	 */
	public static function locked( int $order_id, callable $change ) {
		global $wpdb;
		$name = 'florin_' . md5( DB_NAME . $wpdb->prefix . $order_id );
		// The database frees the lock of a process that ends.
		$is_locked = $wpdb->get_var( $wpdb->prepare( 'SELECT GET_LOCK(%s, %d)', $name, self::LOCK_SECONDS ) );
		try {
			$record = '1' === (string) $is_locked ? Order_Record::fresh( $order_id ) : null;
			if ( null === $record ) {
				throw new FlorinException( 'order_busy', 'The order is being changed, or was deleted.' );
			}
			return $change( $record );
		} finally {
			$wpdb->query( $wpdb->prepare( 'SELECT RELEASE_LOCK(%s)', $name ) );
		}
	}
}
