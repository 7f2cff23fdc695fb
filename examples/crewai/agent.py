"""An agent of CrewAI with a memory over MCP: two conversations, and an erasure that the user confirms."""

import os

# Otherwise CrewAI reports how it is used, and asks on the terminal whether it may.
os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

from crewai import LLM, Agent, Crew, Task
from crewai.events.utils.console_formatter import set_suppress_console_output
from crewai.mcp import MCPServerHTTP
from crewai.types.streaming import StreamChunkType

set_suppress_console_output(True)  # Otherwise each step is printed in a frame.

# The key is for one user, so the model cannot name another.
memory = MCPServerHTTP(
    url=f"{os.environ['KEEPSAKE_URL']}/mcp",
    headers={"Authorization": f"Bearer {os.environ['KEEPSAKE_API_KEY']}"},
)
helper = Agent(
    role="Helper",
    goal="Help a person.",
    backstory="You store what they say about themselves, and look up what you do not know about them.",
    llm=LLM(model="openai/gpt-4o-mini"),
    mcps=[memory],
)


def main() -> None:
    # One conversation: the model stores what it is told.
    print(helper.kickoff("I use Shram and Magnet as productivity tools.").raw)

    # Another conversation, as the task of a crew, streamed.
    question = Task(description="Which productivity tools do I use?", expected_output="A short answer.", agent=helper)
    for chunk in Crew(agents=[helper], tasks=[question], stream=True).kickoff():
        if chunk.chunk_type == StreamChunkType.TEXT:
            print(chunk.content, end="")
    print()

    # A third one: the model shows what would go, and the user agrees.
    plan = helper.kickoff("Forget Magnet.")
    print(plan.raw)
    done = helper.kickoff([*plan.messages, {"role": "user", "content": "Yes, erase it."}])
    print(done.raw)

    print(helper.kickoff("Which productivity tools do I use?").raw)


main()

# Prints, with a model that says little:
# I have noted that.
# You use Shram and Magnet.
# This would be erased. Shall I?
# It is erased.
# You use Shram.
