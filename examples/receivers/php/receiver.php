<?php // composer config repositories.florin path "$FLORIN/packages/php" && composer require florin/server:@dev
// WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:3000 receiver.php
require "vendor/autoload.php";

if ($_SERVER["REQUEST_METHOD"] === "GET") {
    readfile("shop.html");
    return;
}
try {
    $event = Florin\Florin::verifyWebhook(file_get_contents("php://input"), getallheaders(), getenv("WEBHOOK_SECRET"));
} catch (Florin\FlorinException) {
    http_response_code(400); // Not signed by the proxy, or older than five minutes.
    return;
}
// A shop keeps the ids in its database. Here each is an empty file.
$isNew = @fopen(sys_get_temp_dir() . "/florin-" . hash("sha256", $event["id"]), "x");
if ($isNew && $event["type"] === "order.paid") error_log($event["data"]["order"]["id"] . " is paid");
http_response_code(204);
