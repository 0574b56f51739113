<?php

declare(strict_types=1);

namespace Florin;

/**
 * A request to the proxy, with a time-out and retries.
 *
 * @internal
 */
final class Request
{
    /** A request that gets no response is sent again: one of them takes at most this part of the time-out. */
    private const TRIES_WITHIN_TIMEOUT = 3;
    private const FIRST_PAUSE = 0.25;
    private const LONGEST_PAUSE = 4.0;

    /** @var list<string> */
    private array $headers;
    private string $body;
    private string $origin;

    /** @param ?array<string, mixed> $body */
    public function __construct(
        private readonly string $method,
        private readonly string $url,
        #[\SensitiveParameter] string $secretKey,
        ?array $body,
        ?string $idempotencyKey,
    ) {
        $this->origin = implode('://', [parse_url($url, PHP_URL_SCHEME), parse_url($url, PHP_URL_HOST)]);
        $this->headers = ['Accept: application/json', "Authorization: Bearer $secretKey", 'Expect:'];
        // Without a body there is no type; curl would name that of a form.
        $this->headers[] = $body === null ? 'Content-Type:' : 'Content-Type: application/json';
        if ($method === 'POST') {
            $key = $idempotencyKey ?? bin2hex(random_bytes(16));
            if (!preg_match('/^[!-~]{1,255}\z/', $key)) {
                throw new \InvalidArgumentException('An idempotency key has 1 to 255 visible ASCII characters.');
            }
            $this->headers[] = "Idempotency-Key: $key";
        }
        // Each try sends the same bytes: the proxy compares them.
        $this->body = $body === null ? '' : json_encode((object) $body, JSON_THROW_ON_ERROR);
    }

    /**
     * Sends it, and sends it again after a transient failure, with the same idempotency key, while there is time.
     *
     * @return mixed the JSON of the response; `null` if it has no body
     */
    public function send(float $timeout): mixed
    {
        $deadline = self::seconds() + $timeout;
        for ($failures = 0;; $failures++) {
            $left = $deadline - self::seconds();
            try {
                return $this->sendOnce(min($left, $timeout / self::TRIES_WITHIN_TIMEOUT));
            } catch (FlorinException $error) {
                $pause = self::pauseAfter($error, $failures);
                if ($pause === null || self::seconds() + $pause >= $deadline) {
                    throw $error;
                }
                usleep((int) ($pause * 1_000_000));
            }
        }
    }

    private function sendOnce(float $timeout): mixed
    {
        $retryAfter = null;
        $curl = curl_init($this->url);
        curl_setopt_array($curl, [
            CURLOPT_CUSTOMREQUEST => $this->method,
            CURLOPT_HTTPHEADER => $this->headers,
            // It follows no redirect: the secret key is sent to the proxy alone.
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_NOSIGNAL => true,
            CURLOPT_TIMEOUT_MS => max(1, (int) ($timeout * 1000)),
            CURLOPT_HEADERFUNCTION => static function ($curl, string $line) use (&$retryAfter): int {
                if (preg_match('/^retry-after: *(\d{1,9})\s*$/i', $line, $found)) {
                    $retryAfter = (int) $found[1];
                }
                return strlen($line);
            },
        ]);
        if ($this->method === 'POST') {
            curl_setopt($curl, CURLOPT_POSTFIELDS, $this->body);
        }
        $text = curl_exec($curl);
        if (curl_errno($curl) === CURLE_OPERATION_TIMEOUTED) {
            throw new FlorinException('timeout', "$this->origin has not answered in time.");
        }
        if (!is_string($text)) {
            throw new FlorinException('connection_failed', "$this->origin cannot be reached: " . curl_error($curl) . '.');
        }
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        $isSuccess = $status >= 200 && $status < 300;
        if ($isSuccess && $text === '') {
            return null;
        }
        $answer = json_decode($text, true, flags: JSON_BIGINT_AS_STRING);
        if ($isSuccess && $answer !== null) {
            return $answer;
        }
        throw self::refusal($status, $retryAfter, $answer);
    }

    /** The error of a response: the proxy's own, or that of a server in front of it, which has another form. */
    private static function refusal(int $status, ?int $retryAfter, mixed $answer): FlorinException
    {
        $error = is_array($answer) ? ($answer['error'] ?? null) : null;
        if (!is_string($error['code'] ?? null)) {
            $message = "The response with status $status is not the proxy's.";
            return new FlorinException('invalid_response', $message, status: $status, retryAfter: $retryAfter);
        }
        return new FlorinException(
            $error['code'],
            $error['message'] ?? '',
            $error['field'] ?? null,
            $error['request_id'] ?? null,
            $status,
            $retryAfter,
        );
    }

    /** The seconds to wait before the next try; `null` if another try would fail likewise. */
    private static function pauseAfter(FlorinException $error, int $failures): ?float
    {
        $isFromProxy = $error->errorCode !== 'invalid_response';
        $isTransient = $error->status === null
            || in_array($error->status, [429, 503], true)
            || $error->retryAfter !== null
            || (!$isFromProxy && in_array($error->status, [502, 504], true));
        if (!$isTransient) {
            return null;
        }
        $pause = min(self::FIRST_PAUSE * 2 ** $failures, self::LONGEST_PAUSE);
        // Requests that failed together are not sent again together.
        return max($pause * random_int(500, 1000) / 1000, (float) ($error->retryAfter ?? 0));
    }

    private static function seconds(): float
    {
        return hrtime(true) / 1e9;
    }
}
