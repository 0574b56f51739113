<?php

/** All tests. They share a world. */

declare(strict_types=1);

$failed = false;
require __DIR__ . '/world.php';
require __DIR__ . '/orders.php';
require __DIR__ . '/webhooks.php';
require __DIR__ . '/requests.php';
exit($failed ? 1 : 0);
