<?php

declare(strict_types=1);

namespace Florin;

/**
 * A client of one store. It keeps no connection and no state; its secret key is in no property, so that no dump prints it.
 *
 * Calls throw `FlorinException`. They are sent again after 429 and 503, not before `Retry-After`, and after a lost connection,
 * with the same idempotency key, as long as `timeout` permits. An `$idempotencyKey` is one that you stored before the call,
 * so that you can repeat it after a crash; one is drawn if it is absent.
 *
 * @phpstan-import-type OpenOrder from Types
 * @phpstan-import-type OpenStaffLink from Types
 * @phpstan-import-type OpenedOrder from Types
 * @phpstan-import-type OrderRecord from Types
 * @phpstan-import-type OrderPage from Types
 * @phpstan-import-type Event from Types
 * @phpstan-import-type EventPage from Types
 * @phpstan-import-type Receipt from Types
 * @phpstan-import-type VerifiedReceipt from Types
 * @phpstan-import-type StaffLink from Types
 */
final class Florin
{
    private const EVENTS_PER_PAGE = 100;

    private readonly string $url;
    private readonly Secret $secretKey;

    /**
     * @param string $url the address at which this server reaches the proxy: `https://pay.shop.example`
     * @param string $secretKey the store's `secret_key`
     * @param float $timeout the seconds that a call may take with all its retries
     */
    public function __construct(
        string $url,
        #[\SensitiveParameter] string $secretKey,
        private readonly float $timeout = 30.0,
    ) {
        if (!in_array(parse_url($url, PHP_URL_SCHEME), ['http', 'https'], true)) {
            throw new \InvalidArgumentException("$url is not an address of a proxy: write https://….");
        }
        if ($secretKey === '') {
            throw new \InvalidArgumentException('The secret key is missing.');
        }
        $this->url = rtrim($url, '/');
        $this->secretKey = new Secret($secretKey);
    }

    /**
     * Opens an order. The same `reference` at the same price is the same order.
     *
     * @param OpenOrder $order
     * @return OpenedOrder
     */
    public function createOrder(array $order, ?string $idempotencyKey = null, ?float $timeout = null): array
    {
        if (isset($order['metadata'])) {
            $order['metadata'] = (object) $order['metadata'];
        }
        return $this->request('POST', '/v1/orders', [], $order, $idempotencyKey, $timeout);
    }

    /** @return OrderRecord */
    public function getOrder(string $id, ?float $timeout = null): array
    {
        return $this->request('GET', '/v1/orders/' . rawurlencode($id), timeout: $timeout);
    }

    /**
     * Returns a page of orders, newest first.
     *
     * @param array{reference?: string, status?: string, after?: string, limit?: int} $query
     * @return OrderPage
     */
    public function listOrders(array $query = [], ?float $timeout = null): array
    {
        return $this->request('GET', '/v1/orders', $query, timeout: $timeout);
    }

    /**
     * Cancels an order, while no payment was seen for it.
     *
     * @return OrderRecord
     */
    public function cancelOrder(string $id, ?string $idempotencyKey = null, ?float $timeout = null): array
    {
        $path = '/v1/orders/' . rawurlencode($id) . '/cancel';
        return $this->request('POST', $path, idempotencyKey: $idempotencyKey, timeout: $timeout);
    }

    /**
     * Signs a price, without a call to the proxy. The token lives at most a day.
     *
     * @param array{reference: string, amount: string, currency: string, title?: string, lines?: list<array<string, mixed>>,
     *   return_url?: string, cancel_url?: string} $order
     */
    public static function createOrderToken(array $order, TokenKey $key, int $expiresInSeconds = 3600): string
    {
        return Tokens::signOrder($order, $key, $expiresInSeconds);
    }

    /**
     * Returns the event of a delivery, with its `id`. The type `webhook.test` has a `store` in place of an order: do nothing.
     *
     * @param string $body the bytes of the request, before any of it was parsed: `file_get_contents('php://input')`
     * @param array<string, string|list<string>> $headers `getallheaders()`, or those of a framework
     * @param string $webhookSecret the webhook's `secret`: `whsec_…`
     * @return Event
     * @throws FlorinException with `invalid_webhook`: it is not signed by the proxy, or older than five minutes
     */
    public static function verifyWebhook(
        string $body,
        array $headers,
        #[\SensitiveParameter] string $webhookSecret,
    ): array {
        return Webhooks::read($body, $headers, $webhookSecret, time());
    }

    /**
     * Returns a page of events, in order.
     *
     * @param array{after?: string, limit?: int} $query
     * @return EventPage
     */
    public function listEvents(array $query = [], ?float $timeout = null): array
    {
        return $this->request('GET', '/v1/events', $query, timeout: $timeout);
    }

    /**
     * Returns all events after the one with the id `$after`, up to the present. Store the last `id` as the next `$after`.
     *
     * @param int $limit the size of a page
     * @return \Generator<int, Event, void, void>
     */
    public function events(
        ?string $after = null,
        int $limit = self::EVENTS_PER_PAGE,
        ?float $timeout = null,
    ): \Generator {
        do {
            $page = $this->listEvents(['after' => $after, 'limit' => $limit], $timeout)['events'];
            foreach ($page as $event) {
                yield $event;
                $after = $event['id'];
            }
        } while (count($page) === $limit);
    }

    /**
     * Asks the proxy whether a receipt, a token or a printed code, is genuine, and for its order as it stands.
     *
     * @return VerifiedReceipt
     */
    public function verifyReceipt(string $receipt, ?float $timeout = null): array
    {
        return $this->request('POST', '/v1/receipts/verify', body: ['receipt' => $receipt], timeout: $timeout);
    }

    /**
     * Returns the receipt of a token, without a call to the proxy. What happened after it was issued, like a refund, is not in it.
     *
     * @param string $webhookSecret the `secret` of the store's first webhook
     * @return Receipt
     * @throws FlorinException with `invalid_receipt`: the token is not signed by this secret
     */
    public static function verifyReceiptToken(string $token, #[\SensitiveParameter] string $webhookSecret): array
    {
        return Tokens::readReceipt($token, $webhookSecret);
    }

    /**
     * Makes a link to the store's orders for a member of the staff. Redirect the person to its `url` at once.
     *
     * @param OpenStaffLink $link
     * @return StaffLink
     */
    public function createStaffLink(array $link = [], ?string $idempotencyKey = null, ?float $timeout = null): array
    {
        return $this->request('POST', '/v1/staff_links', [], $link, $idempotencyKey, $timeout);
    }

    /**
     * Sends any other GET or POST of the proxy's HTTP interface, with the same retries. Returns the JSON of the response.
     *
     * @param array<string, string|int|null> $query
     * @param ?array<string, mixed> $body
     */
    public function request(
        string $method,
        string $path,
        array $query = [],
        ?array $body = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
    ): mixed {
        $parameters = http_build_query($query);
        $url = $this->url . $path . ($parameters === '' ? '' : "?$parameters");
        $request = new Request($method, $url, $this->secretKey->value(), $body, $idempotencyKey);
        return $request->send($timeout ?? $this->timeout);
    }
}
