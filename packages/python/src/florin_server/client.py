"""The client of one store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, cast
from urllib.parse import quote, urlsplit

from .request import send

if TYPE_CHECKING:
    from .types import Event, EventPage, OpenedOrder, OpenOrder, OrderPage, OrderRecord, StaffLink, VerifiedReceipt

TIMEOUT = 30.0
EVENTS_PER_PAGE = 100


class Florin:
    """A client of one store. It keeps no connection and no state, and may be used by several threads.

    url: the address at which this server reaches the proxy, like `https://pay.shop.example`.
    secret_key: the store's `secret_key`.
    timeout: the seconds that a call may take with all its retries. Each method that calls the proxy takes another one.

    Calls raise `FlorinError`. They are sent again after 429 and 503, not before `Retry-After`, and after a lost connection,
    with the same idempotency key, as long as `timeout` permits. An `idempotency_key` is one that you stored before the
    call, so that you can repeat it after a crash; one is drawn if it is absent.
    """

    def __init__(self, url: str, secret_key: str, *, timeout: float = TIMEOUT) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"{url} is not an address of a proxy: write https://…")
        if not secret_key:
            raise ValueError("secret_key is missing")
        self._url = url.rstrip("/")
        self._secret_key = secret_key
        self._timeout = timeout

    def __repr__(self) -> str:
        return f"Florin({self._url!r})"

    def create_order(
        self, order: OpenOrder, *, idempotency_key: Optional[str] = None, timeout: Optional[float] = None
    ) -> OpenedOrder:
        """Opens an order. The same `reference` at the same price is the same order."""
        opened = self.request("POST", "/v1/orders", body=order, idempotency_key=idempotency_key, timeout=timeout)
        return cast("OpenedOrder", opened)

    def get_order(self, id: str, *, timeout: Optional[float] = None) -> OrderRecord:
        return cast("OrderRecord", self.request("GET", f"/v1/orders/{quote(id, safe='')}", timeout=timeout))

    def list_orders(
        self,
        *,
        reference: Optional[str] = None,
        status: Optional[str] = None,
        after: Optional[str] = None,
        limit: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> OrderPage:
        """Returns a page of orders, newest first."""
        query = {"reference": reference, "status": status, "after": after, "limit": limit}
        return cast("OrderPage", self.request("GET", "/v1/orders", query=query, timeout=timeout))

    def cancel_order(
        self, id: str, *, idempotency_key: Optional[str] = None, timeout: Optional[float] = None
    ) -> OrderRecord:
        """Cancels an order, while no payment was seen for it."""
        path = f"/v1/orders/{quote(id, safe='')}/cancel"
        cancelled = self.request("POST", path, idempotency_key=idempotency_key, timeout=timeout)
        return cast("OrderRecord", cancelled)

    def list_events(
        self, *, after: Optional[str] = None, limit: Optional[int] = None, timeout: Optional[float] = None
    ) -> EventPage:
        """Returns a page of events, in order."""
        page = self.request("GET", "/v1/events", query={"after": after, "limit": limit}, timeout=timeout)
        return cast("EventPage", page)

    def events(
        self, *, after: Optional[str] = None, limit: int = EVENTS_PER_PAGE, timeout: Optional[float] = None
    ) -> Iterator[Event]:
        """Returns all events after the one with the id `after`, up to the present. Store the last `id` as the next `after`.

        limit: the size of a page.
        """
        while True:
            page = self.list_events(after=after, limit=limit, timeout=timeout)["events"]
            yield from page
            if len(page) < limit:
                return
            after = page[-1]["id"]

    def verify_receipt(self, receipt: str, *, timeout: Optional[float] = None) -> VerifiedReceipt:
        """Asks the proxy whether a receipt, a token or a printed code, is genuine, and for its order as it stands."""
        verified = self.request("POST", "/v1/receipts/verify", body={"receipt": receipt}, timeout=timeout)
        return cast("VerifiedReceipt", verified)

    def create_staff_link(
        self,
        *,
        person: Optional[str] = None,
        role: Optional[str] = None,
        expires_in_seconds: Optional[int] = None,
        session_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> StaffLink:
        """Makes a link to the store's orders for a member of the staff. Redirect the person to its `url` at once."""
        link = {
            "person": person,
            "role": role,
            "expires_in_seconds": expires_in_seconds,
            "session_seconds": session_seconds,
        }
        body = {name: value for name, value in link.items() if value is not None}
        made = self.request("POST", "/v1/staff_links", body=body, idempotency_key=idempotency_key, timeout=timeout)
        return cast("StaffLink", made)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, object]] = None,
        body: Any = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Sends any other GET or POST of the proxy's HTTP interface, with the same retries. Returns the JSON of the response."""
        return send(
            self._url,
            self._secret_key,
            method,
            path,
            query=query or {},
            body=body,
            idempotency_key=idempotency_key,
            timeout=self._timeout if timeout is None else timeout,
        )
