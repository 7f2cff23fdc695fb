"""What can go wrong, as exceptions."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import httpx


class KeepsakeError(Exception):
    """A request failed. `code` is stable and listed in the reference of errors; the message says what to do.

    `import_id` and `revision` name an import of which a part was stored before it failed.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        errors: Optional[List[Dict[str, str]]] = None,
        import_id: Optional[str] = None,
        revision: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.request_id = request_id
        self.errors = errors or []
        self.import_id = import_id
        self.revision = revision


class KeepsakeConnectionError(KeepsakeError):
    """No answer came: the server is not there, or took longer than the time limit."""

    def __init__(self, error: httpx.TransportError) -> None:
        super().__init__(
            f"The server did not answer ({type(error).__name__}). Check its address, or try again.",
            code="unavailable",
        )


class NotFoundError(KeepsakeError):
    """The thing does not exist, or belongs to somebody else."""


class ConflictError(KeepsakeError):
    """Something else has changed it, or the idempotency key was used for another request."""


class InvalidInputError(KeepsakeError):
    """The request is not valid; `errors` names the fields."""


class AuthenticationError(KeepsakeError):
    """The key is not valid, or may not do this."""


class RateLimitError(KeepsakeError):
    """Too many requests. The client has waited and tried again before it raises this."""


_BY_STATUS = {
    400: InvalidInputError,
    401: AuthenticationError,
    403: AuthenticationError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def to_error(response: httpx.Response) -> KeepsakeError:
    """Makes an exception of a problem document."""
    try:
        held = response.json()
    except ValueError:
        held = None
    problem: Dict[str, Any] = held if isinstance(held, dict) else {}
    status = response.status_code
    return _BY_STATUS.get(status, KeepsakeError)(
        str(problem.get("detail", f"The server answered with status {status}.")),
        code=str(problem.get("code", "unavailable")),
        status=status,
        request_id=problem.get("request_id") or response.headers.get("x-request-id"),
        errors=problem.get("errors"),
        import_id=problem.get("import_id"),
        revision=problem.get("revision"),
    )
