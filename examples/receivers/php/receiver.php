<?php // composer require standard-webhooks/standard-webhooks; WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:3000 receiver.php
require "vendor/autoload.php";

if ($_SERVER["REQUEST_METHOD"] === "GET") {
    readfile("shop.html");
    return;
}
$headers = array_change_key_case(getallheaders());
try {
    $webhook = new StandardWebhooks\Webhook(getenv("WEBHOOK_SECRET"));
    $event = $webhook->verify(file_get_contents("php://input"), $headers);
} catch (Exception) {
    http_response_code(400); // Not signed by the proxy, or older than five minutes.
    return;
}
// A shop keeps the ids in its database. Here each is an empty file.
$isNew = @fopen(sys_get_temp_dir() . "/florin-" . hash("sha256", $headers["webhook-id"]), "x");
if ($isNew && $event["type"] === "order.paid") error_log($event["data"]["order"]["id"] . " is paid");
http_response_code(204);
