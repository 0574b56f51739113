<?php

declare(strict_types=1);

use Florin\Florin;
use Florin\TokenKey;

$faulty = new Florin(FAULTY_URL, SECRET_KEY);
$closed = new Florin('http://127.0.0.1:1', SECRET_KEY, timeout: 0.1);

test('a call is repeated with its key, not before Retry-After', function () use ($faulty): void {
    fail('503 1', 'lost', '429 1', '502');
    $begun = microtime(true);
    $order = $faulty->createOrder(lamp())['order'];
    isTrue(microtime(true) - $begun >= 2);
    $sent = requests();
    same(array_fill(0, 5, $sent[0]), $sent);
    same(1, preg_match('/^[!-~]{16,}$/', $sent[0]['idempotency_key']));
    same('42.00', $faulty->getOrder($order['id'])['amount']);
});

test('each call has a key, unless the shop gives one', function () use ($faulty): void {
    requests();
    $order = $faulty->createOrder(lamp())['order'];
    $faulty->cancelOrder($order['id']);
    $faulty->createOrder(lamp(), 'cart-1');
    $keys = array_column(requests(), 'idempotency_key');
    same(3, count(array_unique($keys)));
    same('cart-1', $keys[2]);
    invalid(fn () => $faulty->createOrder(lamp(), "cart-1\r\nX-Other: 1"));
});

test('a refusal is not repeated, and a redirect is not followed', function () use ($faulty): void {
    requests();
    same('amount', refused('invalid_request', fn () => $faulty->createOrder(lamp(['amount' => 'much'])))->field);
    same(1, count(requests()));
    fail('302');
    same(302, refused('invalid_response', fn () => $faulty->listOrders())->status);
    same(1, count(requests()));
});

test('a call ends at its time-out, and before a pause that would exceed it', function () use ($faulty, $closed): void {
    fail('hangs', 'hangs', 'hangs', 'hangs');
    $begun = microtime(true);
    same(null, refused('timeout', fn () => $faulty->listOrders(timeout: 0.9))->status);
    isTrue(microtime(true) - $begun < 2);
    isTrue(count(requests()) >= 2);
    fail('503 60');
    $refused = refused('invalid_response', fn () => $faulty->listOrders());
    same([503, 60], [$refused->status, $refused->retryAfter]);
    refused('connection_failed', fn () => $closed->listOrders());
});

test('no secret is printed', function () use ($faulty, $closed): void {
    fail('503 60');
    $stranger = new Florin(URL, SECRET_KEY . 'x');
    $values = [
        $faulty,
        new TokenKey(URL, 'demo', 'k1', SECRET_KEY),
        refused('invalid_response', fn () => $faulty->listOrders()),
        refused('connection_failed', fn () => $closed->listOrders()),
        refused('unauthorized', fn () => $stranger->listOrders()),
    ];
    foreach ($values as $value) {
        ob_start();
        var_dump($value);
        $printed = ob_get_clean() . print_r($value, true) . json_encode($value);
        isTrue(!str_contains($printed, SECRET_KEY));
    }
    foreach (array_slice($values, 2) as $error) {
        isTrue(!str_contains((string) $error, SECRET_KEY));
    }
    isTrue(!str_contains(var_export($faulty, true), SECRET_KEY));
});

test('a client needs an address and a key', function (): void {
    foreach ([['pay.shop.example', 'sk'], ['file:///etc/passwd', 'sk'], [URL, '']] as [$url, $secretKey]) {
        invalid(fn () => new Florin($url, $secretKey));
    }
});

test('composer accepts the package', function (): void {
    exec('composer --version 2>&1', result_code: $missing);
    if ($missing === 0) {
        $folder = escapeshellarg(dirname(__DIR__));
        exec("COMPOSER_ALLOW_SUPERUSER=1 composer validate --strict --no-interaction --working-dir $folder 2>&1", $lines, $failed);
        same(0, $failed, implode("\n", $lines));
    }
});
