# Generated from the proxy's /openapi.json.

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict

from typing_extensions import NotRequired, TypeAlias

Amount: TypeAlias = str


CryptoCode: TypeAlias = str


Currency: TypeAlias = str


class DecisionRecord(TypedDict):
    """
    An operator's decision that ended an order.
    """

    outcome: Literal["accepted", "closed"]
    at: str


class Delivery(TypedDict):
    """
    One try.
    """

    id: str
    event: str
    webhook: str
    type: str
    tried_at: str
    took_ms: int
    http_status: Optional[int]
    note: str


class DeliveryPage(TypedDict):
    """
    A page of tries, latest first.
    """

    deliveries: List[Delivery]
    next: Optional[str]


Environment: TypeAlias = Literal["test", "production"]


FlowRequest: TypeAlias = Literal["custom", "hosted"]


LineKind: TypeAlias = Literal["item", "discount", "tax", "shipping"]


class Receipt(TypedDict):
    """
    What a receipt states.
    """

    iss: str
    environment: Environment
    store: str
    store_name: str
    order_id: str
    reference: str
    title: str
    amount: Amount
    currency: Currency
    paid_at: str
    crypto_code: NotRequired[str]
    asset: NotRequired[str]
    network: NotRequired[str]
    received_in_crypto: Amount
    address: NotRequired[str]
    transaction_hash: NotRequired[str]


class Refund(TypedDict):
    """
    Money that was sent back.
    """

    amount_in_crypto: Amount
    crypto_code: NotRequired[Optional[CryptoCode]]
    transaction: NotRequired[Optional[str]]


class RefundRecord(TypedDict):
    """
    Money that the store has sent back, as it was recorded.
    """

    amount_in_crypto: Amount
    crypto_code: str
    amount: Amount
    transaction_hash: NotRequired[str]
    at: str


class Gateway(TypedDict):
    """
    The gateway's message, when it refused the store's request.
    """

    status: int
    error: NotRequired[str]
    code: NotRequired[str]
    message: NotRequired[str]


class Error(TypedDict):
    code: Literal[
        "invalid_request",
        "unauthorized",
        "invalid_order_token",
        "origin_not_allowed",
        "gateway_access_denied",
        "staff_access_denied",
        "not_found",
        "unknown_store",
        "unknown_product",
        "unknown_donation",
        "method_not_allowed",
        "order_conflict",
        "order_closed",
        "quote_expired",
        "attempt_in_progress",
        "request_in_progress",
        "idempotency_result_unreadable",
        "other_flow",
        "nothing_to_pay",
        "nothing_owed",
        "not_paid",
        "payload_too_large",
        "unsupported_media_type",
        "quantity_out_of_range",
        "donation_out_of_range",
        "idempotency_key_reused",
        "amount_out_of_range",
        "currency_unavailable",
        "asset_unavailable",
        "gateway_refused",
        "rate_limited",
        "internal",
        "gateway_failed",
        "gateway_unavailable",
        "storage_unavailable",
    ]
    message: str
    gateway: NotRequired[Gateway]
    reason: NotRequired[str]
    field: NotRequired[str]
    request_id: str


class Refusal(TypedDict):
    """
    Why a request was refused.
    """

    error: Error


class RevertedRecord(TypedDict):
    """
    A contradiction of a given credit.
    """

    at: str
    payment_state: Literal[
        "waiting",
        "detected",
        "confirming",
        "settled",
        "underpaid",
        "failed",
        "cancelled",
        "expired",
        "address_changed",
    ]


class Settlement(TypedDict):
    """
    Money that came or went back. The amounts of a refund are negative.
    """

    kind: str
    order: str
    reference: str
    title: str
    amount: str
    currency: str
    asset: str
    network: str
    amount_in_crypto: str
    transaction: str
    at: str
    metadata: Dict[str, Any]


class SettlementTotal(TypedDict):
    """
    A sum of payments and refunds.
    """

    name: str
    network: str
    payments: int
    received: Amount
    refunded: Amount
    net: str


"""
The settlements of a period.
"""
Settlements = TypedDict(
    "Settlements",
    {
        "from": str,
        "to": str,
        "time_zone": str,
        "totals": NotRequired[List[SettlementTotal]],
        "currencies": NotRequired[List[SettlementTotal]],
        "lines": List[Settlement],
        "next": NotRequired[str],
    },
)


class SignedReceipt(TypedDict):
    """
    A receipt with what proves it.
    """

    receipt: Receipt
    token: NotRequired[str]
    code: NotRequired[str]


class StaffLink(TypedDict):
    """
    A link for one person.
    """

    url: str
    expires_at: str


StaffRole: TypeAlias = Literal["read", "write"]


Status: TypeAlias = Literal[
    "open",
    "awaiting_payment",
    "checking",
    "processing",
    "paid",
    "overpaid",
    "underpaid",
    "failed",
    "cancelled",
    "expired",
    "blocked",
]


class VerifyReceipt(TypedDict):
    """
    A receipt to verify.
    """

    receipt: str


class WebhookStatus(TypedDict):
    """
    The state of a webhook.
    """

    id: str
    state: Literal["enabled", "disabled"]
    disabled_at: NotRequired[str]
    events_waiting: int


class Data1(TypedDict):
    store: str
    as_written: Dict[str, Any]


class WebhookTest(TypedDict):
    type: Literal["webhook.test"]
    timestamp: str
    data: Data1


class AttemptRecord(TypedDict):
    """
    The attempt that counts, with its invoice.
    """

    id: str
    crypto_code: Optional[str]
    invoice_id: str
    address: Optional[str]
    payment_process_url: Optional[str]
    amount_in_crypto: Optional[Amount]
    amount_in_usd: Optional[Amount]
    amount_in_local_currency: Amount
    local_currency_code: Currency
    received_in_crypto: Amount
    received_in_usd: Amount
    received_in_local_currency: Amount
    transaction_hash: Optional[str]


class Line(TypedDict):
    """
    One line.
    """

    title: str
    kind: NotRequired[LineKind]
    quantity: NotRequired[Optional[int]]
    unit_amount: NotRequired[Optional[Amount]]
    amount: NotRequired[Optional[str]]
    image_url: NotRequired[Optional[str]]


class OpenOrder(TypedDict):
    """
    What the store wants paid.
    """

    amount: Amount
    currency: Currency
    reference: str
    title: NotRequired[Optional[str]]
    lines: NotRequired[List[Line]]
    customer_email: NotRequired[Optional[str]]
    return_url: NotRequired[Optional[str]]
    cancel_url: NotRequired[Optional[str]]
    metadata: NotRequired[Dict[str, Any]]
    assets: NotRequired[List[CryptoCode]]
    expires_in_seconds: NotRequired[Optional[int]]
    flow: NotRequired[FlowRequest]


class OpenStaffLink(TypedDict):
    """
    Who gets a link, and for what.
    """

    person: NotRequired[Optional[str]]
    role: NotRequired[StaffRole]
    expires_in_seconds: NotRequired[Optional[int]]
    session_seconds: NotRequired[Optional[int]]


class OrderRecord(TypedDict):
    """
    An order as JSON for its store. Amounts are decimal strings, times RFC 3339 in UTC.
    """

    id: str
    reference: str
    status: Literal[
        "open",
        "awaiting_payment",
        "checking",
        "processing",
        "paid",
        "overpaid",
        "underpaid",
        "failed",
        "cancelled",
        "expired",
        "blocked",
    ]
    amount: Amount
    currency: Currency
    price_source: Literal["catalogue", "store_server", "order_token", "customer"]
    title: str
    customer_email: Optional[str]
    receipt_email: NotRequired[str]
    refund_address: NotRequired[str]
    return_url: Optional[str]
    cancel_url: NotRequired[str]
    metadata: Dict[str, Any]
    created_at: str
    expires_at: str
    flow: Literal["custom", "hosted"]
    settled_at: Optional[str]
    decision: NotRequired[DecisionRecord]
    reverted: Optional[RevertedRecord]
    refunds: NotRequired[List[RefundRecord]]
    attempt: Optional[AttemptRecord]


class VerifiedReceipt(TypedDict):
    """
    The outcome of a verification.
    """

    valid: bool
    order: NotRequired[OrderRecord]


class WebhookList(TypedDict):
    """
    The webhooks of a store.
    """

    webhooks: List[WebhookStatus]


class Data(TypedDict):
    sequence: int
    order: OrderRecord


class Event(TypedDict):
    type: Literal[
        "order.created",
        "order.attempt_opened",
        "order.payment_seen",
        "order.processing",
        "order.paid",
        "order.overpaid",
        "order.underpaid",
        "order.failed",
        "order.expired",
        "order.cancelled",
        "order.blocked",
        "order.late_payment",
        "order.reverted",
        "order.email_added",
        "order.refund_address_added",
        "order.refunded",
        "donation.created",
        "donation.attempt_opened",
        "donation.payment_seen",
        "donation.processing",
        "donation.paid",
        "donation.overpaid",
        "donation.underpaid",
        "donation.failed",
        "donation.expired",
        "donation.cancelled",
        "donation.blocked",
        "donation.late_payment",
        "donation.reverted",
        "donation.email_added",
        "donation.refund_address_added",
        "donation.refunded",
    ]
    timestamp: str
    data: Data
    id: str


class EventPage(TypedDict):
    """
    A page of events.
    """

    events: List[Event]
    next: Optional[str]


class OpenedOrder(TypedDict):
    """
    The order, and how its customer gets to it.
    """

    order: OrderRecord
    client_token: str
    checkout_url: str
    payment_process_url: NotRequired[str]
    notice: NotRequired[str]


class OrderPage(TypedDict):
    """
    A page of orders, newest first.
    """

    orders: List[OrderRecord]
    next: Optional[str]
