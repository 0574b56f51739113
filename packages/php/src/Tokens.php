<?php

declare(strict_types=1);

namespace Florin;

/**
 * Order tokens and receipts: JSON Web Tokens, signed with HS256.
 *
 * @internal
 */
final class Tokens
{
    private const LONGEST_LIFE_SECONDS = 24 * 3600;
    private const RECEIPT_TYPE = 'florin-receipt+jwt';
    private const RECEIPT_KEY = 'florin-receipt-v1';

    /** @param array<string, mixed> $order */
    public static function signOrder(array $order, TokenKey $key, int $expiresInSeconds): string
    {
        if (!is_string($order['amount'] ?? null)) {
            throw new \InvalidArgumentException('amount is a string, like "19.90": a number may have been rounded.');
        }
        if ($expiresInSeconds < 1 || $expiresInSeconds > self::LONGEST_LIFE_SECONDS) {
            throw new \InvalidArgumentException('An order token lives 1 second to 24 hours.');
        }
        $now = time();
        $audience = rtrim($key->publicUrl, '/');
        $own = ['aud' => $audience, 'store' => $key->store, 'iat' => $now, 'exp' => $now + $expiresInSeconds];
        $signed = self::part(['alg' => 'HS256', 'kid' => $key->kid]) . '.' . self::part($own + $order);
        return $signed . '.' . self::signature($key->secret(), $signed);
    }

    /**
     * Returns the receipt of a token that the store's webhook secret signed.
     *
     * @return array<string, mixed>
     */
    public static function readReceipt(string $token, #[\SensitiveParameter] string $webhookSecret): array
    {
        $key = hash_hmac('sha256', self::RECEIPT_KEY, Webhooks::key($webhookSecret), true);
        [$header, $payload, $signature] = explode('.', trim($token), 3) + ['', '', ''];
        $isSigned = hash_equals(self::signature($key, "$header.$payload"), $signature);
        // The type is compared after the signature: text that is not signed is never parsed.
        if (!$isSigned || !self::isReceipt(self::decoded($header))) {
            throw new FlorinException('invalid_receipt', 'The receipt is not one of this store.');
        }
        return self::decoded($payload);
    }

    /** @param array<string, mixed> $header */
    private static function isReceipt(array $header): bool
    {
        return ($header['alg'] ?? null) === 'HS256' && ($header['typ'] ?? null) === self::RECEIPT_TYPE;
    }

    private static function signature(#[\SensitiveParameter] string $key, string $signed): string
    {
        return self::base64url(hash_hmac('sha256', $signed, $key, true));
    }

    /** @param array<string, mixed> $value */
    private static function part(array $value): string
    {
        return self::base64url(json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE));
    }

    private static function base64url(string $bytes): string
    {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    }

    /** @return array<string, mixed> */
    private static function decoded(string $part): array
    {
        return json_decode(base64_decode(strtr($part, '-_', '+/')), true, flags: JSON_THROW_ON_ERROR);
    }
}
