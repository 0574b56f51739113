<?php
/**
 * The rules: what becomes of the shop's order.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

defined( 'ABSPATH' ) || exit;

/**
 * Compares an order at the proxy with the shop's order, and changes that one. To apply the same twice changes nothing the second time.
 *
 * The status changes only while the order is to be paid with Florin and is unpaid. Whatever else happens with money becomes a note, and
 * asks for a person.
 */
final class Changes {

	/**
	 * Statuses in which WooCommerce waits for a payment.
	 */
	private const UNPAID = array( 'checkout-draft', 'pending', 'failed', 'on-hold' );

	/**
	 * Holds what is compared.
	 *
	 * @param Order_Record $record       The shop's order, locked and fresh.
	 * @param array        $florin_order The order at the proxy as it is now.
	 * @param string       $mode         The mode whose proxy has it.
	 */
	public function __construct( private readonly Order_Record $record, private readonly array $florin_order, private readonly string $mode ) {}

	/**
	 * Changes the shop's order. The caller saves its metadata.
	 *
	 * @param ?array $event The event that reported the order, if any.
	 */
	public function apply( ?array $event ): void {
		if ( 'order.late_payment' === ( $event['type'] ?? '' ) ) {
			$this->note_late_payment( $event );
		}
		switch ( $this->florin_order['status'] ) {
			case 'paid':
			case 'overpaid':
				$this->credit();
				$this->note_reversal();
				break;
			case 'processing':
				$this->hold( __( 'The payment was seen and is not confirmed yet.', 'florin-for-woocommerce' ) );
				break;
			case 'checking':
				// Without a transaction it is only what the customer says.
				if ( null !== ( $this->florin_order['attempt']['transaction_hash'] ?? null ) ) {
					$this->hold( __( 'The payment was seen and is not confirmed yet.', 'florin-for-woocommerce' ) );
				}
				break;
			case 'underpaid':
				$this->note_underpayment();
				break;
			case 'blocked':
				$this->ask_for_person( 'blocked', __( 'The proxy stopped the payment, because the gateway named a doubtful address. The page of its operator has the reason.', 'florin-for-woocommerce' ) );
				break;
			case 'expired':
			case 'failed':
			case 'cancelled':
				$this->end();
				break;
		}
		$this->note_refunds();
	}

	/**
	 * Returns the total that has to be paid, with a point.
	 *
	 * @param \WC_Order $order The shop's order.
	 */
	public static function total( \WC_Order $order ): string {
		return wc_format_decimal( $order->get_total(), wc_get_price_decimals() );
	}

	/**
	 * Completes an order that was paid in full. It is completed once: by this payment, or by another.
	 */
	private function credit(): void {
		$order = $this->record->order;
		if ( 'overpaid' === $this->florin_order['status'] ) {
			/* translators: %s: an amount that arrived, with its coin. */
			$this->ask_for_person( 'overpaid', sprintf( __( 'More than the price was paid: %s arrived. Agree with the customer on what is too much.', 'florin-for-woocommerce' ), $this->received() ) );
		}
		if ( $this->record->credited() === $this->id() || $this->record->has_noted( $this->id(), 'late' ) ) {
			return;
		}
		if ( $this->record->is_paid() ) {
			/* translators: %s: an amount that arrived, with its coin. */
			$this->ask_for_person( 'second', sprintf( __( 'The order was paid already, and %s arrived for it as well. Ship once. This money is owed to the customer.', 'florin-for-woocommerce' ), $this->received() ) );
			return;
		}
		if ( ! $this->record->is_ours() ) {
			/* translators: %s: an amount that arrived, with its coin. */
			$this->ask_for_person( 'other', sprintf( __( '%s arrived and pays this order, but the customer has chosen another payment method since. Nothing was changed: mark the order as paid, or send the money back.', 'florin-for-woocommerce' ), $this->received() ) );
			return;
		}
		if ( ! $this->has_our_price() ) {
			/* translators: 1: an amount with its currency, 2: the amount of the order now. */
			$text = sprintf( __( '%1$s was paid, but the order’s total is %2$s now. It was not completed.', 'florin-for-woocommerce' ), $this->price(), self::total( $order ) . ' ' . $order->get_currency() );
			$this->ask_for_person( 'price', $text );
			$this->set_status_if( self::UNPAID, 'on-hold', '' );
			return;
		}
		if ( $order->has_status( self::UNPAID ) || ( $order->has_status( 'cancelled' ) && 'paid' === Settings::get( 'late_status' ) ) ) {
			$this->complete();
		} elseif ( $order->has_status( 'cancelled' ) ) {
			$this->ask_for_person( 'late', __( 'The order was paid in full after it was cancelled. Check the stock, then mark it as paid, or send the money back.', 'florin-for-woocommerce' ) );
			$this->set_status_if( array( 'cancelled' ), 'on-hold', '' );
		} else {
			/* translators: %s: an amount that arrived, with its coin. */
			$this->ask_for_person( 'closed-order', sprintf( __( '%s arrived for this order, which waits for no payment. Nothing was changed.', 'florin-for-woocommerce' ), $this->received() ) );
		}
	}

	/**
	 * Completes the order. Which payment did so is saved together with the status.
	 */
	private function complete(): void {
		$this->record->set_credited( $this->id() );
		if ( isset( $this->florin_order['decision'] ) ) {
			$this->note( __( 'An operator of the proxy accepted the order as paid.', 'florin-for-woocommerce' ) );
		}
		/* translators: 1: an amount that arrived, with its coin, 2: the hash of a transaction. */
		$this->note( sprintf( __( 'Paid: %1$s, transaction %2$s.', 'florin-for-woocommerce' ), $this->received(), $this->florin_order['attempt']['transaction_hash'] ?? '-' ) );
		$this->record->order->payment_complete( $this->id() );
	}

	/**
	 * Puts an order on hold whose payment is on its way. WooCommerce then keeps its stock, and does not cancel it as unpaid.
	 *
	 * @param string $text The note.
	 */
	private function hold( string $text ): void {
		if ( ! $this->record->is_ours() || $this->record->is_paid() ) {
			$this->ask_for_person( 'seen-elsewhere', __( 'A payment was seen for this order, which is paid already or is to be paid in another way.', 'florin-for-woocommerce' ) );
			return;
		}
		if ( $this->record->order->has_status( 'cancelled' ) ) {
			$this->ask_for_person( 'seen-late', __( 'A payment was seen after the order was cancelled. It is not confirmed yet.', 'florin-for-woocommerce' ) );
		} elseif ( $this->record->is_first( $this->id(), 'seen' ) || $this->record->order->has_status( 'pending' ) ) {
			$this->set_status_if( array( 'checkout-draft', 'pending', 'failed' ), 'on-hold', $text );
		}
	}

	/**
	 * A part was paid. The customer can send the rest to the same address.
	 */
	private function note_underpayment(): void {
		$attempt = $this->florin_order['attempt'];
		/* translators: 1: an amount that arrived, with its coin, 2: the amount that was asked for. */
		$text = sprintf( __( 'Paid in part: %1$s of %2$s arrived. The customer can send the rest to the same address.', 'florin-for-woocommerce' ), $this->received(), $attempt['amount_in_crypto'] ?? '?' );
		if ( ! $this->ask_for_person( 'underpaid:' . $attempt['received_in_crypto'], $text ) ) {
			return;
		}
		$this->record->is_first( $this->id(), 'seen' );
		if ( $this->record->is_ours() && ! $this->record->is_paid() ) {
			$this->set_status_if( self::UNPAID, Settings::get( 'underpaid_status' ), '' );
		}
	}

	/**
	 * The time is over, or the payment has not been completed.
	 */
	private function end(): void {
		$order = $this->record->order;
		$is_current = $this->record->current() === $this->id();
		if ( ! $is_current || ! $this->record->is_ours() || $this->record->is_paid() ) {
			return;
		}
		if ( isset( $this->florin_order['decision'] ) ) {
			$this->ask_for_person( 'resolved', __( 'An operator of the proxy closed the order unpaid. What has arrived is owed to the customer.', 'florin-for-woocommerce' ) );
		}
		$was_seen = $this->record->has_noted( $this->id(), 'seen' );
		$is_over  = 'cancelled' === $this->florin_order['status'] || strtotime( $this->florin_order['expires_at'] ) <= time();
		if ( $was_seen ) {
			$this->ask_for_person( 'vanished', __( 'The payment that was seen has not been completed.', 'florin-for-woocommerce' ) );
			$this->set_status_if( array( 'on-hold' ), 'failed', '' );
		} elseif ( $is_over && 'leave' !== Settings::get( 'unpaid_status' ) ) {
			// An order on hold without a payment was put there by a person.
			$this->set_status_if( array( 'pending' ), Settings::get( 'unpaid_status' ), __( 'Not paid in time.', 'florin-for-woocommerce' ) );
		}
	}

	/**
	 * The gateway takes back a payment that has completed the order, or confirms it again.
	 */
	private function note_reversal(): void {
		if ( $this->record->credited() !== $this->id() ) {
			return;
		}
		$reverted = $this->florin_order['reverted'] ?? null;
		if ( null !== $reverted ) {
			/* translators: %s: a state of a payment, in English. */
			$text = sprintf( __( 'The payment of this order was taken back: the gateway reports “%s”. Stop what is not shipped yet.', 'florin-for-woocommerce' ), $reverted['payment_state'] );
			if ( $this->ask_for_person( 'reverted:' . $reverted['at'] . $reverted['payment_state'], $text ) ) {
				$this->set_status_if( array( 'processing' ), 'on-hold', '' );
			}
		}
	}

	/**
	 * A payment came when the order was over, or a second one.
	 *
	 * @param array $event The event `order.late_payment`.
	 */
	private function note_late_payment( array $event ): void {
		$attempt = $event['data']['order']['attempt'] ?? array();
		/* translators: %s: an amount that arrived, with its coin. */
		$text = sprintf( __( 'A payment came late or a second time: %s. Ship once.', 'florin-for-woocommerce' ), self::received_by( $attempt ) );
		$this->ask_for_person( 'late:' . $event['id'], $text );
	}

	/**
	 * The customer named an address for a refund, or a refund was recorded.
	 */
	private function note_refunds(): void {
		$address = $this->florin_order['refund_address'] ?? null;
		if ( null !== $address ) {
			/* translators: %s: an address of a blockchain. */
			$this->ask_for_person( "address:$address", sprintf( __( 'An address for the refund was named on the payment page: %s. Ask the customer before you send much: anyone with the page’s link can name one.', 'florin-for-woocommerce' ), $address ) );
		}
		foreach ( $this->florin_order['refunds'] ?? array() as $number => $refund ) {
			if ( $this->record->is_first( $this->id(), "refund:$number" ) ) {
				/* translators: 1: an amount with its coin, 2: the hash of a transaction, 3: an amount with its currency. */
				$text = __( 'A refund was recorded: %1$s, transaction %2$s. It takes %3$s back of the price.', 'florin-for-woocommerce' );
				$this->note( sprintf( $text, $refund['amount_in_crypto'] . ' ' . $refund['crypto_code'], $refund['transaction_hash'] ?? '-', $refund['amount'] . ' ' . $this->florin_order['currency'] ) );
			}
		}
	}

	/**
	 * Compares what was paid with what the order costs now: its total may have changed since.
	 */
	private function has_our_price(): bool {
		$order = $this->record->order;
		$plain = static fn( string $amount ): string => str_contains( $amount, '.' ) ? rtrim( rtrim( $amount, '0' ), '.' ) : $amount;
		return $plain( $this->florin_order['amount'] ) === $plain( self::total( $order ) ) && $order->get_currency() === $this->florin_order['currency'];
	}

	/**
	 * Adds a note, and asks for a person. Returns `true` at the first call with this key.
	 *
	 * @param string $key  What happened.
	 * @param string $text The note.
	 */
	private function ask_for_person( string $key, string $text ): bool {
		if ( ! $this->record->is_first( $this->id(), $key ) ) {
			return false;
		}
		$this->note( $text );
		$this->record->set_attention( $text );
		return true;
	}

	/**
	 * Adds a private note.
	 *
	 * @param string $text The note.
	 */
	private function note( string $text ): void {
		$this->record->order->add_order_note( $this->prefix() . $text );
	}

	/**
	 * Sets the status if the order has one of others.
	 *
	 * @param array  $before The statuses to change.
	 * @param string $status The status to set.
	 * @param string $text   The note.
	 */
	private function set_status_if( array $before, string $status, string $text ): void {
		if ( $this->record->order->has_status( $before ) && ! $this->record->order->has_status( $status ) ) {
			$this->record->order->update_status( $status, '' === $text ? '' : $this->prefix() . $text );
		}
	}

	/**
	 * What each note begins with.
	 */
	private function prefix(): string {
		return Proxy::TEST === $this->mode ? __( 'Florin, TEST without money: ', 'florin-for-woocommerce' ) : __( 'Florin: ', 'florin-for-woocommerce' );
	}

	/**
	 * The proxy's id of the order.
	 */
	private function id(): string {
		return $this->florin_order['id'];
	}

	/**
	 * The price at the proxy.
	 */
	private function price(): string {
		return $this->florin_order['amount'] . ' ' . $this->florin_order['currency'];
	}

	/**
	 * What has arrived by the attempt that counts.
	 */
	private function received(): string {
		return self::received_by( $this->florin_order['attempt'] ?? array() );
	}

	/**
	 * What has arrived by an attempt.
	 *
	 * @param array $attempt The attempt.
	 */
	private static function received_by( array $attempt ): string {
		return ( $attempt['received_in_crypto'] ?? '?' ) . ' ' . ( $attempt['crypto_code'] ?? '' );
	}
}
