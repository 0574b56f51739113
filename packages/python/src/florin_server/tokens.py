"""Order tokens and receipts: JSON Web Tokens, signed with HS256."""

from __future__ import annotations

import base64
import hmac
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping, cast

from .error import FlorinError

if TYPE_CHECKING:
    from .types import Receipt

LONGEST_LIFE_SECONDS = 24 * 3600
RECEIPT_TYPE = "florin-receipt+jwt"
RECEIPT_KEY = b"florin-receipt-v1"


@dataclass(frozen=True)
class TokenKey:
    """One of the store's `token_keys`, with the proxy's `public_url` and the store's `id`."""

    public_url: str
    store: str
    kid: str
    secret: str = field(repr=False)


def create_order_token(order: Mapping[str, Any], key: TokenKey, *, expires_in_seconds: int = 3600) -> str:
    """Signs a price, without a call to the proxy. The token lives at most a day.

    order: `reference`, `amount`, `currency`, and if you like `title`, `lines`, `return_url`, `cancel_url`.
    """
    if not isinstance(order.get("amount"), str):
        raise TypeError('amount is a string, like "19.90": a number may have been rounded')
    if not 1 <= expires_in_seconds <= LONGEST_LIFE_SECONDS:
        raise ValueError("an order token lives 1 second to 24 hours")
    issued_at = int(time.time())
    claims = {
        **order,
        "aud": key.public_url.rstrip("/"),
        "store": key.store,
        "iat": issued_at,
        "exp": issued_at + int(expires_in_seconds),
    }
    signed = f"{_part({'alg': 'HS256', 'kid': key.kid})}.{_part(claims)}"
    return f"{signed}.{_signature(key.secret.encode(), signed)}"


def verify_receipt_token(token: str, webhook_secret: str) -> Receipt:
    """Returns the receipt of a token, without a call to the proxy. What happened after it was issued, like a refund, is not in it.

    webhook_secret: the `secret` of the store's first webhook.

    Raises `FlorinError` with the code `invalid_receipt`: the token is not signed by this secret.
    """
    secret = base64.b64decode(webhook_secret[len("whsec_") :] if webhook_secret.startswith("whsec_") else webhook_secret)
    if not secret:
        raise ValueError("the webhook secret is not whsec_ and base64")
    key = hmac.digest(secret, RECEIPT_KEY, "sha256")
    signed, _, signature = token.strip().rpartition(".")
    is_signed = hmac.compare_digest(_signature(key, signed).encode(), signature.encode())
    # The type is compared after the signature: text that is not signed is never parsed.
    if not is_signed or not _is_receipt(signed):
        raise FlorinError("invalid_receipt", "The receipt is not one of this store.")
    return cast("Receipt", _decoded(signed.split(".")[1]))


def _is_receipt(signed: str) -> bool:
    header = _decoded(signed.split(".")[0])
    return (header.get("alg"), header.get("typ")) == ("HS256", RECEIPT_TYPE)


def _part(value: Mapping[str, Any]) -> str:
    return _base64url(json.dumps(value, separators=(",", ":")).encode())


def _signature(key: bytes, signed: str) -> str:
    return _base64url(hmac.digest(key, signed.encode(), "sha256"))


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(part: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
