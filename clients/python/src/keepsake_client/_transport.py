"""Sending requests: time limits, repeats, and problems as exceptions."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from contextlib import asynccontextmanager, contextmanager
from typing import Any, AsyncIterator, Dict, Iterator, Mapping, Optional
from urllib.parse import quote

import httpx

from ._errors import KeepsakeConnectionError, to_error

#: Statuses after which the same request can succeed a moment later.
_PASSING = frozenset({429, 502, 503, 504})
_FIRST_WAIT_S = 0.25
_LONGEST_WAIT_S = 10.0


def _build(
    method: str,
    path: str,
    path_values: Mapping[str, str],
    query: Mapping[str, Any],
    json: Any,
    content: Optional[bytes],
    content_type: Optional[str],
    key: Optional[str],
) -> Dict[str, Any]:
    for name, value in path_values.items():
        path = path.replace("{" + name + "}", quote(value, safe=""))
    headers = {}
    if key is not None:
        headers["idempotency-key"] = key
    if content_type is not None:
        headers["content-type"] = content_type
    params = {
        name: (str(value).lower() if isinstance(value, bool) else value)
        for name, value in query.items()
        if value is not None
    }
    request: Dict[str, Any] = {"method": method, "url": path, "params": params, "headers": headers}
    if content is not None:
        request["content"] = content
    elif json is not None:
        request["json"] = json
    return request


def _wait_s(attempt: int, response: Optional[httpx.Response]) -> float:
    """Seconds to wait: what the server asks for, else a random part of a time that doubles."""
    asked = response.headers.get("retry-after", "") if response is not None else ""
    if asked.isdigit():
        return min(float(asked), _LONGEST_WAIT_S)
    return random.uniform(0.5, 1.0) * min(_FIRST_WAIT_S * 2.0**attempt, _LONGEST_WAIT_S)


def _passes(response: httpx.Response) -> bool:
    """Whether the failure passes: also a request under the same key that is still at work."""
    at_work = response.status_code == 409 and "retry-after" in response.headers
    return response.status_code in _PASSING or at_work


def _read(response: httpx.Response) -> Any:
    if response.status_code >= 300:
        raise to_error(response)
    if response.status_code == 204 or not response.content:
        return None
    if response.headers.get("content-type", "").startswith("application/json"):
        return response.json()
    return response.text


def _choose_key(takes_key: bool, key: Optional[str]) -> Optional[str]:
    return (key or str(uuid.uuid4())) if takes_key else None


class SyncTransport:
    """Sends requests with a client of httpx. A write keeps its idempotency key when it is sent again."""

    def __init__(self, http: httpx.Client, retries: int) -> None:
        self.http = http
        self.retries = retries

    def _send(
        self,
        method: str,
        url: str,
        *,
        path: Mapping[str, str],
        query: Mapping[str, Any],
        json: Any = None,
        content: Optional[bytes] = None,
        content_type: Optional[str] = None,
        takes_key: bool = False,
        idempotency_key: Optional[str] = None,
        reads: bool = False,
    ) -> Any:
        key = _choose_key(takes_key, idempotency_key)
        request = _build(method, url, path, query, json, content, content_type, key)
        attempts = self.retries if method == "GET" or takes_key or reads else 0
        for attempt in range(attempts + 1):
            response = None
            try:
                response = self.http.request(**request)
                if attempt == attempts or not _passes(response):
                    return _read(response)
            except httpx.TransportError as error:
                if attempt == attempts:
                    raise KeepsakeConnectionError(error) from error
            time.sleep(_wait_s(attempt, response))
        raise AssertionError("unreachable")

    @contextmanager
    def stream_lines(self, url: str, path: Mapping[str, str]) -> Iterator[Iterator[str]]:
        """Gives the lines of a response as they arrive."""
        request = _build("GET", url, path, {}, None, None, None, None)
        try:
            with self.http.stream(**request) as response:
                if response.status_code >= 300:
                    response.read()
                    raise to_error(response)
                yield response.iter_lines()
        except httpx.TransportError as error:
            raise KeepsakeConnectionError(error) from error


class AsyncTransport:
    """The same, asynchronous."""

    def __init__(self, http: httpx.AsyncClient, retries: int) -> None:
        self.http = http
        self.retries = retries

    async def _send(
        self,
        method: str,
        url: str,
        *,
        path: Mapping[str, str],
        query: Mapping[str, Any],
        json: Any = None,
        content: Optional[bytes] = None,
        content_type: Optional[str] = None,
        takes_key: bool = False,
        idempotency_key: Optional[str] = None,
        reads: bool = False,
    ) -> Any:
        key = _choose_key(takes_key, idempotency_key)
        request = _build(method, url, path, query, json, content, content_type, key)
        attempts = self.retries if method == "GET" or takes_key or reads else 0
        for attempt in range(attempts + 1):
            response = None
            try:
                response = await self.http.request(**request)
                if attempt == attempts or not _passes(response):
                    return _read(response)
            except httpx.TransportError as error:
                if attempt == attempts:
                    raise KeepsakeConnectionError(error) from error
            await asyncio.sleep(_wait_s(attempt, response))
        raise AssertionError("unreachable")

    @asynccontextmanager
    async def stream_lines(self, url: str, path: Mapping[str, str]) -> AsyncIterator[AsyncIterator[str]]:
        """Gives the lines of a response as they arrive."""
        request = _build("GET", url, path, {}, None, None, None, None)
        try:
            async with self.http.stream(**request) as response:
                if response.status_code >= 300:
                    await response.aread()
                    raise to_error(response)
                yield response.aiter_lines()
        except httpx.TransportError as error:
            raise KeepsakeConnectionError(error) from error
