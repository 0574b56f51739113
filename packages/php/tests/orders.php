<?php

declare(strict_types=1);

use Florin\Florin;
use Florin\TokenKey;

$key = new TokenKey(URL . '/', 'demo', 'k1', TOKEN_KEY);

function base64url(string $bytes): string
{
    return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
}

test('an order is opened, read, listed and cancelled, and its amount stays a text', function () use ($florin): void {
    $wanted = lamp(['metadata' => ['seats' => ['A1']]]);
    $opened = $florin->createOrder($wanted);
    $order = $opened['order'];
    same(['42.00', 'open', ['seats' => ['A1']]], [$order['amount'], $order['status'], $order['metadata']]);
    same(URL . '/pay?store=demo#client_token=' . $opened['client_token'], $opened['checkout_url']);
    same($order['id'], $florin->createOrder($wanted)['order']['id']);
    same($order, (new Florin(URL . '/', SECRET_KEY))->getOrder($order['id']));
    same([$order], $florin->listOrders(['reference' => $wanted['reference'], 'status' => null])['orders']);
    same('cancelled', $florin->cancelOrder($order['id'])['status']);
    same([], $florin->createOrder(lamp(['metadata' => []]))['order']['metadata']);
});

test('orders are listed in pages', function () use ($florin): void {
    $opened = [$florin->createOrder(lamp())['order']['id'], $florin->createOrder(lamp())['order']['id']];
    $first = $florin->listOrders(['limit' => 1]);
    $second = $florin->listOrders(['limit' => 1, 'after' => $first['next']]);
    same($opened, [$second['orders'][0]['id'], $first['orders'][0]['id']]);
});

test('a refusal has a code, the field and the id of the request', function () use ($florin): void {
    $unknown = refused('not_found', fn () => $florin->getOrder('ord_' . str_repeat('0', 32)));
    same([404, null], [$unknown->status, $unknown->field]);
    $wrong = refused('invalid_request', fn () => $florin->createOrder(lamp(['amount' => 42.5])));
    same([400, 'amount'], [$wrong->status, $wrong->field]);
    isTrue(str_starts_with($wrong->requestId, 'req_') && $wrong->getMessage() !== '');
    $id = $florin->createOrder(lamp())['order']['id'];
    refused('not_found', fn () => $florin->getOrder("$id/receipt"));
    $stranger = new Florin(URL, 'another-secret-key');
    same(401, refused('unauthorized', fn () => $stranger->listOrders())->status);
});

test('an order token opens the order that it names', function () use ($florin, $key): void {
    $claims = lamp(['title' => 'Zoë’s lamp', 'exp' => 0]);
    $order = send(URL . '/v1/checkout', ['order_token' => Florin::createOrderToken($claims, $key, 60)])['order'];
    same(['42.00', 'Zoë’s lamp'], [$order['amount'], $order['title']]);
    same($claims['reference'], $florin->getOrder($order['id'])['reference']);
    invalid(fn () => Florin::createOrderToken(['amount' => 42] + $claims, $key));
    invalid(fn () => Florin::createOrderToken($claims, $key, 0));
    invalid(fn () => Florin::createOrderToken($claims, $key, 86_401));
});

test('a receipt is verified by the proxy and without it', function () use ($florin, $key): void {
    $opened = $florin->createOrder(lamp());
    $id = $opened['order']['id'];
    refused('not_paid', fn () => $florin->request('GET', "/v1/orders/$id/receipt"));
    pay($opened, 'exact');
    ['token' => $token, 'code' => $code, 'receipt' => $receipt] = $florin->request('GET', "/v1/orders/$id/receipt");
    foreach ([$token, $code] as $presented) {
        $verified = $florin->verifyReceipt($presented);
        same([true, $id, 'paid'], [$verified['valid'], $verified['order']['id'], $verified['order']['status']]);
    }
    same(['valid' => false], $florin->verifyReceipt('a forged one'));
    same($receipt, Florin::verifyReceiptToken($token, WEBHOOK_SECRET));
    [$header, $payload, $signature] = explode('.', $token);
    $altered = base64url(json_encode(['amount' => '1.00'] + $receipt));
    $ofOrder = Florin::createOrderToken(lamp(), $key);
    foreach (['', '..', $header, "$header.$altered.$signature", "$token.", "$header.$payload.", $ofOrder] as $forged) {
        refused('invalid_receipt', fn () => Florin::verifyReceiptToken($forged, WEBHOOK_SECRET));
    }
    refused('invalid_receipt', fn () => Florin::verifyReceiptToken($token, 'whsec_b3RoZXI='));
    invalid(fn () => Florin::verifyReceiptToken($token, 'whsec_'));
});

test('a token that the same key signed for something else is no receipt', function (): void {
    $secret = base64_decode(substr(WEBHOOK_SECRET, strlen('whsec_')));
    $key = hash_hmac('sha256', 'florin-receipt-v1', $secret, true);
    foreach ([['alg' => 'HS256', 'typ' => 'JWT'], ['alg' => 'none', 'typ' => 'florin-receipt+jwt']] as $header) {
        $signed = base64url(json_encode($header)) . '.' . base64url('{"order_id": "ord_1"}');
        $token = $signed . '.' . base64url(hash_hmac('sha256', $signed, $key, true));
        refused('invalid_receipt', fn () => Florin::verifyReceiptToken($token, WEBHOOK_SECRET));
    }
});

test('a link opens the pages for the staff', function () use ($florin): void {
    $url = $florin->createStaffLink(['person' => 'Zoë', 'role' => 'write'])['url'];
    isTrue(str_starts_with($url, URL . '/staff/open/'));
    send($url);
    isTrue($florin->createStaffLink()['url'] !== $url);
});
