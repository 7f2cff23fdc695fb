"""The story, told through the Python clients: openai, langchain-openai and anthropic. The environment names the server and the key."""

import json
import re
import sys

MODEL = "gpt-4o-mini"
QUESTION = "What are the productivity tools that I use?"
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def weather_in(city):
    return f"sunny in {city}"


class OpenAIChat:
    def __init__(self, stream):
        from openai import OpenAI

        self.client, self.stream = OpenAI(), stream
        self.tools = [{"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}]

    def answer(self, messages, **more):
        chat = self.client.chat.completions
        if not self.stream:
            return chat.create(model=MODEL, messages=messages, **more).choices[0].message
        with chat.stream(model=MODEL, messages=messages, **more) as stream:
            return stream.get_final_completion().choices[0].message

    def say(self, lines):
        return self.answer(lines).content

    def ask(self, question):
        messages = [{"role": "user", "content": question}]
        asked = self.answer(messages, tools=self.tools)
        call = asked.tool_calls[0]
        city = json.loads(call.function.arguments)["city"]
        calls = [{"id": call.id, "type": "function", "function": {"name": "weather", "arguments": call.function.arguments}}]
        messages.append({"role": "assistant", "content": asked.content, "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": call.id, "content": weather_in(city)})
        return city, self.answer(messages, tools=self.tools).content


class OpenAIResponses:
    def __init__(self, stream):
        from openai import OpenAI

        # Within a conversation it goes on from the response before, which takes a key of its own.
        own = {"x-keepsake-upstream-key": "sk-upstream"}
        self.client, self.stream, self.before = OpenAI(default_headers=own), stream, None
        self.tools = [{"type": "function", "name": "weather", "parameters": PARAMETERS, "strict": True}]

    def answer(self, given, **more):
        if not self.stream:
            return self.client.responses.create(model=MODEL, input=given, **more)
        with self.client.responses.stream(model=MODEL, input=given, **more) as stream:
            return stream.get_final_response()

    def say(self, lines):
        on = {"previous_response_id": self.before} if len(lines) > 1 else {}
        response = self.answer(lines[-1]["content"], **on)
        self.before = response.id
        return response.output_text

    def ask(self, question):
        asked = self.answer(question, tools=self.tools)
        call = next(item for item in asked.output if item.type == "function_call")
        city = json.loads(call.arguments)["city"]
        output = {"type": "function_call_output", "call_id": call.call_id, "output": weather_in(city)}
        return city, self.answer([output], tools=self.tools, previous_response_id=asked.id).output_text


class StoredResponses(OpenAIResponses):
    """The server keeps the turns, in a conversation or in a chain of responses."""

    def __init__(self, stream, way):
        from openai import OpenAI

        super().__init__(stream)
        self.client, self.way = OpenAI(), way

    def begin(self):
        return {"conversation": self.client.conversations.create().id} if self.way == "conversation" else {}

    def go_on(self, on, response):
        return on if self.way == "conversation" else {"previous_response_id": response.id}

    def say(self, lines):
        on = self.before if len(lines) > 1 else self.begin()
        response = self.answer(lines[-1]["content"], **on)
        self.before = self.go_on(on, response)
        return response.output_text

    def ask(self, question):
        on = self.begin()
        asked = self.answer(question, tools=self.tools, **on)
        call = next(item for item in asked.output if item.type == "function_call")
        city = json.loads(call.arguments)["city"]
        output = {"type": "function_call_output", "call_id": call.call_id, "output": weather_in(city)}
        return city, self.answer([output], tools=self.tools, **self.go_on(on, asked)).output_text


class AgentsConversations:
    """An agent of OpenAI's SDK with its own OpenAIConversationsSession, unmodified."""

    def __init__(self, stream):
        import asyncio

        from agents import set_tracing_disabled

        set_tracing_disabled(True)
        self.stream, self.before, self.loop = stream, None, asyncio.new_event_loop()

    async def run(self, words, session, tools):
        from agents import Agent, OpenAIResponsesModel, Runner
        from openai import AsyncOpenAI

        agent = Agent(name="Helper", model=OpenAIResponsesModel(model=MODEL, openai_client=AsyncOpenAI()), tools=tools)
        if not self.stream:
            return (await Runner.run(agent, words, session=session)).final_output
        result = Runner.run_streamed(agent, words, session=session)
        async for _event in result.stream_events():
            pass
        return result.final_output

    def answer(self, words, session, tools=()):
        return self.loop.run_until_complete(self.run(words, session, list(tools)))

    def say(self, lines):
        from agents import OpenAIConversationsSession

        session = self.before if len(lines) > 1 else OpenAIConversationsSession()
        self.before = session
        return self.answer(lines[-1]["content"], session)

    def ask(self, question):
        from agents import OpenAIConversationsSession, function_tool

        cities = []

        @function_tool
        def weather(city: str) -> str:
            """The weather in a city."""
            cities.append(city)
            return weather_in(city)

        session = OpenAIConversationsSession()
        text = self.answer(question, session, [weather])
        items = self.loop.run_until_complete(session.get_items())
        expect("the items of the session", " ".join(item["type"] for item in items), "^message function_call function_call_output message$")
        self.loop.run_until_complete(session.clear_session())
        return cities[0], text


class AnthropicMessages:
    def __init__(self, stream):
        from anthropic import Anthropic

        self.client, self.stream = Anthropic(), stream
        self.tools = [{"name": "weather", "input_schema": PARAMETERS}]

    def answer(self, messages, **more):
        asked = {"model": "claude-haiku-4-5", "max_tokens": 200, "messages": messages, **more}
        if not self.stream:
            return self.client.messages.create(**asked)
        with self.client.messages.stream(**asked) as stream:
            return stream.get_final_message()

    def text(self, message):
        return "".join(block.text for block in message.content if block.type == "text")

    def say(self, lines):
        return self.text(self.answer(lines))

    def ask(self, question):
        messages = [{"role": "user", "content": question}]
        asked = self.answer(messages, tools=self.tools)
        call = next(block for block in asked.content if block.type == "tool_use")
        city = call.input["city"]
        result = {"type": "tool_result", "tool_use_id": call.id, "content": weather_in(city)}
        messages += [{"role": "assistant", "content": asked.content}, {"role": "user", "content": [result]}]
        return city, self.text(self.answer(messages, tools=self.tools))


class LangChain:
    def __init__(self, stream, use_responses_api):
        from langchain_openai import ChatOpenAI

        self.model, self.stream = ChatOpenAI(model=MODEL, use_responses_api=use_responses_api), stream

    def answer(self, model, messages):
        if not self.stream:
            return model.invoke(messages)
        whole = None
        for part in model.stream(messages):
            whole = part if whole is None else whole + part
        return whole

    def text(self, message):
        return message.text if isinstance(message.text, str) else message.text()

    def say(self, lines):
        return self.text(self.answer(self.model, [(line["role"], line["content"]) for line in lines]))

    def ask(self, question):
        from langchain_core.messages import HumanMessage, ToolMessage

        def weather(city: str) -> str:
            """The weather in a city."""
            return weather_in(city)

        model = self.model.bind_tools([weather])
        messages = [HumanMessage(question)]
        asked = self.answer(model, messages)
        call = asked.tool_calls[0]
        city = call["args"]["city"]
        messages += [asked, ToolMessage(weather_in(city), tool_call_id=call["id"])]
        return city, self.text(self.answer(model, messages))


def expect(what, got, wanted):
    if not re.search(wanted, got or ""):
        sys.exit(f"{what}: {got!r} is not {wanted}")


def story(talker):
    told = [{"role": "user", "content": "I use Shram and Magnet as productivity tools."}]
    told.append({"role": "assistant", "content": talker.say(told)})
    told.append({"role": "user", "content": "I live in Porto."})
    expect("the second turn", talker.say(told), r"^All right\.$")

    def alone(words):
        return talker.say([{"role": "user", "content": words}])

    expect("asked in another conversation", alone(QUESTION), r"^You use Shram and Magnet\.$")
    alone("I don't use Magnet anymore.")
    expect("asked after the change", alone(QUESTION), r"^You use Shram\.$")
    city, text = talker.ask("What is the weather where I live?")
    expect("the tool's argument", city, "^Porto$")
    expect("the answer after the tool", text, "^The tool says: .*sunny in Porto")
    alone("Forget that I ever mentioned Magnet.")
    expect("asked after the forgetting", alone(QUESTION), r"^You use Shram\.$")


WAYS = {
    "openai-chat": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "openai-conversation": lambda stream: StoredResponses(stream, "conversation"),
    "openai-chain": lambda stream: StoredResponses(stream, "chain"),
    "openai-agents": AgentsConversations,
    "anthropic": AnthropicMessages,
    "langchain-chat": lambda stream: LangChain(stream, False),
    "langchain-responses": lambda stream: LangChain(stream, True),
}

_, way, mode = sys.argv
story(WAYS[way](mode == "streaming"))
