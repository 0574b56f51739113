"""The error of the library."""

from __future__ import annotations

from typing import Optional


class FlorinError(Exception):
    """A refusal of the proxy, or a call, webhook or receipt that failed here.

    code: a code of the proxy; or `connection_failed`, `timeout`, `invalid_response`, `invalid_webhook`, `invalid_receipt`.
    field: the member or parameter at fault, like `lines[1].title`.
    request_id: what to quote when asking for help; the proxy's log has it.
    status: the HTTP status.
    retry_after: seconds until the call may be repeated.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        field: Optional[str] = None,
        request_id: Optional[str] = None,
        status: Optional[int] = None,
        retry_after: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.request_id = request_id
        self.status = status
        self.retry_after = retry_after
