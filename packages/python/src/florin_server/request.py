"""Requests to the proxy, with a time-out and retries."""

from __future__ import annotations

import json
import random
import socket
import time
import uuid
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Mapping, Optional
from urllib.parse import urlencode, urlsplit

from .error import FlorinError

# A request that gets no response is sent again: one of them takes at most this part of the time-out.
TRIES_WITHIN_TIMEOUT = 3
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 4.0
LARGEST_READ = 65536


def send(
    base: str,
    secret_key: str,
    method: str,
    path: str,
    *,
    query: Mapping[str, object],
    body: Any,
    idempotency_key: Optional[str],
    timeout: float,
) -> Any:
    """Sends a request, and sends it again after a transient failure, with the same idempotency key, while there is time.

    Returns the JSON of the response; `None` if it has no body.
    """
    deadline = time.monotonic() + timeout
    # Each try has a connection, whose end is the end of the response.
    headers = {"accept": "application/json", "authorization": f"Bearer {secret_key}", "connection": "close"}
    if body is not None:
        headers["content-type"] = "application/json"
    if method == "POST":
        headers["idempotency-key"] = idempotency_key or str(uuid.uuid4())
    parameters = urlencode({name: value for name, value in query.items() if value is not None})
    url = f"{base}{path}?{parameters}" if parameters else f"{base}{path}"
    # Each try sends the same bytes: the proxy compares them.
    data = None if body is None else json.dumps(body, allow_nan=False).encode()
    failures = 0
    while True:
        left = deadline - time.monotonic()
        try:
            return _send_once(url, method, headers, data, min(left, timeout / TRIES_WITHIN_TIMEOUT))
        except FlorinError as error:
            pause = _pause_after(error, failures)
            if pause is None or time.monotonic() + pause >= deadline:
                raise
        time.sleep(pause)
        failures += 1


def _send_once(url: str, method: str, headers: Mapping[str, str], data: Optional[bytes], timeout: float) -> Any:
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    deadline = time.monotonic() + timeout
    secure = parts.scheme == "https"
    # It follows no redirect: the secret key is sent to the proxy alone.
    connection = (HTTPSConnection if secure else HTTPConnection)(parts.netloc, timeout=timeout)
    try:
        connection.request(method, url[len(origin) :], data, dict(headers))
        response = connection.getresponse()
        text = b""
        while chunk := response.read1(LARGEST_READ):
            text += chunk
            if time.monotonic() > deadline:
                raise TimeoutError
        if len(text) < int(response.getheader("content-length", "0")):
            raise ConnectionError("the response is incomplete")
        status, retry_after = response.status, response.getheader("retry-after", "")
    except (socket.timeout, TimeoutError) as cause:  # They are one from Python 3.10 on.
        raise FlorinError("timeout", f"{origin} has not answered in time.") from cause
    except (OSError, HTTPException) as cause:
        raise FlorinError("connection_failed", f"{origin} cannot be reached.") from cause
    finally:
        connection.close()
    is_success = 200 <= status < 300
    if is_success and not text:
        return None
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    if is_success and answer is not None:
        return answer
    raise _refusal(status, int(retry_after) if retry_after.isdecimal() else None, answer)


def _refusal(status: int, retry_after: Optional[int], answer: Any) -> FlorinError:
    """The error of a response: the proxy's own, or that of a server in front of it, which has another form."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        message = f"The response with status {status} is not the proxy's."
        return FlorinError("invalid_response", message, status=status, retry_after=retry_after)
    return FlorinError(
        error["code"],
        error.get("message", ""),
        field=error.get("field"),
        request_id=error.get("request_id"),
        status=status,
        retry_after=retry_after,
    )


def _pause_after(error: FlorinError, failures: int) -> Optional[float]:
    """The seconds to wait before the next try; `None` if another try would fail likewise."""
    is_from_proxy = error.code != "invalid_response"
    is_transient = (
        error.status is None
        or error.status in (429, 503)
        or error.retry_after is not None
        or (not is_from_proxy and error.status in (502, 504))
    )
    if not is_transient:
        return None
    pause: float = min(FIRST_PAUSE * 2**failures, LONGEST_PAUSE)
    # Requests that failed together are not sent again together.
    return max(pause * random.uniform(0.5, 1), float(error.retry_after or 0))
