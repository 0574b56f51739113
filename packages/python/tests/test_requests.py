import socket
import threading
import time
import traceback
import unittest
from typing import Any

from florin_server import Florin, FlorinError
from world import FAULTY_URL, SECRET_KEY, URL, fail, lamp, requests

florin = Florin(FAULTY_URL, SECRET_KEY)
closed = Florin("http://127.0.0.1:1", SECRET_KEY, timeout=0.1)


class Requests(unittest.TestCase):
    def refused(self, code: str, call: Any, *arguments: Any, **named: Any) -> FlorinError:
        with self.assertRaises(FlorinError) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def test_a_call_is_repeated_with_its_key_not_before_retry_after(self) -> None:
        fail("503 1", "lost", "429 1", "502")
        begun = time.monotonic()
        order = florin.create_order(lamp())["order"]
        self.assertGreaterEqual(time.monotonic() - begun, 2)
        sent = requests()
        self.assertEqual(sent, [sent[0]] * 5)
        self.assertRegex(sent[0]["idempotency_key"], "^[!-~]{16,}$")
        self.assertEqual(florin.get_order(order["id"])["amount"], "42.00")

    def test_each_call_has_a_key_unless_the_shop_gives_one(self) -> None:
        requests()
        order = florin.create_order(lamp())["order"]
        florin.cancel_order(order["id"])
        florin.create_order(lamp(), idempotency_key="cart-1")
        keys = [request["idempotency_key"] for request in requests()]
        self.assertEqual(len(set(keys)), 3)
        self.assertEqual(keys[2], "cart-1")

    def test_a_refusal_is_not_repeated_and_a_redirect_is_not_followed(self) -> None:
        requests()
        self.assertEqual(self.refused("invalid_request", florin.create_order, lamp(amount="much")).field, "amount")
        self.assertEqual(len(requests()), 1)
        fail("302")
        self.assertEqual(self.refused("invalid_response", florin.list_orders).status, 302)
        self.assertEqual(len(requests()), 1)

    def test_a_call_ends_at_its_time_out_and_before_a_pause_that_would_exceed_it(self) -> None:
        fail("hangs", "hangs", "hangs", "hangs")
        begun = time.monotonic()
        self.assertIsNone(self.refused("timeout", florin.list_orders, timeout=0.9).status)
        self.assertLess(time.monotonic() - begun, 2)
        self.assertGreaterEqual(len(requests()), 2, "a hanging request is repeated")
        fail("503 60")
        refused = self.refused("invalid_response", florin.list_orders)
        self.assertEqual((refused.status, refused.retry_after), (503, 60))
        self.refused("connection_failed", closed.list_orders)

    def test_half_a_response_is_none(self) -> None:
        def answer(server: socket.socket) -> None:
            while True:
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{}")

        server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=answer, args=[server], daemon=True).start()
        half = Florin(f"http://127.0.0.1:{server.getsockname()[1]}", "sk", timeout=2)
        self.refused("connection_failed", half.list_orders)

    def test_no_secret_is_printed(self) -> None:
        fail("503 60")
        stranger = Florin(URL, f"{SECRET_KEY}x")
        errors = [
            self.refused("invalid_response", florin.list_orders),
            self.refused("connection_failed", closed.list_orders),
            self.refused("unauthorized", stranger.list_orders),
        ]
        for error in errors:
            printed = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            self.assertNotIn(SECRET_KEY, printed + repr(error) + repr(vars(error)))
        self.assertNotIn(SECRET_KEY, repr(florin))

    def test_a_client_needs_an_address_and_a_key(self) -> None:
        for url, key in (("pay.shop.example", "sk"), ("file:///etc/passwd", "sk"), (URL, "")):
            with self.assertRaises(ValueError):
                Florin(url, key)
