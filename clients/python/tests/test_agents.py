"""The session with the OpenAI Agents SDK itself, and a model that notes what it is sent."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from pathlib import Path
from typing import Any, AsyncIterator, List

import pytest
from agents import Agent, ModelResponse, Runner, Session, Usage, function_tool, set_tracing_disabled
from agents.models.interface import Model
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseOutputText,
)

from keepsake_client import AsyncKeepsake
from keepsake_client.agents import KeepsakeSession
from test_client import KEY, URL

set_tracing_disabled(True)


class NotingModel(Model):
    """Says "All right.", after a call of the tool if it is asked for the weather."""

    def __init__(self) -> None:
        self.sent: List[str] = []

    def answer(self, given: Any) -> List[ResponseOutputItem]:
        self.sent.append(json.dumps(given))
        items: List[Any] = given if isinstance(given, list) else []
        if items and "weather" in json.dumps(items[-1]) and items[-1].get("role") == "user":
            arguments = '{"city":"Porto"}'
            return [ResponseFunctionToolCall(type="function_call", call_id="c1", name="weather", arguments=arguments)]
        text = ResponseOutputText(type="output_text", text="All right.", annotations=[])
        return [ResponseOutputMessage(id="m1", type="message", role="assistant", status="completed", content=[text])]

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        return ModelResponse(output=self.answer(input), usage=Usage(), response_id=None)

    async def stream_response(
        self, system_instructions: Any, input: Any, *_: Any, **__: Any
    ) -> AsyncIterator[ResponseCompletedEvent]:
        response = Response(
            id="r1",
            created_at=0,
            model="noting",
            object="response",
            output=self.answer(input),
            parallel_tool_calls=False,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=0)


@function_tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


@pytest.mark.parametrize("stream", [False, True])
def test_a_session_keeps_a_conversation_and_an_erasure_reaches_it(stream: bool) -> None:
    async def run() -> None:
        model = NotingModel()

        async def say(text: str, session: Session) -> None:
            async with AsyncKeepsake(URL, KEY, user) as fresh:
                known = (await fresh.context(text))["text"]
            agent = Agent(name="Helper", instructions=known, model=model, tools=[weather])
            if not stream:
                assert (await Runner.run(agent, text, session=session)).final_output == "All right."
                return
            streamed = Runner.run_streamed(agent, text, session=session)
            async for _ in streamed.stream_events():
                pass
            assert streamed.final_output == "All right."

        user = f"agents-{uuid.uuid4()}"
        async with AsyncKeepsake(URL, KEY, user) as keepsake:
            one, two = KeepsakeSession(keepsake, "one"), KeepsakeSession(keepsake)
            assert isinstance(one, Session)
            assert await one.get_items() == [] and await one.pop_item() is None
            await one.clear_session()
            await say("I use Shram and Magnet as productivity tools.", one)
            await say("What is the weather?", one)
            assert "I use Shram and Magnet" in model.sent[-1]
            kinds = [item.get("type", item.get("role")) for item in await one.get_items()]
            assert kinds == ["user", "message", "user", "function_call", "function_call_output", "message"]
            assert (await one.get_items(2))[1]["content"][0]["text"] == "All right."
            await say("Hello.", two)
            assert "Magnet" in (await keepsake.answer("Which productivity tools do I use?"))["reply"]
            assert (await keepsake.forget(about="Magnet"))["complete"]
            await say("And now?", one)
            assert "Shram" in model.sent[-1] and "Magnet" not in model.sent[-1]
            popped = await two.pop_item()
            assert popped["type"] == "message" and len(await two.get_items()) == 1
            await one.clear_session()
            assert await one.get_items() == [] and len(await two.get_items()) == 1

    asyncio.run(run())


def test_half_of_a_call_that_was_erased_is_left_out() -> None:
    async def run() -> None:
        async with AsyncKeepsake(URL, KEY, f"agents-{uuid.uuid4()}") as keepsake:
            session = KeepsakeSession(keepsake)
            call = {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"}
            result = {"type": "function_call_output", "call_id": "c1", "output": "Magnet."}
            waiting = {"type": "function_call", "call_id": "c2", "name": "find", "arguments": "{}"}
            hello = {"role": "user", "content": "Hello."}
            await session.add_items([call, result, hello, waiting])
            assert await session.get_items() == [call, result, hello, waiting]
            await keepsake.forget(about="Magnet")
            assert await session.get_items() == [hello, waiting]

    asyncio.run(run())


def test_the_program_on_the_page_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[3] / "docs" / "frameworks.md"
    [program] = re.findall(r"^```python\n(.*?)^```$", page.read_text("utf8"), re.M | re.S)
    monkeypatch.setenv("KEEPSAKE_URL", URL)
    monkeypatch.setenv("KEEPSAKE_API_KEY", KEY)
    with_model = program.replace('"gpt-4o-mini"', "model").replace('"ana"', f'"ana-{uuid.uuid4()}"')
    assert with_model.count("model=model") == 1
    exec(compile(with_model, str(page), "exec"), {"__name__": "page", "model": NotingModel()})
    assert capsys.readouterr().out == "All right.\n"
