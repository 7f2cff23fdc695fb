"""Long-term memory for programs that talk to language models: the client for Keepsake's server."""

from ._async_client import AsyncKeepsake
from ._client import Keepsake
from ._errors import (
    AuthenticationError,
    ConflictError,
    InvalidInputError,
    KeepsakeConnectionError,
    KeepsakeError,
    NotFoundError,
    RateLimitError,
)
from ._plans import ForgetPlan

__all__ = [
    "AsyncKeepsake",
    "AuthenticationError",
    "ConflictError",
    "ForgetPlan",
    "InvalidInputError",
    "Keepsake",
    "KeepsakeConnectionError",
    "KeepsakeError",
    "NotFoundError",
    "RateLimitError",
]
