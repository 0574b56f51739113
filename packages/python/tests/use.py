"""Uses of the library that have the right types, and wrong ones that do not. It is checked, not run."""

from typing import Optional

from florin_server import Florin, FlorinError, TokenKey, create_order_token, verify_receipt_token, verify_webhook
from florin_server.types import Event, OpenOrder, OrderRecord

florin = Florin("https://pay.shop.example", "sk", timeout=5)
price: OpenOrder = {"amount": "42.00", "currency": "USD", "reference": "cart-1"}
key = TokenKey("https://pay.shop.example", "demo", "k1", "tk")


def sell() -> str:
    opened = florin.create_order({**price, "lines": [{"title": "A lamp", "amount": "42.00"}]}, idempotency_key="k")
    order: OrderRecord = florin.get_order(opened["order"]["id"])
    page = florin.list_orders(status="paid", limit=5)
    for event in florin.events(after=page["next"]):
        print(event["id"], event["data"]["order"]["amount"])
    link = florin.create_staff_link(person="Zoë", role="write")
    print(florin.verify_receipt("…")["valid"], link["url"], create_order_token(price, key))
    print(verify_receipt_token("…", "whsec_")["paid_at"])
    amount: str = order["amount"]
    return opened["checkout_url"] + amount


def receive(body: bytes) -> Optional[Event]:
    try:
        return verify_webhook(body, {"webhook-id": "evt_1"}, "whsec_")
    except FlorinError as error:
        print(error.code, error.field, error.request_id)
        return None


def wrong() -> None:
    florin.create_order({"amount": 42, "currency": "USD", "reference": "cart-1"})  # type: ignore[typeddict-item]
    florin.create_order({"amount": "42.00", "currency": "USD"})  # type: ignore[typeddict-item]
    florin.create_order({**price, "colour": "red"})  # type: ignore[typeddict-unknown-key]
    verify_webhook({"type": "order.paid"}, {}, "whsec_")  # type: ignore[arg-type]
    create_order_token(price, "tk")  # type: ignore[arg-type]
