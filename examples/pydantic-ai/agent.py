"""An agent of Pydantic AI with a memory over MCP: two conversations, and an erasure that the user confirms."""

import asyncio
import os

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset

# The key is for one user, so the model cannot name another.
memory = MCPToolset(
    f"{os.environ['KEEPSAKE_URL']}/mcp",
    headers={"Authorization": f"Bearer {os.environ['KEEPSAKE_API_KEY']}"},
)
agent = Agent(
    "openai-chat:gpt-4o-mini",
    toolsets=[memory],
    instructions="You help a person. Store what they say about themselves, and look up what you do not know about them.",
)


async def main() -> None:
    async with agent:
        # One conversation: the model stores what it is told.
        told = await agent.run("I use Shram and Magnet as productivity tools.")
        print(told.output)

        # Another conversation, streamed: it begins without history.
        async with agent.run_stream("Which productivity tools do I use?") as streamed:
            async for part in streamed.stream_text(delta=True):
                print(part, end="")
        print()

        # A third one: the model shows what would go, and the user agrees.
        plan = await agent.run("Forget Magnet.")
        print(plan.output)
        done = await agent.run("Yes, erase it.", message_history=plan.all_messages())
        print(done.output)

        again = await agent.run("Which productivity tools do I use?")
        print(again.output)


asyncio.run(main())

# Prints, with a model that says little:
# I have noted that.
# You use Shram and Magnet.
# This would be erased. Shall I?
# It is erased.
# You use Shram.
