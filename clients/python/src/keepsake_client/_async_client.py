"""The asynchronous client."""

# Written by `node scripts/python-client.ts`; a test compares. Change the source, not this file.

from __future__ import annotations

import json
from typing import Any, AsyncIterator, List, Mapping, Sequence, cast

import httpx

from . import _generated as api
from ._plans import ForgetPlan, select


class AsyncMemories:
    """The memories of one user."""

    def __init__(self, raw: api.AsyncRawOperations, user: str) -> None:
        self.raw = raw
        self.user = user

    async def list(self, *, limit: int = 50, cursor: str | None = None, **filters: Any) -> api.MemoryPage:
        """A page of memories. Filters are those of `GET /api/v1/memories/{user_id}`: `kind`, `status`, `sort` and others."""
        return await self.raw.list_memories(self.user, limit=limit, cursor=cursor, **filters)

    async def all(self, **filters: Any) -> AsyncIterator[api.Memory]:
        """All memories, page by page."""
        cursor: str | None = None
        while True:
            page = await self.list(cursor=cursor, **filters)
            for memory in page["items"]:
                yield memory
            cursor = page.get("cursor")
            if cursor is None:
                return

    async def get(self, id: str) -> api.Memory:
        """One memory. Raises `NotFoundError`."""
        return await self.raw.get_memory(self.user, id)

    async def add(self, content: str, *, idempotency_key: str | None = None, **fields: Any) -> api.WrittenMemory:
        """Stores a statement as a memory. Fields are those of `POST /api/v1/memories`."""
        body = cast(api.AddMemoryBody, {"user_id": self.user, "content": content, **fields})
        return await self.raw.add_memory(body, idempotency_key=idempotency_key)

    async def edit(self, id: str, *, idempotency_key: str | None = None, **changes: Any) -> api.WrittenMemory:
        """Changes a memory, as a new version. Fields are those of `PATCH /api/v1/memories/{user_id}/{id}`."""
        return await self.raw.change_memory(
            self.user, id, cast(api.ChangeMemoryBody, changes), idempotency_key=idempotency_key
        )

    async def remove(self, id: str, *, idempotency_key: str | None = None) -> api.Receipt:
        """Takes a memory out of recall. `undo` brings it back; `forget` erases it."""
        return await self.raw.remove_memory(self.user, id, idempotency_key=idempotency_key)

    async def history(self, id: str) -> List[api.Memory]:
        """The versions of a memory, oldest first: at most 1,000."""
        found = await self.raw.get_memory_history(self.user, id, limit=1000)
        return found["items"]

    async def cleanup_old_memories(
        self,
        *,
        max_age_days: int | None = None,
        min_importance: float | None = None,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> api.Optimized:
        """Merges duplicates, and archives memories that are older and less important. `undo` restores them; nothing is erased.
        What was said twice, recalled, edited, associated or is sensitive stays. `dry_run` only shows it."""
        return await self.raw.optimize(
            self.user,
            max_age_days=max_age_days,
            min_importance=min_importance,
            dry_run=dry_run,
            idempotency_key=idempotency_key,
        )


class AsyncKeepsake:
    """The memory of one user, on a server.

    `timeout` is in seconds and counts for each attempt. A request that can be sent again is, at most `retries` times: after a lost
    connection, and after 429, 502, 503 and 504. Writes have an idempotency key, so none is carried out twice. `raw` has
    every operation of the API. `agent` names an agent of the user, which labels what is stored and limits what is read. `http`
    replaces the client of httpx, whose base URL and headers are then the caller's.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        user: str,
        *,
        agent: str | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        headers = {"authorization": f"Bearer {api_key}"}
        if agent is not None:
            headers["x-keepsake-agent"] = agent
        own = http or httpx.AsyncClient(base_url=base_url, headers=headers, timeout=timeout)
        self.raw = api.AsyncRawOperations(own, retries)
        self.user = user
        self.memories = AsyncMemories(self.raw, user)

    async def __aenter__(self) -> AsyncKeepsake:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self.raw.http.aclose()

    async def remember(
        self,
        messages: str | Sequence[Mapping[str, Any]],
        *,
        session: str | None = None,
        idempotency_key: str | None = None,
    ) -> api.Receipt:
        """Stores messages, all or none, and learns from them. A string is one message of the user."""
        held = [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)
        body: Any = {"user_id": self.user, "messages": held, "session_id": session}
        return await self.raw.add_messages(body, idempotency_key=idempotency_key)

    async def recall(self, query: str, *, limit: int = 10) -> api.Recall:
        """Finds what is relevant to a query, best first. `items` is empty if nothing is."""
        return await self.raw.search_memories(self.user, query=query, top_k=limit)

    async def context(self, request: str, *, max_tokens: int | None = None, session: str | None = None) -> api.Context:
        """What a model is to be told before it answers a request."""
        body: Any = {"user_id": self.user, "request": request}
        if max_tokens is not None:
            body["max_tokens"] = max_tokens
        if session is not None:
            body["session_id"] = session
        return await self.raw.build_context(body)

    async def answer(
        self, message: str, *, session: str | None = None, idempotency_key: str | None = None
    ) -> api.ConversationReply:
        """Runs one turn: stores the message, acts on it, and replies with the sources."""
        body: Any = {"user_id": self.user, "message": message, "session_id": session}
        return await self.raw.converse(body, idempotency_key=idempotency_key)

    async def plan_forget(self, **selection: Any) -> ForgetPlan:
        """Shows what an erasure would take. Nothing is gone until the plan is given to `forget`."""
        body = select(self.user, selection)
        found = await self.raw.erase(cast(api.EraseBody, {**body, "dry_run": True}))
        return ForgetPlan(selection=selection, details=cast(api.ErasurePlan, found))

    async def forget(
        self, plan: ForgetPlan | None = None, *, idempotency_key: str | None = None, **selection: Any
    ) -> api.ErasureReceipt:
        """Erases, and gives the receipt: what a plan selects, or `about`, `ids`, `session_id`, `from_` and `to`, `topic`, `where` or
        `everything`. It cannot be undone. A plan is selected again: what was said since and matches goes too."""
        body = select(self.user, selection if plan is None else plan.selection)
        found = await self.raw.erase(cast(api.EraseBody, body), idempotency_key=idempotency_key)
        return cast(api.ErasureReceipt, found)

    async def receipt(self, id: str) -> api.ErasureReceipt:
        """The receipt of an erasure again."""
        return await self.raw.get_erasure(id, user_id=self.user)

    async def history(self, *, limit: int = 50, cursor: str | None = None) -> api.Log:
        """What happened, newest first, by ids."""
        return await self.raw.get_history(self.user, limit=limit, cursor=cursor)

    async def changes(self, *, after: int = 0, limit: int = 100) -> api.ListChangesResponse:
        """What changed after a revision, oldest first, by ids. Its `after` is what the next call takes."""
        return await self.raw.list_changes(user_id=self.user, after=after, limit=limit)

    async def undo(self, revision: int, *, idempotency_key: str | None = None) -> api.Receipt:
        """Takes one change back."""
        return await self.raw.undo(self.user, {"revision": revision}, idempotency_key=idempotency_key)

    async def export(self) -> AsyncIterator[Any]:
        """Everything that is held of the user, line by line as it arrives."""
        async with self.raw.stream_lines("/api/v1/export/{user_id}", {"user_id": self.user}) as sent:
            async for line in sent:
                if line:
                    yield json.loads(line)
