<?php
/**
 * Access to the Florin proxy.
 *
 * @package Florin_For_WooCommerce
 */

namespace Florin\WooCommerce;

use Florin\Florin;
use Florin\FlorinException;

defined( 'ABSPATH' ) || exit;

/**
 * The two proxies that the settings name, one for each mode. The client is the library `florin/server`: `bin/build.sh` copies it into
 * the plugin, so that a shop installs nothing else; in the repository it is beside the plugin.
 */
final class Proxy {

	/**
	 * With real money, and without: each has its address, key and secret.
	 */
	public const LIVE = 'live';
	public const TEST = 'test';

	/**
	 * A customer waits for most calls.
	 */
	private const TIMEOUT_SECONDS = 12.0;

	/**
	 * Returns the client of a mode.
	 *
	 * @param string $mode LIVE or TEST.
	 * @throws FlorinException If the settings name no proxy for it.
	 */
	public static function client( string $mode ): Florin {
		self::load_library();
		if ( ! self::is_configured( $mode ) ) {
			throw new FlorinException( 'not_configured', 'The settings have no address or no secret key.' );
		}
		return self::client_with( $mode, Settings::of_mode( $mode, 'secret_key' ) );
	}

	/**
	 * Returns a client that sees what the customer of one order sees.
	 *
	 * @param string $mode         LIVE or TEST.
	 * @param string $client_token The order's client token.
	 */
	public static function client_of_customer( string $mode, string $client_token ): Florin {
		self::load_library();
		return self::client_with( $mode, $client_token );
	}

	/**
	 * Returns `true` if the settings have what orders need.
	 *
	 * @param string $mode LIVE or TEST.
	 */
	public static function is_configured( string $mode ): bool {
		$scheme = wp_parse_url( Settings::of_mode( $mode, 'url' ), PHP_URL_SCHEME );
		return in_array( $scheme, array( 'http', 'https' ), true ) && '' !== Settings::of_mode( $mode, 'secret_key' );
	}

	/**
	 * Returns the mode whose webhook secret has signed a delivery, and its event.
	 *
	 * @param string $body    The bytes that arrived.
	 * @param array  $headers Headers of the request, by name.
	 * @return array{0: string, 1: array}
	 * @throws FlorinException If neither secret has signed it.
	 */
	public static function verify( string $body, array $headers ): array {
		self::load_library();
		$reason = 'The settings have no webhook secret.';
		foreach ( array( self::LIVE, self::TEST ) as $mode ) {
			$secret = Settings::of_mode( $mode, 'webhook_secret' );
			if ( '' === $secret ) {
				continue;
			}
			try {
				return array( $mode, Florin::verifyWebhook( $body, $headers, $secret ) );
			} catch ( FlorinException | \InvalidArgumentException | \JsonException $error ) {
				$reason = $error->getMessage();
			}
		}
		throw new FlorinException( 'invalid_webhook', esc_html( $reason ) );
	}

	/**
	 * Returns a client.
	 *
	 * @param string $mode LIVE or TEST.
	 * @param string $key  The secret key, or a client token.
	 */
	private static function client_with( string $mode, string $key ): Florin {
		return new Florin( url: Settings::of_mode( $mode, 'url' ), secretKey: $key, timeout: self::TIMEOUT_SECONDS );
	}

	/**
	 * Another plugin may have loaded the same library.
	 */
	private static function load_library(): void {
		if ( class_exists( Florin::class ) ) {
			return;
		}
		$bundled = dirname( PLUGIN_FILE ) . '/lib/florin/autoload.php';
		require_once file_exists( $bundled ) ? $bundled : dirname( PLUGIN_FILE, 3 ) . '/packages/php/autoload.php';
	}
}
