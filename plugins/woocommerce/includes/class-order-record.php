<?php
/**
 * What an order of the shop knows of its orders at the proxy.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

use Automattic\WooCommerce\Caches\OrderCache;

defined( 'ABSPATH' ) || exit;

/**
 * An order of the shop with its metadata. A reference is one order at the proxy for ever: if a customer comes back after that one has
 * ended, or the total has changed, another is opened under the next number.
 */
final class Order_Record {

	/**
	 * The proxy's id of the order that the customer can pay now.
	 */
	private const CURRENT = '_florin_order';
	/**
	 * Every order that was opened at the proxy: by its id `reference`, `number`, `mode`, and `noted`, the keys of notes that were made.
	 */
	private const ALL = '_florin_orders';
	/**
	 * The proxy's id of the order whose payment completed the shop's order. Absent before.
	 */
	private const CREDITED = '_florin_credited';
	/**
	 * Why a person should look at the order; absent if none needs to.
	 */
	private const ATTENTION = '_florin_attention';

	/**
	 * Wraps an order.
	 *
	 * @param \WC_Order $order The shop's order.
	 */
	public function __construct( public readonly \WC_Order $order ) {}

	/**
	 * Reads an order from the database, past every cache: another process may have changed it a moment ago.
	 *
	 * @param int $id The shop's id of the order.
	 */
	public static function fresh( int $id ): ?self {
		clean_post_cache( $id );
		if ( class_exists( OrderCache::class ) ) {
			wc_get_container()->get( OrderCache::class )->remove( $id );
		}
		\WC_Data_Store::load( 'order' )->clear_cached_data( array( $id ) );
		$order = wc_get_order( $id );
		return $order instanceof \WC_Order ? new self( $order ) : null;
	}

	/**
	 * Returns the shop's id of the order that a reference names; `null` if the reference is not one of this plugin.
	 *
	 * @param string $reference A reference at the proxy.
	 */
	public static function id_of( string $reference ): ?int {
		return preg_match( '/^wc-(\d{1,18})-[0-9a-f]{16}(-\d{1,4})?$/', $reference, $found ) ? (int) $found[1] : null;
	}

	/**
	 * Returns `true` if a reference was made for this order. It depends on the order's key, so that another shop with the same numbers
	 * has other references.
	 *
	 * @param string $reference A reference at the proxy.
	 */
	public function has_reference( string $reference ): bool {
		$first = $this->reference( 1 );
		return hash_equals( $first, substr( $reference, 0, strlen( $first ) ) );
	}

	/**
	 * Returns the reference of this order at the proxy.
	 *
	 * @param int $number How many references the order has had, this one included.
	 */
	public function reference( int $number ): string {
		$key    = substr( hash( 'sha256', $this->order->get_order_key() ), 0, 16 );
		$suffix = $number > 1 ? "-$number" : '';
		return 'wc-' . $this->order->get_id() . "-$key$suffix";
	}

	/**
	 * Returns the proxy's id of the order that can be paid now; empty before one was opened.
	 */
	public function current(): string {
		return (string) $this->order->get_meta( self::CURRENT );
	}

	/**
	 * Returns all orders at the proxy, by their ids.
	 *
	 * @return array<string, array{reference: string, number: int, mode: string, noted: list<string>}>
	 */
	public function all(): array {
		return array_filter( (array) $this->order->get_meta( self::ALL ), 'is_array' );
	}

	/**
	 * Returns the number of the latest reference; 1 before the first.
	 */
	public function number(): int {
		return max( array( 1, ...array_column( $this->all(), 'number' ) ) );
	}

	/**
	 * Returns the mode in which an order at the proxy was opened.
	 *
	 * @param string $florin_id The proxy's id.
	 */
	public function mode( string $florin_id ): string {
		return $this->all()[ $florin_id ]['mode'] ?? Proxy::LIVE;
	}

	/**
	 * Keeps an order that was opened at the proxy. Saves nothing.
	 *
	 * @param array  $florin_order The order, as the proxy describes it.
	 * @param string $mode         The mode in which it was opened.
	 */
	public function add( array $florin_order, string $mode ): void {
		$all = $this->all();
		if ( isset( $all[ $florin_order['id'] ] ) ) {
			return;
		}
		$number                     = (int) substr( $florin_order['reference'], strlen( $this->reference( 1 ) ) + 1 );
		$all[ $florin_order['id'] ] = array(
			'reference' => $florin_order['reference'],
			'number'    => max( 1, $number ),
			'mode'      => $mode,
			'noted'     => array(),
		);
		$this->order->update_meta_data( self::ALL, $all );
	}

	/**
	 * Names the order at the proxy that the customer can pay now. Saves nothing.
	 *
	 * @param string $florin_id The proxy's id.
	 */
	public function make_current( string $florin_id ): void {
		$this->order->update_meta_data( self::CURRENT, $florin_id );
	}

	/**
	 * Returns `true` at the first call with this key, and remembers it. Saves nothing.
	 *
	 * @param string $florin_id The proxy's id.
	 * @param string $key       What happened.
	 */
	public function is_first( string $florin_id, string $key ): bool {
		$all = $this->all();
		if ( $this->has_noted( $florin_id, $key ) ) {
			return false;
		}
		$all[ $florin_id ]['noted'][] = $key;
		$this->order->update_meta_data( self::ALL, $all );
		return true;
	}

	/**
	 * Returns `true` if `is_first` was called with this key.
	 *
	 * @param string $florin_id The proxy's id.
	 * @param string $key       What happened.
	 */
	public function has_noted( string $florin_id, string $key ): bool {
		return in_array( $key, $this->all()[ $florin_id ]['noted'] ?? array(), true );
	}

	/**
	 * Returns the proxy's id of the order that completed this one; empty before.
	 */
	public function credited(): string {
		return (string) $this->order->get_meta( self::CREDITED );
	}

	/**
	 * Names the order at the proxy that completes this one. Saves nothing.
	 *
	 * @param string $florin_id The proxy's id.
	 */
	public function set_credited( string $florin_id ): void {
		$this->order->update_meta_data( self::CREDITED, $florin_id );
	}

	/**
	 * Returns `true` if the order was chosen to be paid with Florin.
	 */
	public function is_ours(): bool {
		return Plugin::METHOD === $this->order->get_payment_method();
	}

	/**
	 * Returns `true` if the order was paid, in any way, whatever its status has become.
	 */
	public function is_paid(): bool {
		return null !== $this->order->get_date_paid() || $this->order->is_paid();
	}

	/**
	 * Returns why a person should look at the order; empty if none needs to.
	 */
	public function attention(): string {
		return (string) $this->order->get_meta( self::ATTENTION );
	}

	/**
	 * Asks for a person, or with an empty text for none any more. Saves nothing.
	 *
	 * @param string $reason Why.
	 */
	public function set_attention( string $reason ): void {
		if ( '' === $reason ) {
			$this->order->delete_meta_data( self::ATTENTION );
		} else {
			$this->order->update_meta_data( self::ATTENTION, $reason );
		}
	}
}
