"""A session of the OpenAI Agents SDK (`openai-agents`) in a user's memory. The SDK is the caller's: nothing of it is imported."""

from __future__ import annotations

import uuid
from typing import Any, Callable, Dict, List, Mapping

from ._async_client import AsyncKeepsake
from ._errors import NotFoundError

# The type of the part that holds an item, without its texts: these are text parts of the message.
_PART = "openai_responses_item"
# Fields of items with words of people, models and tools. Names, ids and files stay in the item.
_TEXT_FIELDS = frozenset(
    ["text", "content", "arguments", "output", "refusal", "transcript", "input", "query", "code", "stdout", "stderr"]
)
# Stands in an item where a text was taken out.
_TAKEN = "keepsake_text"
_MAX_DEPTH = 64
_PAGE_SIZE = 1000


class KeepsakeSession:
    """Keeps a conversation: `Runner.run(agent, input, session=KeepsakeSession(keepsake, "chat-7"))`.

    What the user says makes memories, for every later conversation. What is forgotten anywhere is gone from the session, too.
    `session_id` is unique within the user (default: a new one).
    """

    session_id: str
    session_settings: Any = None

    def __init__(self, keepsake: AsyncKeepsake, session_id: str | None = None) -> None:
        self.session_id = session_id if session_id is not None else str(uuid.uuid4())
        self._keepsake = keepsake

    async def get_items(self, limit: int | None = None) -> List[Any]:
        """The items, or the newest `limit`, in the order in which they were added."""
        wanted = limit if limit is not None else getattr(self.session_settings, "limit", None)
        if wanted is not None and wanted <= 0:
            return []
        items = _without_half_pairs([_to_item(one) for one in await self._messages()])
        return items if wanted is None else items[-wanted:]

    async def add_items(self, items: List[Any]) -> None:
        """Stores items. What the user says in them makes memories."""
        if items:
            await self._keepsake.remember([_to_message(item) for item in items], session=self.session_id)

    async def pop_item(self) -> Any:
        """Erases the newest item, with what was learnt from it, and gives it. None for an empty session."""
        messages = await self._messages()
        if not messages:
            return None
        await self._keepsake.forget(ids=[messages[-1]["id"]])
        return _to_item(messages[-1])

    async def clear_session(self) -> None:
        """Erases the whole conversation, with what was learnt from it."""
        try:
            await self._keepsake.forget(session_id=self.session_id)
        except NotFoundError:
            pass

    async def _messages(self) -> List[Mapping[str, Any]]:
        messages: List[Mapping[str, Any]] = []
        cursor: str | None = None
        while True:
            try:
                page = await self._keepsake.raw.get_session(
                    self._keepsake.user, self.session_id, limit=_PAGE_SIZE, cursor=cursor
                )
            except NotFoundError:
                return messages  # A session begins with its first message.
            messages.extend(page["items"])
            cursor = page.get("cursor")
            if cursor is None:
                return messages


def _to_message(item: Mapping[str, Any]) -> Dict[str, Any]:
    texts: List[str] = []

    def take(value: Any, field: str) -> Any:
        if not isinstance(value, str) or not value.strip() or field not in _TEXT_FIELDS:
            return value
        texts.append(value)
        return {_TAKEN: True}

    kept = _map_leaves(item, take)
    parts: List[Dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    return {"role": _role(item), "content": [*parts, {"type": _PART, "item": kept}]}


def _role(item: Mapping[str, Any]) -> str:
    role = item.get("role")
    if role in ("user", "assistant"):
        return str(role)
    if role in ("system", "developer"):
        return "system"
    return "tool" if str(item.get("type")).endswith("_output") else "assistant"


def _to_item(message: Mapping[str, Any]) -> Dict[str, Any]:
    """The item that a message holds. Words that were erased are left out."""
    parts = message.get("parts") or []
    held = next((part["item"] for part in parts if part["type"] == _PART), None)
    if held is None:
        role = message["role"] if message["role"] in ("user", "system") else "assistant"
        return {"role": role, "content": message["content"]}
    texts = iter([part["text"] for part in parts if part["type"] == "text"])

    def put(value: Any, _field: str) -> Any:
        return next(texts, "") if isinstance(value, dict) else value

    item: Dict[str, Any] = _map_leaves(held, put)
    return item


def _map_leaves(value: Any, change: Callable[[Any, str], Any], field: str = "", depth: int = 0) -> Any:
    """Copies a value with other leaves. `field` is the nearest name above a leaf."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"an item may be nested {_MAX_DEPTH} levels deep")
    if isinstance(value, (list, tuple)):
        return [_map_leaves(one, change, field, depth + 1) for one in value]
    if isinstance(value, Mapping) and _TAKEN not in value:
        return {name: _map_leaves(one, change, str(name), depth + 1) for name, one in value.items()}
    return change(value, field)


def _without_half_pairs(items: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """An erasure may have taken a call of a tool or its result, and the API refuses half of a pair. The newest call may wait."""
    calls = {item.get("call_id") for item in items if str(item.get("type")).endswith("_call")}
    results = {item.get("call_id") for item in items if str(item.get("type")).endswith("_output")}
    last = max((i for i, item in enumerate(items) if not str(item.get("type")).endswith(("_call", "_output"))), default=-1)

    def is_whole(i: int, item: Dict[str, Any]) -> bool:
        kind, call = str(item.get("type")), item.get("call_id")
        if call is None:
            return True
        if kind.endswith("_output"):
            return call in calls
        return not kind.endswith("_call") or call in results or i > last

    return [item for i, item in enumerate(items) if is_whole(i, item)]
