"""The proxy and what is around it, as the test of this library starts them: `tests/api/libraries.rs`."""

import itertools
import json
import os
import urllib.request
from typing import Any, Dict, List

from florin_server import Florin

URL = os.environ["FLORIN_URL"]
SECRET_KEY = os.environ["FLORIN_SECRET_KEY"]
WEBHOOK_SECRET = os.environ["FLORIN_WEBHOOK_SECRET"]
TOKEN_KEY = os.environ["FLORIN_TOKEN_KEY"]
WORLD_URL = os.environ["FLORIN_WORLD_URL"]
# An address of the proxy at which requests fail.
FAULTY_URL = f"{WORLD_URL}/proxy"

florin = Florin(URL, SECRET_KEY)
_numbers = itertools.count(1)


def send(url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def pay(opened: Any, how: str) -> None:
    """The customer of an opened order pays: `exact`, `half`, or `late`."""
    send(f"{WORLD_URL}/pay", {"id": opened["order"]["id"], "client_token": opened["client_token"], "how": how})


def deliveries(order: str) -> List[Dict[str, Any]]:
    """The deliveries of an order's events: the `headers` of each and its `body`."""
    found: List[Dict[str, Any]] = send(f"{WORLD_URL}/deliveries/{order}")
    return found


def fail(*faults: str) -> None:
    """The next requests to `FAULTY_URL` fail: `lost` after the proxy has answered, `hangs`, or with a status and `Retry-After`."""
    send(f"{WORLD_URL}/faults", faults)


def requests() -> List[Dict[str, Any]]:
    """The requests that have reached `FAULTY_URL` since the last call."""
    found: List[Dict[str, Any]] = send(f"{WORLD_URL}/requests")
    return found


def lamp(**members: Any) -> Any:
    return {"amount": "42.00", "currency": "USD", "reference": f"python-{next(_numbers)}", "title": "A lamp", **members}
