"""The client against a real server. `KEEPSAKE_TEST_URL` and `KEEPSAKE_TEST_KEY` say where; test/clients/run.ts sets them."""

from __future__ import annotations

import asyncio
import os
import re
import uuid
from pathlib import Path
from typing import Any, Iterator, List

import httpx
import pytest

from keepsake_client import (
    AsyncKeepsake,
    AuthenticationError,
    ConflictError,
    InvalidInputError,
    Keepsake,
    KeepsakeConnectionError,
    KeepsakeError,
    NotFoundError,
)

URL = os.environ["KEEPSAKE_TEST_URL"]
KEY = os.environ["KEEPSAKE_TEST_KEY"]


@pytest.fixture
def keepsake() -> Iterator[Keepsake]:
    with Keepsake(URL, KEY, f"python-{uuid.uuid4()}", retries=1) as client:
        yield client


def test_what_is_remembered_is_recalled_and_answered(keepsake: Keepsake) -> None:
    receipt = keepsake.remember("I work at Acme and I use Figma.", session="s1")
    assert receipt["memories"]
    assert any("Figma" in item["text"] for item in keepsake.recall("Which tools do I use?", limit=3)["items"])
    assert "Figma" in keepsake.context("Which tools do I use?", max_tokens=500)["text"]
    assert "Figma" in keepsake.answer("Which tools do I use?", session="s2")["reply"]


def test_messages_with_roles_are_stored_whole(keepsake: Keepsake) -> None:
    keepsake.remember(
        [{"role": "user", "content": "My dog is called Bello."}, {"role": "assistant", "content": "Noted."}]
    )
    roles = [line["message"]["role"] for line in keepsake.export() if line["type"] == "message"]
    assert roles == ["user", "assistant"]


def test_a_memory_is_edited_and_the_change_undone(keepsake: Keepsake) -> None:
    made = keepsake.memories.add("You use Figma.", metadata={"source": "form"})
    assert keepsake.memories.get(made["id"])["metadata"] == {"source": "form"}
    edited = keepsake.memories.edit(made["id"], content="You use Sketch.")
    assert edited["text"] == "You use Sketch."
    assert [one["text"] for one in keepsake.memories.history(made["id"])] == ["You use Figma.", "You use Sketch."]
    keepsake.undo(keepsake.history(limit=1)["items"][0]["revision"])
    assert keepsake.memories.get(made["id"])["text"] == "You use Figma."


def test_all_goes_through_every_page(keepsake: Keepsake) -> None:
    for name in ("Figma", "Sketch", "Penpot"):
        keepsake.memories.add(f"You use {name}.")
    assert len(keepsake.memories.list(limit=2)["items"]) == 2
    assert len({memory["id"] for memory in keepsake.memories.all(limit=2)}) == 3


def test_a_clean_up_shows_what_it_would_archive_and_refuses_wrong_limits(keepsake: Keepsake) -> None:
    for text in ("You do not eat meat.", "You do not eat meat!"):
        keepsake.memories.add(text)
    shown = keepsake.memories.cleanup_old_memories(max_age_days=30, min_importance=0.3, dry_run=True)
    assert (shown["dry_run"], [job["name"] for job in shown["jobs"]][-1]) == (True, "clean-up")
    with pytest.raises(InvalidInputError):
        keepsake.memories.cleanup_old_memories(min_importance=2)
    assert keepsake.memories.cleanup_old_memories()["dry_run"] is False


def test_an_agent_reads_what_was_said_to_it(keepsake: Keepsake) -> None:
    with Keepsake(URL, KEY, keepsake.user, agent="cook") as cook, Keepsake(URL, KEY, keepsake.user, agent="coach") as coach:
        cook.remember("I use Figma.")
        assert [memory["agent"] for memory in cook.memories.all()] == ["cook"]
        assert list(coach.memories.all()) == []
    assert len(list(keepsake.memories.all())) == 1


def test_changes_go_on_after_the_last_one_seen(keepsake: Keepsake) -> None:
    for name in ("Figma", "Sketch", "Penpot"):
        keepsake.memories.add(f"You use {name}.")
    first = keepsake.changes(limit=2)
    assert ([one["revision"] for one in first["items"]], first["more"]) == ([1, 2], True)
    assert [one["revision"] for one in keepsake.changes(after=first["after"])["items"]] == [3]


def test_a_plan_takes_nothing_and_its_erasure_takes_what_it_showed(keepsake: Keepsake) -> None:
    made = keepsake.memories.add("You use Figma.")
    plan = keepsake.plan_forget(ids=[made["id"]])
    assert keepsake.memories.get(made["id"])["text"] == "You use Figma."
    receipt = keepsake.forget(plan)
    assert receipt["erased"]["memories"] == 1
    assert keepsake.receipt(receipt["id"])["id"] == receipt["id"]
    with pytest.raises(NotFoundError) as raised:
        keepsake.memories.get(made["id"])
    assert (raised.value.code, raised.value.status) == ("not_found", 404)
    assert raised.value.request_id


def test_an_erasure_of_nothing_named_is_refused_before_it_is_sent(keepsake: Keepsake) -> None:
    with pytest.raises(ValueError):
        keepsake.forget()


def test_wrong_input_names_the_field(keepsake: Keepsake) -> None:
    with pytest.raises(InvalidInputError) as raised:
        keepsake.memories.add("You use Figma.", confidence=7)
    assert raised.value.code == "invalid_input"
    assert [one["field"] for one in raised.value.errors] == ["confidence"]


def test_an_unknown_key_is_refused() -> None:
    with Keepsake(URL, "ks_0_unknown", "anybody") as client, pytest.raises(AuthenticationError):
        client.memories.list()


def test_another_request_under_the_same_key_is_a_conflict(keepsake: Keepsake) -> None:
    first = keepsake.remember("I use Figma.", idempotency_key="one")
    assert keepsake.remember("I use Figma.", idempotency_key="one") == first
    with pytest.raises(ConflictError):
        keepsake.remember("I use Sketch.", idempotency_key="one")


def test_nobody_there_is_an_error_with_a_code() -> None:
    with Keepsake("http://127.0.0.1:9", KEY, "anybody", retries=0) as client:
        with pytest.raises(KeepsakeConnectionError) as raised:
            client.memories.list()
    assert raised.value.code == "unavailable"


class LosesAnswers(httpx.BaseTransport):
    """Passes requests on to the real server and loses the first answers."""

    def __init__(self, lost: int) -> None:
        self.lost = lost
        self.keys: List[str | None] = []
        self.real = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers.get("idempotency-key"))
        response = self.real.handle_request(request)
        if len(self.keys) <= self.lost:
            response.read()
            raise httpx.ReadError("the connection was lost", request=request)
        return response


def client_with(transport: httpx.BaseTransport, retries: int) -> Keepsake:
    http = httpx.Client(base_url=URL, headers={"authorization": f"Bearer {KEY}"}, transport=transport)
    return Keepsake(URL, KEY, f"python-{uuid.uuid4()}", retries=retries, http=http)


def test_a_write_whose_answer_was_lost_is_carried_out_once() -> None:
    transport = LosesAnswers(lost=1)
    with client_with(transport, 2) as client:
        client.remember("I use Figma.")
        assert len(transport.keys) == 2
        assert transport.keys[0] is not None and transport.keys[0] == transport.keys[1]
        assert len(client.history()["items"]) == 1


def test_retries_end() -> None:
    transport = LosesAnswers(lost=9)
    with client_with(transport, 1) as client, pytest.raises(KeepsakeError):
        client.remember("I use Figma.")
    assert len(transport.keys) == 2


def test_the_asynchronous_client_does_the_same() -> None:
    async def run() -> None:
        async with AsyncKeepsake(URL, KEY, f"python-{uuid.uuid4()}") as keepsake:
            await keepsake.remember("I use Figma.")
            made = await keepsake.memories.add("You use Sketch.")
            assert (await keepsake.memories.edit(made["id"], importance=0.9))["importance"] == 0.9
            assert len([memory async for memory in keepsake.memories.all(limit=1)]) == 2
            lines: List[Any] = [line async for line in keepsake.export()]
            assert lines
            answered = await asyncio.gather(*(keepsake.recall("Which tools do I use?") for _ in range(5)))
            assert all(one["items"] for one in answered)
            receipt = await keepsake.forget(await keepsake.plan_forget(everything=True))
            assert receipt["complete"]
            assert [memory async for memory in keepsake.memories.all()] == []
            with pytest.raises(NotFoundError):
                await keepsake.memories.get(made["id"])

    asyncio.run(run())


def test_the_programs_on_the_page_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[3] / "docs" / "python.md"
    blocks = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", page.read_text("utf8"), re.M | re.S)
    assert len(blocks) == 2
    monkeypatch.setenv("KEEPSAKE_URL", URL)
    monkeypatch.setenv("KEEPSAKE_API_KEY", KEY)
    for program, printed in blocks:
        exec(compile(program.replace('"maria"', f'"maria-{uuid.uuid4()}"'), str(page), "exec"), {"__name__": "page"})
        assert capsys.readouterr().out == printed
