<?php

declare(strict_types=1);

use Florin\Florin;
use Florin\Webhooks;

function delivered(string $order): array
{
    $read = fn (array $delivery) => Florin::verifyWebhook($delivery['body'], $delivery['headers'], WEBHOOK_SECRET);
    return array_map($read, deliveries($order));
}

/** Opens an order that is paid so; returns its events as they were delivered. */
$eventsOf = function (string $how) use ($florin): array {
    $opened = $florin->createOrder(lamp());
    pay($opened, $how);
    return delivered($opened['order']['id']);
};

test('a paid order is delivered, signed, and as the list of events has it', function () use ($florin, $eventsOf): void {
    $events = $eventsOf('exact');
    $paid = end($events);
    $order = $paid['data']['order'];
    same(['order.paid', '42.00'], [$paid['type'], $order['amount']]);
    same($order['attempt']['amount_in_crypto'], $order['attempt']['received_in_crypto']);
    $listed = [];
    foreach ($florin->events() as $event) {
        if ($event['data']['order']['id'] === $order['id']) {
            $listed[] = $event;
        }
    }
    same($events, $listed);
});

test('the cursor of an event leads to the next one', function () use ($florin): void {
    $florin->createOrder(lamp());
    $all = array_column(iterator_to_array($florin->events(), false), 'id');
    $pages = [];
    while (($page = $florin->listEvents(['after' => end($pages) ?: null, 'limit' => 1]))['events'] !== []) {
        $pages[] = $page['events'][0]['id'];
        same(end($pages), $page['next']);
    }
    same($all, $pages);
    $rest = array_column(iterator_to_array($florin->events($all[count($all) - 4], limit: 2), false), 'id');
    same(array_slice($all, -3), $rest);
});

test('an underpaid order is not paid', function () use ($eventsOf): void {
    $events = $eventsOf('half');
    isTrue(!in_array('order.paid', array_column($events, 'type'), true));
    $underpaid = end($events);
    same('order.underpaid', $underpaid['type']);
    $attempt = $underpaid['data']['order']['attempt'];
    isTrue(0 < (float) $attempt['received_in_crypto']);
    isTrue((float) $attempt['received_in_crypto'] < (float) $attempt['amount_in_crypto']);
});

test('a late payment is reported before the order is paid', function () use ($eventsOf): void {
    $reported = array_column($eventsOf('late'), 'type');
    $failed = array_search('order.failed', $reported, true);
    same('order.late_payment', $reported[$failed + 1]);
    same('order.paid', end($reported));
});

test('an event that is delivered twice has one id', function () use ($florin, $eventsOf): void {
    $event = $eventsOf('exact')[0];
    $florin->request('POST', "/v1/events/{$event['id']}/redeliver");
    do {
        $all = delivered($event['data']['order']['id']);
        $twice = array_filter($all, fn (array $again) => $again['id'] === $event['id']);
    } while (count($twice) < 2);
    same([$event, $event], array_values($twice));
});

test('a delivery that was altered, is old, or is signed by another secret is refused', function () use ($florin): void {
    ['headers' => $headers, 'body' => $body] = deliveries($florin->createOrder(lamp())['order']['id'])[0];
    $upper = array_combine(array_map(strtoupper(...), array_keys($headers)), array_map(fn ($value) => [$value], $headers));
    same('order.created', Florin::verifyWebhook($body, $upper, WEBHOOK_SECRET)['type']);
    $ofWordPress = array_combine(array_map(fn ($name) => strtr($name, '-', '_'), array_keys($headers)), $headers);
    same('order.created', Florin::verifyWebhook($body, $ofWordPress, WEBHOOK_SECRET)['type']);
    $refused = fn (string $body, array $headers, string $secret = WEBHOOK_SECRET)
        => refused('invalid_webhook', fn () => Florin::verifyWebhook($body, $headers, $secret));
    $refused(str_replace('42.00', '42.01', $body), $headers);
    $refused($body, $headers, 'whsec_b3RoZXI=');
    $refused($body, ['webhook-timestamp' => (string) ($headers['webhook-timestamp'] - 301)] + $headers);
    $refused($body, ['webhook-id' => 'evt_other'] + $headers);
    $refused($body, ['webhook-signature' => 'v1'] + $headers);
    $refused($body, []);
    invalid(fn () => Florin::verifyWebhook($body, $headers, 'whsec_'));
});

// Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/libraries/python/tests/test_webhooks.py
test('a delivery that Standard Webhooks signs is accepted for five minutes', function (): void {
    $secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    $headers = [
        'webhook-id' => 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp' => '1614265330',
        'webhook-signature' => 'v1,b3RoZXI= v1a,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    ];
    $read = fn (int $now) => Webhooks::read('{"test": 2432232314}', $headers, $secret, $now);
    foreach ([-300, 0, 300] as $age) {
        same(2432232314, $read(1614265330 + $age)['test']);
    }
    refused('invalid_webhook', fn () => $read(1614265330 - 301));
    refused('invalid_webhook', fn () => $read(1614265330 + 301));
});
