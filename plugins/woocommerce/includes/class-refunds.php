<?php
/**
 * Refunds: an address is asked for, and what was sent is recorded.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

use Florin\FlorinException;

defined( 'ABSPATH' ) || exit;

/**
 * Nothing is sent from here: the shop's owner sends coins from a wallet, to an address that the customer named, and records it.
 */
final class Refunds {

	/**
	 * That the customer was asked for an address, and the one that was named: metadata of the order.
	 */
	private const ASKED   = '_florin_refund_asked';
	private const ADDRESS = '_florin_refund_address';

	/**
	 * The customer's form.
	 */
	private const NONCE = 'florin_refund_address';

	/**
	 * Registers the hooks.
	 */
	public static function register(): void {
		add_action( 'template_redirect', array( self::class, 'receive_address' ), 5 );
	}

	/**
	 * Returns the address that the customer named in the shop; empty if there is none.
	 *
	 * @param Order_Record $record The shop's order.
	 */
	public static function address( Order_Record $record ): string {
		return (string) $record->order->get_meta( self::ADDRESS );
	}

	/**
	 * Asks the customer for an address, by a note that WooCommerce sends as a mail.
	 *
	 * @param int $order_id The shop's id of the order.
	 */
	public static function ask( int $order_id ): void {
		Payments::locked(
			$order_id,
			static function ( Order_Record $record ): void {
				$record->order->update_meta_data( self::ASKED, 'yes' );
				$record->order->delete_meta_data( self::ADDRESS );
				$record->order->save();
				/* translators: %s: a link. */
				$text = __( 'We will send coins back to you. Please name an address for them here: %s', 'florin-for-woocommerce' );
				$record->order->add_order_note( sprintf( $text, self::page( $record->order ) ), 1 );
			}
		);
	}

	/**
	 * Shows the customer the form for the address, if one was asked for.
	 *
	 * @param Order_Record $record The shop's order.
	 */
	public static function show_form( Order_Record $record ): void {
		if ( 'yes' !== $record->order->get_meta( self::ASKED ) ) {
			return;
		}
		$address = self::address( $record );
		if ( '' !== $address ) {
			/* translators: %s: an address of a blockchain. */
			echo '<p>' . esc_html( sprintf( __( 'You named this address for your refund: %s', 'florin-for-woocommerce' ), $address ) ) . '</p>';
			return;
		}
		?>
		<form method="post" class="florin-refund">
			<h2><?php esc_html_e( 'Your refund', 'florin-for-woocommerce' ); ?></h2>
			<p>
				<label for="florin_refund_address"><?php esc_html_e( 'Address of your wallet, for the coin that you paid with', 'florin-for-woocommerce' ); ?></label>
				<input id="florin_refund_address" name="florin_refund_address" type="text" maxlength="128" required autocomplete="off" spellcheck="false" class="input-text">
				<input type="hidden" name="florin_order_id" value="<?php echo esc_attr( $record->order->get_id() ); ?>">
				<input type="hidden" name="florin_order_key" value="<?php echo esc_attr( $record->order->get_order_key() ); ?>">
				<?php wp_nonce_field( self::NONCE, 'florin_nonce' ); ?>
			</p>
			<p><button type="submit" class="button"><?php esc_html_e( 'Send', 'florin-for-woocommerce' ); ?></button></p>
		</form>
		<?php
	}

	/**
	 * Receives the customer's form.
	 */
	public static function receive_address(): void {
		$nonce = isset( $_POST['florin_nonce'] ) ? sanitize_text_field( wp_unslash( $_POST['florin_nonce'] ) ) : '';
		if ( ! isset( $_POST['florin_refund_address'], $_POST['florin_order_id'], $_POST['florin_order_key'] ) || ! wp_verify_nonce( $nonce, self::NONCE ) ) {
			return;
		}
		$address = sanitize_text_field( wp_unslash( $_POST['florin_refund_address'] ) );
		$key     = sanitize_text_field( wp_unslash( $_POST['florin_order_key'] ) );
		try {
			$is_kept = self::keep_address( absint( $_POST['florin_order_id'] ), $key, $address );
		} catch ( FlorinException $error ) {
			$is_kept = false;
		}
		if ( $is_kept ) {
			wc_add_notice( __( 'Thank you. The shop has your address.', 'florin-for-woocommerce' ) );
		} else {
			wc_add_notice( __( 'This address was not taken. Check it, or contact the shop.', 'florin-for-woocommerce' ), 'error' );
		}
	}

	/**
	 * Keeps an address if one was asked for, and none was named yet: a second one could be a stranger's.
	 *
	 * @param int    $order_id The shop's id of the order.
	 * @param string $key      The key of the order.
	 * @param string $address  The address.
	 */
	public static function keep_address( int $order_id, string $key, string $address ): bool {
		// Bitcoin Cash has addresses with a colon.
		if ( ! preg_match( '/^[A-Za-z0-9:]{20,128}$/', $address ) || ! wc_get_order( $order_id ) ) {
			return false;
		}
		return Payments::locked(
			$order_id,
			static function ( Order_Record $record ) use ( $key, $address ): bool {
				$is_asked = 'yes' === $record->order->get_meta( self::ASKED ) && '' === self::address( $record );
				if ( ! $is_asked || ! hash_equals( $record->order->get_order_key(), $key ) ) {
					return false;
				}
				$record->order->update_meta_data( self::ADDRESS, $address );
				/* translators: %s: an address of a blockchain. */
				$text = sprintf( __( 'Florin: the customer named an address for the refund: %s', 'florin-for-woocommerce' ), $address );
				$record->set_attention( $text );
				$record->order->save();
				$record->order->add_order_note( $text );
				return true;
			}
		);
	}

	/**
	 * Records coins that were sent back, at the proxy and as a refund of WooCommerce. The same transaction is recorded once.
	 *
	 * @param int    $order_id    The shop's id of the order.
	 * @param string $florin_id   The proxy's id of the order that was paid.
	 * @param string $amount      How much was sent, in the coin.
	 * @param string $coin        The coin's code; empty if the order was paid in one.
	 * @param string $transaction The transaction that sent it.
	 * @throws FlorinException If the proxy does not record it.
	 */
	public static function record( int $order_id, string $florin_id, string $amount, string $coin, string $transaction ): void {
		Payments::locked(
			$order_id,
			static function ( Order_Record $record ) use ( $florin_id, $amount, $coin, $transaction ): void {
				$mode = $record->all()[ $florin_id ]['mode'] ?? null;
				if ( null === $mode ) {
					throw new FlorinException( 'not_found', 'The order has no such payment.' );
				}
				$sent     = array(
					'amount_in_crypto' => $amount,
					'transaction'      => $transaction,
				) + array_filter( array( 'crypto_code' => $coin ) );
				$key      = 'refund-' . hash( 'sha256', implode( ' ', array( $florin_id, $amount, $coin, $transaction ) ) );
				$path     = '/v1/orders/' . rawurlencode( $florin_id ) . '/refunds';
				$recorded = Proxy::client( $mode )->request( 'POST', $path, array(), $sent, $key );
				( new Changes( $record, $recorded, $mode ) )->apply( null );
				// The proxy writes hexadecimal digits in one way.
				$plain  = strtolower( preg_replace( '/^0x/', '', $transaction ) );
				$same   = static fn( array $refund ): bool => strtolower( $refund['transaction_hash'] ?? '' ) === $plain;
				$refund = current( array_filter( $recorded['refunds'], $same ) );
				$is_new = $record->is_first( $florin_id, "booked:$plain" );
				$record->order->save();
				if ( $is_new && $refund ) {
					self::book( $record->order, $refund['amount'], $transaction );
				}
			}
		);
	}

	/**
	 * Makes the refund of WooCommerce, of what was taken back of the price. Money that was only owed is none.
	 *
	 * @param \WC_Order $order       The shop's order.
	 * @param string    $amount      In the order's currency.
	 * @param string    $transaction The transaction that sent it.
	 */
	private static function book( \WC_Order $order, string $amount, string $transaction ): void {
		if ( '' === trim( $amount, '0.' ) ) {
			return;
		}
		$refund = wc_create_refund(
			array(
				'order_id'       => $order->get_id(),
				'amount'         => $amount,
				/* translators: %s: the hash of a transaction. */
				'reason'         => sprintf( __( 'Sent with transaction %s', 'florin-for-woocommerce' ), $transaction ),
				'refund_payment' => false,
				'restock_items'  => false,
			)
		);
		if ( is_wp_error( $refund ) ) {
			/* translators: 1: an amount, 2: an error of WooCommerce. */
			$order->add_order_note( sprintf( __( 'Florin: the refund of %1$s was not booked here: %2$s', 'florin-for-woocommerce' ), $amount, $refund->get_error_message() ) );
		}
	}

	/**
	 * The page with the customer's form.
	 *
	 * @param \WC_Order $order The shop's order.
	 */
	private static function page( \WC_Order $order ): string {
		return $order->get_customer_id() ? $order->get_view_order_url() : $order->get_checkout_order_received_url();
	}
}
