import json
import unittest
from typing import Any, List

from florin_server import FlorinError, verify_webhook
from world import WEBHOOK_SECRET, deliveries, florin, lamp, pay


def delivered(order: str) -> List[Any]:
    found = deliveries(order)
    return [verify_webhook(delivery["body"].encode(), delivery["headers"], WEBHOOK_SECRET) for delivery in found]


def events_of(how: str) -> List[Any]:
    """Opens an order that is paid so; returns its events as they were delivered."""
    opened = florin.create_order(lamp())
    pay(opened, how)
    return delivered(opened["order"]["id"])


def types(events: List[Any]) -> List[str]:
    return [event["type"] for event in events]


class Webhooks(unittest.TestCase):
    def test_a_paid_order_is_delivered_signed_and_as_the_list_of_events_has_it(self) -> None:
        events = events_of("exact")
        self.assertEqual(events[-1]["type"], "order.paid")
        order = events[-1]["data"]["order"]
        self.assertEqual(order["amount"], "42.00")
        self.assertEqual(order["attempt"]["received_in_crypto"], order["attempt"]["amount_in_crypto"])
        listed = [event for event in florin.events() if event["data"]["order"]["id"] == order["id"]]
        self.assertEqual(listed, events)

    def test_the_cursor_of_an_event_leads_to_the_next_one(self) -> None:
        for _ in range(3):
            florin.create_order(lamp())
        everything = [event["id"] for event in florin.events()]
        pages: List[str] = []
        while True:
            page = florin.list_events(after=pages[-1] if pages else None, limit=1)
            if not page["events"]:
                break
            pages.append(page["events"][0]["id"])
            self.assertEqual(page["next"], pages[-1])
        self.assertEqual(pages, everything)
        self.assertEqual([event["id"] for event in florin.events(after=everything[-4], limit=2)], everything[-3:])

    def test_an_underpaid_order_is_not_paid(self) -> None:
        events = events_of("half")
        self.assertNotIn("order.paid", types(events))
        self.assertEqual(events[-1]["type"], "order.underpaid")
        attempt = events[-1]["data"]["order"]["attempt"]
        self.assertTrue(0 < float(attempt["received_in_crypto"]) < float(attempt["amount_in_crypto"]))

    def test_a_late_payment_is_reported_before_the_order_is_paid(self) -> None:
        reported = types(events_of("late"))
        failed = reported.index("order.failed")
        self.assertEqual(reported[failed + 1], "order.late_payment")
        self.assertEqual(reported[-1], "order.paid")

    def test_an_event_that_is_delivered_twice_has_one_id(self) -> None:
        event = events_of("exact")[0]
        florin.request("POST", f"/v1/events/{event['id']}/redeliver")
        twice: List[Any] = []
        while len(twice) < 2:
            twice = [again for again in delivered(event["data"]["order"]["id"]) if again["id"] == event["id"]]
        self.assertEqual(twice, [event, event])

    def test_a_delivery_that_was_altered_is_old_or_is_signed_by_another_secret_is_refused(self) -> None:
        delivery = deliveries(florin.create_order(lamp())["order"]["id"])[0]
        headers, body = delivery["headers"], delivery["body"]
        upper = {name.title(): value for name, value in headers.items()}
        self.assertEqual(verify_webhook(body, upper, WEBHOOK_SECRET)["type"], "order.created")
        earlier = str(int(headers["webhook-timestamp"]) - 301)
        for altered, with_headers, secret in (
            (body.replace("42.00", "42.01"), headers, WEBHOOK_SECRET),
            (body, headers, "whsec_b3RoZXI="),
            (body, {**headers, "webhook-timestamp": earlier}, WEBHOOK_SECRET),
            (body, {**headers, "webhook-id": "evt_other"}, WEBHOOK_SECRET),
            (body, {**headers, "webhook-signature": "v1"}, WEBHOOK_SECRET),
            (body, {}, WEBHOOK_SECRET),
        ):
            with self.assertRaises(FlorinError) as caught:
                verify_webhook(altered.encode(), with_headers, secret)
            self.assertEqual(caught.exception.code, "invalid_webhook")
        with self.assertRaises(TypeError):
            verify_webhook(json.loads(body), headers, WEBHOOK_SECRET)
