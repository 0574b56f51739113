<?php
/**
 * A stand-in of the functions of WooCommerce that the plugin calls. Orders are copies of what is stored, as there: a change that is not
 * saved is lost, and a copy that was read before another's change is old.
 *
 * @package Florin_For_WooCommerce
 */

final class WooCommerce {}

final class WC_Order {
	/**
	 * What is stored, by id.
	 *
	 * @var array<int, array>
	 */
	public static array $stored = array();
	public static int $stock    = 10;

	private array $changes = array();
	private array $meta    = array();

	public function __construct( private int $id, private array $data ) {}

	public static function place( array $data = array() ): int {
		$id                  = 100 + count( self::$stored );
		self::$stored[ $id ] = $data + array( 'status' => 'pending', 'method' => 'florin', 'total' => '42.00', 'currency' => 'USD', 'paid' => null, 'reduced' => false, 'meta' => array(), 'notes' => array() );
		return $id;
	}

	public function get_id() {
		return $this->id;
	}
	public function get_order_number() {
		return (string) $this->id;
	}
	public function get_order_key() {
		return "wc_order_key$this->id";
	}
	public function get_customer_id() {
		return 0;
	}
	public function get_total() {
		return $this->data['total'];
	}
	public function get_currency() {
		return $this->data['currency'];
	}
	public function get_status() {
		return $this->data['status'];
	}
	public function has_status( $status ) {
		return in_array( $this->data['status'], (array) $status, true );
	}
	public function get_payment_method() {
		return $this->data['method'];
	}
	public function get_date_paid() {
		return $this->data['paid'];
	}
	public function is_paid() {
		return $this->has_status( wc_get_is_paid_statuses() );
	}
	public function needs_payment() {
		return $this->has_status( array( 'pending', 'failed' ) );
	}
	public function get_items() {
		return array(
			new class() {
				public function get_name() {
					return '<b>A mug</b> &amp; more';
				}
				public function get_quantity() {
					return 2;
				}
			},
		);
	}
	public function get_checkout_payment_url( $on_checkout = false ) {
		return "https://shop.example/pay/$this->id" . ( $on_checkout ? '/receipt' : '' );
	}
	public function get_checkout_order_received_url() {
		return "https://shop.example/received/$this->id";
	}
	public function get_meta( $name ) {
		return $this->data['meta'][ $name ] ?? '';
	}
	public function update_meta_data( $name, $value ) {
		$this->data['meta'][ $name ] = $value;
		$this->meta[ $name ]         = $value;
	}
	public function delete_meta_data( $name ) {
		$this->update_meta_data( $name, '' );
	}
	public function add_order_note( $text, $is_for_customer = 0 ) {
		self::$stored[ $this->id ]['notes'][] = ( $is_for_customer ? 'to the customer: ' : '' ) . $text;
	}
	public function set_status( $status ) {
		$this->data['status']    = $status;
		$this->changes['status'] = $status;
		if ( in_array( $status, wc_get_is_paid_statuses(), true ) && ! $this->data['paid'] ) {
			$this->data['paid']    = 'now';
			$this->changes['paid'] = 'now';
		}
	}
	public function update_status( $status, $note = '' ) {
		if ( '' !== $note ) {
			$this->add_order_note( $note );
		}
		$this->set_status( $status );
		$this->save();
	}
	public function payment_complete( $transaction ) {
		if ( $this->has_status( array( 'pending', 'on-hold', 'failed', 'cancelled' ) ) ) {
			$this->changes['transaction'] = $transaction;
			$this->set_status( 'processing' );
			$this->save();
		}
		return true;
	}
	public function save() {
		$stored = &self::$stored[ $this->id ];
		$from   = $stored['status'];
		$stored = array( 'meta' => $this->meta + $stored['meta'] ) + $this->changes + $stored;
		$to     = $stored['status'];
		if ( $from === $to ) {
			return;
		}
		$keeps = in_array( $to, array( 'processing', 'completed', 'on-hold' ), true );
		if ( $keeps !== $stored['reduced'] && ( $keeps || in_array( $to, array( 'cancelled', 'pending' ), true ) ) ) {
			$stored['reduced'] = $keeps;
			self::$stock      += $keeps ? -1 : 1;
		}
		do_action( 'woocommerce_order_status_changed', $this->id, $from, $to, $this );
	}
}

abstract class WC_Payment_Gateway {
	public $id;
	public $title;
	public $description;
	public $has_fields;
	public $supports;
	public $method_title;
	public $method_description;
	public $form_fields;

	public function init_settings() {}
	public function get_option( $name ) {
		return \Florin\WooCommerce\Settings::get( $name );
	}
	public function is_available() {
		return 'yes' === $this->get_option( 'enabled' );
	}
}

final class WC_Data_Store {
	public static function load() {
		return new self();
	}
	public function clear_cached_data() {}
}

function wc_get_order( $id ) {
	return isset( WC_Order::$stored[ $id ] ) ? new WC_Order( $id, WC_Order::$stored[ $id ] ) : false;
}
function wc_get_orders( $query ) {
	$ids = array_filter( array_keys( WC_Order::$stored ), static fn( $id ) => in_array( WC_Order::$stored[ $id ]['status'], $query['status'], true ) && WC_Order::$stored[ $id ]['method'] === $query['payment_method'] );
	return array_map( 'wc_get_order', $ids );
}
function wc_create_refund( $refund ) {
	WC_Order::$stored[ $refund['order_id'] ]['refunds'][] = $refund;
	return new stdClass();
}
function wc_get_is_paid_statuses() {
	return array( 'processing', 'completed' );
}
function wc_get_price_decimals() {
	return 2;
}
function wc_format_decimal( $number, $decimals ) {
	return number_format( (float) $number, $decimals, '.', '' );
}
function get_woocommerce_currency() {
	return Shop::$options['woocommerce_currency'] ?? 'USD';
}
function wc_add_notice( $text, $kind = 'success' ) {
	Shop::$notices[] = "$kind: $text";
}
function wc_print_notice( $text, $kind ) {
	echo $text;
}
function wc_get_logger() {
	return new class() {
		public function error( $text ) {
			Shop::$log[] = $text;
		}
		public function info( $text ) {}
	};
}
