<?php
/**
 * The connection test of the settings page.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

use Florin\Florin;
use Florin\FlorinException;

defined( 'ABSPATH' ) || exit;

/**
 * Opens a small order at the proxy, sees it as its customer would, and cancels it. Its webhook shows whether the way back works. Each
 * finding says what to change.
 */
final class Connection_Test {

	private const NONCE = 'florin_connection_test';

	/**
	 * The price of the order that is opened. It is never paid.
	 */
	private const AMOUNT = '10.00';

	/**
	 * Findings so far: `is_fine` and `text`.
	 *
	 * @var list<array{is_fine: bool, text: string}>
	 */
	private array $findings = array();

	/**
	 * Tests the proxy of a mode.
	 *
	 * @param string $mode Proxy::LIVE or Proxy::TEST.
	 */
	public function __construct( private readonly string $mode ) {}

	/**
	 * Registers the hooks.
	 */
	public static function register(): void {
		add_action( 'wp_ajax_florin_test_connection', array( self::class, 'answer_connection' ) );
		add_action( 'wp_ajax_florin_test_webhook', array( self::class, 'answer_webhook' ) );
	}

	/**
	 * Returns the row of the settings page.
	 */
	public static function row(): string {
		$lines = sprintf( "origins = [\"%s\"]\n\n[[store.webhook]]\nurl = \"%s\"\nsecret = \"whsec_…\"", Settings::origin(), Settings::webhook_url() );
		ob_start();
		?>
		<tr valign="top">
			<th scope="row" class="titledesc"><?php esc_html_e( 'Connection test', 'florin-for-woocommerce' ); ?></th>
			<td class="forminp florin-test" data-nonce="<?php echo esc_attr( wp_create_nonce( self::NONCE ) ); ?>">
				<p><?php esc_html_e( 'The store in the configuration of the proxy needs these lines:', 'florin-for-woocommerce' ); ?></p>
				<pre><code><?php echo esc_html( $lines ); ?></code></pre>
				<p><button type="button" class="button" data-florin-action="test"><?php esc_html_e( 'Test the saved settings', 'florin-for-woocommerce' ); ?></button></p>
				<ul role="status"></ul>
			</td>
		</tr>
		<?php
		return (string) ob_get_clean();
	}

	/**
	 * Answers the first request of the test.
	 */
	public static function answer_connection(): void {
		self::check_person();
		$test      = new self( Settings::mode() );
		$reference = $test->run();
		wp_send_json_success(
			array(
				'findings'  => $test->findings(),
				'reference' => $reference,
			)
		);
	}

	/**
	 * Answers the second request: whether the webhook has arrived.
	 */
	public static function answer_webhook(): void {
		self::check_person();
		// phpcs:ignore WordPress.Security.NonceVerification.Missing -- `check_person` has checked it.
		$reference = isset( $_POST['reference'] ) ? sanitize_text_field( wp_unslash( $_POST['reference'] ) ) : '';
		$test      = new self( Settings::mode() );
		$test->test_webhook( $reference );
		wp_send_json_success( current( $test->findings() ) );
	}

	/**
	 * Ends the request if it is not that of a person who manages the shop.
	 */
	private static function check_person(): void {
		check_ajax_referer( self::NONCE );
		if ( ! current_user_can( 'manage_woocommerce' ) ) {
			wp_send_json_error( __( 'You may not change these settings.', 'florin-for-woocommerce' ), 403 );
		}
	}

	/**
	 * Returns what was found.
	 *
	 * @return list<array{is_fine: bool, text: string}>
	 */
	public function findings(): array {
		return $this->findings;
	}

	/**
	 * Runs the test. Returns the reference of the order that was opened; empty if none was.
	 */
	public function run(): string {
		if ( ! $this->has_settings() || ! $this->finds_proxy() ) {
			return '';
		}
		$reference = 'wc-test-' . bin2hex( random_bytes( 8 ) );
		try {
			$client = Proxy::client( $this->mode );
			$opened = $client->createOrder(
				array(
					'reference'  => $reference,
					'amount'     => self::AMOUNT,
					'currency'   => get_woocommerce_currency(),
					'title'      => 'Connection test',
					'return_url' => home_url( '/' ),
				)
			);
			$this->fine( __( 'The proxy accepts the secret key, and opens orders in the currency of the shop.', 'florin-for-woocommerce' ) );
			$this->see_as_customer( Proxy::client_of_customer( $this->mode, $opened['client_token'] ) );
			$this->list_webhooks( $client );
			$client->cancelOrder( $opened['order']['id'] );
		} catch ( FlorinException $error ) {
			$this->explain( $error );
			return '';
		}
		return $reference;
	}

	/**
	 * Checks the settings by themselves.
	 */
	private function has_settings(): bool {
		$url    = Settings::of_mode( $this->mode, 'url' );
		$parts  = wp_parse_url( $url );
		$scheme = $parts['scheme'] ?? '';
		if ( ! extension_loaded( 'curl' ) ) {
			return $this->wrong( __( 'PHP has no extension curl: install it.', 'florin-for-woocommerce' ) );
		}
		if ( ! in_array( $scheme, array( 'http', 'https' ), true ) || ! isset( $parts['host'] ) ) {
			return $this->wrong( __( 'The address of the proxy is missing, or is none: write https://….', 'florin-for-woocommerce' ) );
		}
		if ( 'http' === $scheme && ! in_array( $parts['host'], array( 'localhost', '127.0.0.1', '[::1]' ), true ) ) {
			return $this->wrong( __( 'The address of the proxy begins with http: anyone on the way could read the secret key. Write https.', 'florin-for-woocommerce' ) );
		}
		if ( '' === Settings::of_mode( $this->mode, 'secret_key' ) ) {
			return $this->wrong( __( 'The secret key is missing. It is the secret_key of the store, and begins with sk_ if florin-proxy made it.', 'florin-for-woocommerce' ) );
		}
		if ( ! str_starts_with( Settings::of_mode( $this->mode, 'webhook_secret' ), 'whsec_' ) ) {
			return $this->wrong( __( 'The webhook secret is missing, or is another secret: it begins with whsec_.', 'florin-for-woocommerce' ) );
		}
		return true;
	}

	/**
	 * Asks the proxy whether it has this store, and lets this shop show its checkout.
	 */
	private function finds_proxy(): bool {
		$url    = Settings::of_mode( $this->mode, 'url' );
		$store  = Settings::of_mode( $this->mode, 'store' );
		$query  = array_filter(
			array(
				'store' => $store,
				'pages' => Settings::origin(),
			)
		);
		$answer = wp_remote_get( $url . '/admission.js?' . http_build_query( $query ), array( 'timeout' => 10 ) );
		if ( is_wp_error( $answer ) ) {
			/* translators: 1: an address, 2: an error in English. */
			return $this->wrong( sprintf( __( '%1$s cannot be reached from this server: %2$s', 'florin-for-woocommerce' ), $url, $answer->get_error_message() ) );
		}
		$found = preg_match( '/^export default (\{.*\});\s*$/', wp_remote_retrieve_body( $answer ), $text ) ? json_decode( $text[1], true ) : null;
		if ( ! is_array( $found ) ) {
			/* translators: 1: an address, 2: an HTTP status. */
			return $this->wrong( sprintf( __( '%1$s is not a Florin proxy: it answers with status %2$s.', 'florin-for-woocommerce' ), $url, wp_remote_retrieve_response_code( $answer ) ) );
		}
		if ( $found['public_url'] !== $url ) {
			/* translators: %s: an address. */
			return $this->wrong( sprintf( __( 'The proxy names another address, its public_url: write %s.', 'florin-for-woocommerce' ), $found['public_url'] ) );
		}
		if ( null === $found['store'] ) {
			return $this->wrong( __( 'The proxy has no store of this id. If it has several stores, the field must not be empty.', 'florin-for-woocommerce' ) );
		}
		if ( 'listed' === $found['pages'][0] ) {
			return $this->fine( __( 'The proxy is reached, and this shop may show its checkout.', 'florin-for-woocommerce' ) );
		}
		if ( 'unencrypted' === $found['pages'][0] ) {
			return $this->wrong( __( 'The address of this shop begins with http: the proxy shows its checkout on pages with https alone.', 'florin-for-woocommerce' ) );
		}
		/* translators: %s: a line of a configuration file. */
		return $this->wrong( sprintf( __( 'The store does not list this shop. Write into the configuration of the proxy: %s', 'florin-for-woocommerce' ), $found['line'] ) );
	}

	/**
	 * Compares the environment, and names the coins that can be paid.
	 *
	 * @param Florin $customer A client that sees what the customer sees.
	 * @throws FlorinException If the proxy does not answer.
	 */
	private function see_as_customer( Florin $customer ): void {
		$environment = $customer->request( 'GET', '/v1/checkout' )['environment'];
		if ( 'production' !== $environment && Proxy::LIVE === $this->mode ) {
			$this->wrong( __( 'This proxy is of the environment “test”: no money moves. Use it in test mode alone.', 'florin-for-woocommerce' ) );
		} elseif ( 'production' === $environment && Proxy::TEST === $this->mode ) {
			$this->wrong( __( 'This proxy is of the environment “production”: real money moves, also in test mode.', 'florin-for-woocommerce' ) );
		}
		$quotes    = $customer->request( 'GET', '/v1/checkout/quotes' );
		$available = array_filter( $quotes, static fn( array $quote ): bool => $quote['available'] );
		$names     = array_map( static fn( array $quote ): string => $quote['asset'] . ' (' . $quote['network'] . ')', $available );
		if ( array() === $names ) {
			$this->wrong( __( 'No coin can be paid with now. The log of the proxy has the reason.', 'florin-for-woocommerce' ) );
			return;
		}
		/* translators: %s: names of coins. */
		$this->fine( sprintf( __( 'Customers can pay with %s.', 'florin-for-woocommerce' ), implode( ', ', $names ) ) );
	}

	/**
	 * Checks that the store has a webhook that is not disabled.
	 *
	 * @param Florin $client The store's client.
	 * @throws FlorinException If the proxy does not answer.
	 */
	private function list_webhooks( Florin $client ): void {
		$webhooks = $client->request( 'GET', '/v1/webhooks' )['webhooks'];
		if ( array() === $webhooks ) {
			$this->wrong( __( 'The store has no webhook. Orders are then updated by the repeated work alone, after some minutes: add the lines above.', 'florin-for-woocommerce' ) );
		}
		foreach ( $webhooks as $webhook ) {
			if ( 'disabled' === $webhook['state'] ) {
				/* translators: %s: the id of a webhook. */
				$this->wrong( sprintf( __( 'The webhook “%s” is disabled, because its address answered with 410. Enable it on the page of the operator.', 'florin-for-woocommerce' ), $webhook['id'] ) );
			}
		}
	}

	/**
	 * Reports whether the webhook of the test has arrived; otherwise what the proxy has recorded of it.
	 *
	 * @param string $reference The reference of the test's order.
	 */
	public function test_webhook( string $reference ): void {
		$last = (array) get_option( Events::LAST_WEBHOOK, array() );
		if ( '' !== $reference && ( $last[ $this->mode ]['reference'] ?? '' ) === $reference ) {
			$this->fine( __( 'The webhook has arrived, and its signature is right.', 'florin-for-woocommerce' ) );
			return;
		}
		try {
			$tries = Proxy::client( $this->mode )->request( 'GET', '/v1/deliveries', array( 'limit' => 1 ) )['deliveries'];
		} catch ( FlorinException $error ) {
			$this->explain( $error );
			return;
		}
		$note = isset( $tries[0] ) ? trim( ( $tries[0]['http_status'] ?? '' ) . ' ' . $tries[0]['note'] ) : '-';
		/* translators: 1: an address, 2: what the proxy has recorded, in English. */
		$this->wrong( sprintf( __( 'No webhook has arrived at %1$s. The latest try of the proxy: %2$s. Compare the address and the secret of the webhook.', 'florin-for-woocommerce' ), Settings::webhook_url(), $note ) );
	}

	/**
	 * Says what to change after a refusal.
	 *
	 * @param FlorinException $error The refusal.
	 */
	private function explain( FlorinException $error ): void {
		$texts = array(
			'unauthorized'         => __( 'The proxy refuses the secret key: it is not the secret_key of a store.', 'florin-for-woocommerce' ),
			'currency_unavailable' => __( 'The gateway does not price the currency of this shop.', 'florin-for-woocommerce' ),
			'connection_failed'    => __( 'The proxy cannot be reached from this server.', 'florin-for-woocommerce' ),
			'timeout'              => __( 'The proxy has not answered in time.', 'florin-for-woocommerce' ),
		);
		$text  = $texts[ $error->errorCode ] ?? __( 'The proxy refuses the test.', 'florin-for-woocommerce' );
		$this->wrong( $text . ' ' . $error->getMessage() );
	}

	/**
	 * Adds a finding that is as it should be.
	 *
	 * @param string $text What was found.
	 */
	private function fine( string $text ): bool {
		$this->findings[] = array(
			'is_fine' => true,
			'text'    => $text,
		);
		return true;
	}

	/**
	 * Adds a finding that is wrong.
	 *
	 * @param string $text What is wrong, and what to do.
	 */
	private function wrong( string $text ): bool {
		$this->findings[] = array(
			'is_fine' => false,
			'text'    => $text,
		);
		return false;
	}
}
