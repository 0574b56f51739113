<?php
/**
 * Events of the proxy: as webhooks, and asked for.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

use Florin\FlorinException;

defined( 'ABSPATH' ) || exit;

/**
 * A webhook that is lost delays an order by some minutes: the repeated work reads the same events from the proxy's list.
 */
final class Events {

	/**
	 * The repeated work, and the seconds between two runs.
	 */
	private const ACTION           = 'florin_poll';
	private const INTERVAL_SECONDS = 300;

	/**
	 * Pages of events, and unpaid orders, that one run reads at most.
	 */
	private const MOST_PAGES  = 5;
	private const PAGE        = 100;
	private const MOST_ORDERS = 20;

	/**
	 * How far the list of events was read: the id of an event, by mode.
	 */
	public const CURSOR = 'florin_cursor';

	/**
	 * When a webhook last arrived, by mode: `id`, `reference` and `at`.
	 */
	public const LAST_WEBHOOK = 'florin_last_webhook';

	/**
	 * No event of the proxy is as large.
	 */
	private const MOST_BYTES = 1048576;

	/**
	 * Registers the hooks.
	 */
	public static function register(): void {
		add_action( 'woocommerce_api_' . Plugin::METHOD, array( self::class, 'serve_webhook' ) );
		add_action( self::ACTION, array( self::class, 'poll' ) );
		add_action( 'action_scheduler_init', array( self::class, 'schedule' ) );
	}

	/**
	 * Schedules the repeated work, once.
	 */
	public static function schedule(): void {
		if ( ! as_has_scheduled_action( self::ACTION ) ) {
			as_schedule_recurring_action( time(), self::INTERVAL_SECONDS, self::ACTION, array(), 'florin', true );
		}
	}

	/**
	 * Answers a webhook.
	 */
	public static function serve_webhook(): void {
		$headers = array();
		foreach ( array( 'webhook-id', 'webhook-timestamp', 'webhook-signature' ) as $name ) {
			$key              = 'HTTP_' . strtoupper( strtr( $name, '-', '_' ) );
			$headers[ $name ] = isset( $_SERVER[ $key ] ) ? sanitize_text_field( wp_unslash( $_SERVER[ $key ] ) ) : '';
		}
		// The signature is over the bytes as they arrived.
		$body = (string) file_get_contents( 'php://input', false, null, 0, self::MOST_BYTES );
		list( $status, $text ) = self::receive( $body, $headers );
		status_header( $status );
		header( 'Content-Type: text/plain; charset=utf-8' );
		nocache_headers();
		echo esc_html( $text );
		exit;
	}

	/**
	 * Handles a delivery. Returns the HTTP status and a text for the proxy's list of deliveries.
	 *
	 * @param string $body    The bytes that arrived.
	 * @param array  $headers The headers of Standard Webhooks.
	 * @return array{0: int, 1: string}
	 */
	public static function receive( string $body, array $headers ): array {
		try {
			list( $mode, $event ) = Proxy::verify( $body, $headers );
		} catch ( FlorinException $error ) {
			self::log_failure( 'a webhook was refused', $error );
			return array( 400, $error->getMessage() );
		}
		$last          = (array) get_option( self::LAST_WEBHOOK, array() );
		$last[ $mode ] = array(
			'id'        => $event['id'],
			'reference' => $event['data']['order']['reference'] ?? '',
			'at'        => time(),
		);
		update_option( self::LAST_WEBHOOK, $last, false );
		try {
			self::handle( $mode, $event );
		} catch ( FlorinException $error ) {
			self::log_failure( 'a webhook will be sent again', $error );
			return array( 503, 'Please send it again: ' . $error->getMessage() );
		}
		return array( 200, 'ok' );
	}

	/**
	 * Reads what has happened since the last run, and looks after orders whose time is over.
	 */
	public static function poll(): void {
		foreach ( array( Proxy::LIVE, Proxy::TEST ) as $mode ) {
			if ( ! Proxy::is_configured( $mode ) ) {
				continue;
			}
			try {
				self::read_list( $mode );
			} catch ( FlorinException $error ) {
				self::log_failure( 'the events were not read', $error );
			}
		}
		self::look_after_unpaid_orders();
	}

	/**
	 * Handles the events of the list that were not read before. One that fails is read again at the next run.
	 *
	 * @param string $mode The mode whose proxy is asked.
	 * @throws FlorinException If the proxy does not answer.
	 */
	private static function read_list( string $mode ): void {
		for ( $page = 0; $page < self::MOST_PAGES; $page++ ) {
			$cursor = (array) get_option( self::CURSOR, array() );
			$query  = array( 'limit' => self::PAGE ) + array_filter( array( 'after' => $cursor[ $mode ] ?? null ) );
			try {
				$events = Proxy::client( $mode )->listEvents( $query )['events'];
			} catch ( FlorinException $error ) {
				// The database of the proxy was replaced: its events begin anew.
				if ( 'after' !== $error->field ) {
					throw $error;
				}
				$events = array();
				self::keep_cursor( $mode, null );
			}
			foreach ( $events as $event ) {
				self::handle( $mode, $event );
				self::keep_cursor( $mode, $event['id'] );
			}
			if ( count( $events ) < self::PAGE ) {
				return;
			}
		}
	}

	/**
	 * Stores how far the list was read.
	 *
	 * @param string  $mode  The mode.
	 * @param ?string $after The id of the last event; `null` for the beginning.
	 */
	private static function keep_cursor( string $mode, ?string $after ): void {
		$cursor          = (array) get_option( self::CURSOR, array() );
		$cursor[ $mode ] = $after;
		update_option( self::CURSOR, array_filter( $cursor ), false );
	}

	/**
	 * Handles one event. Those of donations, of other ways to sell and of deleted orders are none of this shop's.
	 *
	 * @param string $mode  The mode whose proxy reports it.
	 * @param array  $event The event.
	 * @throws FlorinException If the proxy does not answer.
	 */
	private static function handle( string $mode, array $event ): void {
		$florin_order = $event['data']['order'] ?? null;
		if ( ! is_array( $florin_order ) || in_array( $event['type'], array( 'order.created', 'order.attempt_opened' ), true ) ) {
			return;
		}
		$order_id = Order_Record::id_of( $florin_order['reference'] );
		if ( null === $order_id || ! wc_get_order( $order_id ) instanceof \WC_Order ) {
			return;
		}
		try {
			Payments::sync( $order_id, $mode, $florin_order, $event );
			self::log( $event['type'] . ' of ' . $florin_order['id'] . " for order $order_id" );
		} catch ( FlorinException $error ) {
			if ( 'not_found' !== $error->errorCode ) {
				throw $error;
			}
			// To send it again does not help: the proxy's database was replaced.
			self::log_failure( $event['id'] . ' is of no order', $error );
		}
	}

	/**
	 * No event reports that an order with an expired attempt takes no more of them.
	 */
	private static function look_after_unpaid_orders(): void {
		$orders = wc_get_orders(
			array(
				'status'         => array( 'pending' ),
				'payment_method' => Plugin::METHOD,
				'date_modified'  => '<' . ( time() - HOUR_IN_SECONDS ),
				'orderby'        => 'rand',
				'limit'          => self::MOST_ORDERS,
			)
		);
		foreach ( $orders as $order ) {
			Payments::sync_current( new Order_Record( $order ) );
		}
	}

	/**
	 * Writes what failed to the log. No message has a secret.
	 *
	 * @param string     $what  What failed.
	 * @param \Throwable $error Why.
	 */
	public static function log_failure( string $what, \Throwable $error ): void {
		$request = $error instanceof FlorinException && $error->requestId ? " ($error->requestId)" : '';
		$code    = $error instanceof FlorinException ? "$error->errorCode: " : '';
		wc_get_logger()->error( $what . ': ' . $code . $error->getMessage() . $request, array( 'source' => 'florin' ) );
	}

	/**
	 * Writes what went well to the log, if the settings ask for it.
	 *
	 * @param string $what What happened.
	 */
	private static function log( string $what ): void {
		if ( 'yes' === Settings::get( 'debug' ) ) {
			wc_get_logger()->info( $what, array( 'source' => 'florin' ) );
		}
	}
}
