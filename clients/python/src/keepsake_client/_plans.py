"""What an erasure selects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Mapping

from . import _generated as api


@dataclass(frozen=True)
class ForgetPlan:
    """What an erasure would take."""

    selection: Mapping[str, Any]
    details: api.ErasurePlan


def select(user: str, selection: Mapping[str, Any]) -> Dict[str, Any]:
    """The body of an erasure. An empty selection is refused here, before anything is sent."""
    if not any(value is not None for value in selection.values()):
        raise ValueError("say what to forget: about, ids, session_id, from_, to, topic, where or everything")
    fields = {"from" if name == "from_" else name: value for name, value in selection.items()}
    return {"user_id": user, **fields}
