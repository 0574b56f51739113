<?php

declare(strict_types=1);

namespace Florin;

/**
 * Deliveries of events, signed as Standard Webhooks 1.0.0 says.
 *
 * Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 *
 * @internal
 */
final class Webhooks
{
    private const TOLERANCE_SECONDS = 300;

    /**
     * Returns the event of a delivery, with its id, as `listEvents` returns it.
     *
     * @param array<string, string|list<string>> $headers
     * @return array<string, mixed>
     */
    public static function read(
        string $body,
        array $headers,
        #[\SensitiveParameter] string $secret,
        int $now,
    ): array {
        $plain = [];
        foreach ($headers as $name => $value) {
            // WordPress writes webhook_id.
            $plain[strtr(strtolower((string) $name), '_', '-')] = is_array($value) ? implode(' ', $value) : $value;
        }
        $id = $plain['webhook-id'] ?? '';
        $timestamp = $plain['webhook-timestamp'] ?? '';
        if ($id === '' || !preg_match('/^\d{1,12}$/', $timestamp)) {
            throw self::refused('it has no id or no time');
        }
        if (abs($now - (int) $timestamp) > self::TOLERANCE_SECONDS) {
            throw self::refused('its time is not within five minutes of this machine’s');
        }
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", self::key($secret), true));
        // While a secret is replaced there are two signatures.
        foreach (explode(' ', $plain['webhook-signature'] ?? '') as $signature) {
            if (hash_equals($expected, $signature)) {
                $event = json_decode($body, true, flags: JSON_THROW_ON_ERROR | JSON_BIGINT_AS_STRING);
                return ['id' => $id] + $event;
            }
        }
        throw self::refused('no signature is that of the secret');
    }

    /** The bytes of a `whsec_…`. */
    public static function key(#[\SensitiveParameter] string $secret): string
    {
        $text = str_starts_with($secret, 'whsec_') ? substr($secret, strlen('whsec_')) : $secret;
        $key = base64_decode($text, true);
        if ($key === false || $key === '') {
            throw new \InvalidArgumentException('The webhook secret is not whsec_ and base64.');
        }
        return $key;
    }

    private static function refused(string $reason): FlorinException
    {
        return new FlorinException('invalid_webhook', "The delivery is refused: $reason.");
    }
}
