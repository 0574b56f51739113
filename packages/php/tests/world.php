<?php

/** The proxy and what is around it, as the test of this library starts them: `tests/api/libraries.rs`. */

declare(strict_types=1);

require __DIR__ . '/../autoload.php';

use Florin\Florin;
use Florin\FlorinException;

define('URL', getenv('FLORIN_URL'));
define('SECRET_KEY', getenv('FLORIN_SECRET_KEY'));
define('WEBHOOK_SECRET', getenv('FLORIN_WEBHOOK_SECRET'));
define('TOKEN_KEY', getenv('FLORIN_TOKEN_KEY'));
define('WORLD_URL', getenv('FLORIN_WORLD_URL'));
/** An address of the proxy at which requests fail. */
const FAULTY_URL = WORLD_URL . '/proxy';

function send(string $url, mixed $body = null): mixed
{
    $curl = curl_init($url);
    curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true, CURLOPT_FAILONERROR => true, CURLOPT_TIMEOUT => 60]);
    if ($body !== null) {
        curl_setopt($curl, CURLOPT_HTTPHEADER, ['Content-Type: application/json']);
        curl_setopt($curl, CURLOPT_POSTFIELDS, json_encode($body));
    }
    $text = curl_exec($curl);
    is_string($text) || throw new RuntimeException("$url: " . curl_error($curl));
    return json_decode($text, true);
}

/** The customer of an opened order pays: `exact`, `half`, or `late`. */
function pay(array $opened, string $how): void
{
    send(WORLD_URL . '/pay', ['id' => $opened['order']['id'], 'client_token' => $opened['client_token'], 'how' => $how]);
}

/** The deliveries of an order's events: the `headers` of each and its `body`. */
function deliveries(string $order): array
{
    return send(WORLD_URL . "/deliveries/$order");
}

/** The next requests to `FAULTY_URL` fail: `lost` after the proxy has answered, `hangs`, or with a status and `Retry-After`. */
function fail(string ...$faults): void
{
    send(WORLD_URL . '/faults', $faults);
}

/** The requests that have reached `FAULTY_URL` since the last call. */
function requests(): array
{
    return send(WORLD_URL . '/requests');
}

function lamp(array $members = []): array
{
    static $count = 0;
    $count++;
    return $members + ['amount' => '42.00', 'currency' => 'USD', 'reference' => "php-$count", 'title' => 'A lamp'];
}

function same(mixed $expected, mixed $found, string $about = ""): void
{
    if ($expected !== $found) {
        throw new RuntimeException("expected " . var_export($expected, true) . ", found " . var_export($found, true) . " $about");
    }
}

function isTrue(bool $found): void
{
    same(true, $found);
}

/** Returns the exception of a call. */
function refused(string $code, callable $call): FlorinException
{
    try {
        $call();
    } catch (FlorinException $error) {
        same($code, $error->errorCode);
        return $error;
    }
    throw new RuntimeException("$code was expected, and nothing was thrown");
}

function invalid(callable $call): void
{
    try {
        $call();
    } catch (InvalidArgumentException | TypeError) {
        return;
    }
    throw new RuntimeException('the argument was accepted');
}

/** Runs a test. */
function test(string $name, callable $test): void
{
    global $failed;
    try {
        $test();
        echo "ok: $name\n";
    } catch (Throwable $error) {
        $failed = true;
        echo "FAILED: $name: $error\n";
    }
}

$florin = new Florin(URL, SECRET_KEY);
