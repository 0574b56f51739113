import base64
import hashlib
import hmac
import json
import unittest
import urllib.request
from typing import Any, Dict

from florin_server import Florin, FlorinError, TokenKey, create_order_token, verify_receipt_token
from world import SECRET_KEY, TOKEN_KEY, URL, WEBHOOK_SECRET, florin, lamp, pay, send

KEY = TokenKey(f"{URL}/", "demo", "k1", TOKEN_KEY)


def part(value: Dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


class Orders(unittest.TestCase):
    def refused(self, code: str, call: Any, *arguments: Any, **named: Any) -> FlorinError:
        with self.assertRaises(FlorinError) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def test_an_order_is_opened_read_listed_and_cancelled_and_its_amount_stays_a_text(self) -> None:
        wanted = lamp(metadata={"seats": ["A1"]})
        opened = florin.create_order(wanted)
        order, token = opened["order"], opened["client_token"]
        self.assertEqual((order["amount"], order["status"], order["metadata"]), ("42.00", "open", {"seats": ["A1"]}))
        self.assertEqual(opened["checkout_url"], f"{URL}/pay?store=demo#client_token={token}")
        self.assertEqual(florin.create_order(wanted)["order"]["id"], order["id"])
        self.assertEqual(Florin(f"{URL}/", SECRET_KEY).get_order(order["id"]), order)
        self.assertEqual(florin.list_orders(reference=wanted["reference"])["orders"], [order])
        self.assertEqual(florin.cancel_order(order["id"])["status"], "cancelled")

    def test_orders_are_listed_in_pages(self) -> None:
        opened = [florin.create_order(lamp())["order"]["id"] for _ in range(2)]
        first = florin.list_orders(limit=1)
        second = florin.list_orders(limit=1, after=first["next"])
        self.assertEqual([second["orders"][0]["id"], first["orders"][0]["id"]], opened)

    def test_a_refusal_has_a_code_the_field_and_the_id_of_the_request(self) -> None:
        unknown = self.refused("not_found", florin.get_order, "ord_" + "0" * 32)
        self.assertEqual((unknown.status, unknown.field), (404, None))
        wrong = self.refused("invalid_request", florin.create_order, lamp(amount=42.5))
        self.assertEqual((wrong.status, wrong.field), (400, "amount"))
        self.assertRegex(str(wrong.request_id), "^req_")
        self.assertTrue(str(wrong))
        id = florin.create_order(lamp())["order"]["id"]
        self.refused("not_found", florin.get_order, f"{id}/receipt")
        stranger = Florin(URL, "another-secret-key")
        self.assertEqual(self.refused("unauthorized", stranger.list_orders).status, 401)

    def test_an_order_token_opens_the_order_that_it_names(self) -> None:
        claims = lamp(title="Zoë’s lamp", exp=0)
        token = create_order_token(claims, KEY, expires_in_seconds=60)
        order = send(f"{URL}/v1/checkout", {"order_token": token})["order"]
        self.assertEqual((order["amount"], order["title"]), ("42.00", "Zoë’s lamp"))
        self.assertEqual(florin.get_order(order["id"])["reference"], claims["reference"])
        with self.assertRaises(TypeError):
            create_order_token({**claims, "amount": 42}, KEY)
        for seconds in (0, 86_401):
            with self.assertRaises(ValueError):
                create_order_token(claims, KEY, expires_in_seconds=seconds)
        self.assertNotIn(TOKEN_KEY, repr(KEY))

    def test_a_receipt_is_verified_by_the_proxy_and_without_it(self) -> None:
        opened = florin.create_order(lamp())
        id = opened["order"]["id"]
        self.refused("not_paid", florin.request, "GET", f"/v1/orders/{id}/receipt")
        pay(opened, "exact")
        signed = florin.request("GET", f"/v1/orders/{id}/receipt")
        token, receipt = signed["token"], signed["receipt"]
        for presented in (token, signed["code"]):
            verified = florin.verify_receipt(presented)
            self.assertTrue(verified["valid"])
            self.assertEqual((verified["order"]["id"], verified["order"]["status"]), (id, "paid"))
        self.assertEqual(florin.verify_receipt("a forged one"), {"valid": False})
        self.assertEqual(verify_receipt_token(token, WEBHOOK_SECRET), receipt)
        header, payload, signature = token.split(".")
        altered = part({**receipt, "amount": "1.00"})
        of_order = create_order_token(lamp(), KEY)
        for forged in ("", "..", header, f"{header}.{altered}.{signature}", f"{token}.", f"{header}.{payload}.", of_order):
            self.refused("invalid_receipt", verify_receipt_token, forged, WEBHOOK_SECRET)
        self.refused("invalid_receipt", verify_receipt_token, token, "whsec_b3RoZXI=")
        with self.assertRaises(ValueError):
            verify_receipt_token(token, "whsec_")

    def test_a_token_that_the_same_key_signed_for_something_else_is_no_receipt(self) -> None:
        secret = base64.b64decode(WEBHOOK_SECRET[len("whsec_") :])
        key = hmac.digest(secret, b"florin-receipt-v1", "sha256")
        for header in ({"alg": "HS256", "typ": "JWT"}, {"alg": "none", "typ": "florin-receipt+jwt"}):
            signed = f"{part(header)}.{part({'order_id': 'ord_1'})}"
            signature = base64.urlsafe_b64encode(hmac.new(key, signed.encode(), hashlib.sha256).digest())
            token = f"{signed}.{signature.rstrip(b'=').decode()}"
            self.refused("invalid_receipt", verify_receipt_token, token, WEBHOOK_SECRET)

    def test_a_link_opens_the_pages_for_the_staff(self) -> None:
        url = florin.create_staff_link(person="Zoë", role="write")["url"]
        self.assertTrue(url.startswith(f"{URL}/staff/open/"), url)
        with urllib.request.urlopen(url, timeout=60) as response:
            self.assertEqual(response.status, 200)
        self.assertNotEqual(florin.create_staff_link()["url"], url)
