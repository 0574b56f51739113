"""Deliveries of events, signed as Standard Webhooks says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping, Union, cast

from standardwebhooks import Webhook

from .error import FlorinError

if TYPE_CHECKING:
    from .types import Event


def verify_webhook(body: Union[bytes, str], headers: Mapping[str, str], webhook_secret: str) -> Event:
    """Returns the event of a delivery, with its `id`. The type `webhook.test` has a `store` in place of an order: do nothing.

    body: the bytes of the request, before any of it was parsed.
    webhook_secret: the webhook's `secret`, `whsec_…`.

    Raises `FlorinError` with the code `invalid_webhook`: the delivery is not signed by the proxy, or older than five minutes.
    """
    if not isinstance(body, (bytes, str)):
        raise TypeError("pass the body as it arrived: what was parsed has lost its bytes")
    webhook = Webhook(webhook_secret)
    plain = {name.lower(): value for name, value in headers.items()}
    try:
        event = webhook.verify(body, plain)
    except Exception as cause:  # Malformed signatures raise other errors than wrong ones.
        raise FlorinError("invalid_webhook", f"The delivery is refused: {cause}.") from cause
    return cast("Event", {"id": plain["webhook-id"], **event})
