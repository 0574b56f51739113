"""The server of a shop, as it uses a Florin proxy."""

from .client import Florin
from .error import FlorinError
from .tokens import TokenKey, create_order_token, verify_receipt_token
from .webhooks import verify_webhook

__all__ = ["Florin", "FlorinError", "TokenKey", "create_order_token", "verify_receipt_token", "verify_webhook"]
