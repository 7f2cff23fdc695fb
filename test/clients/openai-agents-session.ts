import {
  Agent,
  type AgentInputItem,
  type AgentOutputItem,
  MemorySession,
  type Model,
  type ModelRequest,
  Runner,
  type Session,
  setTracingDisabled,
  tool,
  Usage,
} from "@openai/agents-core";
import fc from "fast-check";
import * as z from "zod";
import { createAgentSession } from "../../src/adapters/openai-agents/index.ts";
import { createMemory, type ScopedMemory } from "../../src/index.ts";
import { type FrameworkCheck, showStory } from "./framework-check.ts";

setTracingDisabled(true);

const REPLY = "All right.";
const HISTORIES = 100;

/** What the model was sent, the newest last: its instructions and the items. */
const requests: string[] = [];

type Answer = Extract<AgentOutputItem, { role: "assistant" } | { type: "function_call" }>;

function answer(request: ModelRequest): Answer[] {
  requests.push(JSON.stringify([request.systemInstructions, request.input]));
  const items = Array.isArray(request.input) ? request.input : [];
  const last = items.at(-1) as { type?: string; content?: unknown } | undefined;
  if (request.tools.length > 0 && last?.type !== "function_call_result")
    return [
      {
        type: "function_call",
        callId: "c1",
        name: "weather",
        arguments: '{"city":"Porto"}',
        status: "completed",
      },
    ];
  return [
    {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: REPLY }],
    },
  ];
}

const MODEL: Model = {
  getResponse: async (request) => ({ usage: new Usage(), output: answer(request) }),
  async *getStreamedResponse(request) {
    const output = answer(request);
    yield { type: "response_started" };
    for (const delta of ["All ", "right."]) yield { type: "output_text_delta", delta };
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    yield { type: "response_done", response: { id: "r1", usage, output } };
  },
};

async function say(
  text: string,
  session: Session,
  memory: ScopedMemory,
  stream: boolean,
  tools: Agent["tools"] = [],
) {
  const agent = new Agent({
    name: "Helper",
    model: MODEL,
    instructions: async () =>
      `You help a person. What is known about them:\n${(await memory.profile()).text}`,
    tools,
  });
  const runner = new Runner();
  if (!stream) return (await runner.run(agent, text, { session })).finalOutput;
  const result = await runner.run(agent, text, { session, stream: true });
  let said = "";
  for await (const part of result.toTextStream()) said += part;
  await result.completed;
  return said;
}

/** Tells, goes on, asks in another conversation, uses a tool, and forgets. */
async function twoConversations(stream: boolean): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:" });
  const ana = memory.scope({ user: "ana" });
  const [one, two]: Session[] = [
    createAgentSession<AgentInputItem>(ana),
    createAgentSession<AgentInputItem>(ana),
  ];
  const problems: string[] = [];
  const check = (holds: boolean | undefined, problem: string): void => void (holds || problems.push(problem));
  if (!one || !two) return ["there is no session"];
  check(
    (await say("I use Shram and Magnet as productivity tools.", one, ana, stream)) === REPLY,
    "another answer",
  );
  await say("I live in Porto.", one, ana, stream);
  check(requests.at(-1)?.includes("use Shram and Magnet as"), "the second turn was not given the first");
  check((await one.getItems()).length === 4, "the session does not have four items");
  await say("What do you know?", two, ana, stream);
  check(requests.at(-1)?.includes("Magnet"), "the second conversation was not given the memory");
  const weather = tool({
    name: "weather",
    description: "The weather",
    parameters: z.object({ city: z.string() }),
    execute: async () => "sunny",
  });
  await say("What is the weather?", two, ana, stream, [weather]);
  const types = (await two.getItems()).map(({ type }) => type);
  check(
    types.join() === "message,message,message,function_call,function_call_result,message",
    `the items are ${types}`,
  );
  await ana.forget("Magnet");
  await say("And now?", one, ana, stream);
  check(requests.at(-1)?.includes("Shram"), "what stays was not given");
  check(!requests.at(-1)?.includes("Magnet"), "the erasure did not reach what came in through the session");
  await one.clearSession();
  check((await one.getItems()).length === 0, "the session was not cleared");
  return problems;
}

const item: fc.Arbitrary<AgentInputItem> = fc.oneof(
  fc.record({
    type: fc.constant("message" as const),
    role: fc.constant("user" as const),
    content: fc.string(),
  }),
  fc.record({
    type: fc.constant("message" as const),
    role: fc.constant("assistant" as const),
    status: fc.constant("completed" as const),
    content: fc.array(fc.record({ type: fc.constant("output_text" as const), text: fc.string() }), {
      maxLength: 3,
    }),
  }),
  fc.record({
    type: fc.constant("function_call" as const),
    callId: fc.string(),
    name: fc.constantFrom("weather", "search"),
    arguments: fc.json({ maxDepth: 2 }),
  }),
);
type Step =
  | { readonly add: AgentInputItem[] }
  | { readonly call: "pop" | "clear" }
  | { readonly limit: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: fc.array(item, { maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ limit: fc.integer({ min: 0, max: 5 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ call: fc.constantFrom("pop" as const, "pop" as const, "clear" as const) }),
  },
);

async function perform(session: Session, one: Step): Promise<unknown> {
  if ("add" in one) await session.addItems(one.add);
  else if ("limit" in one) return session.getItems(one.limit);
  else if (one.call === "pop") return [await session.popItem()];
  else await session.clearSession();
  return session.getItems();
}

async function sameAsMemorySession(): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:" });
  let histories = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      histories += 1;
      const ours: Session = createAgentSession<AgentInputItem>(
        memory.scope({ user: `history-${histories}` }),
      );
      const theirs = new MemorySession();
      for (const one of steps) {
        const [got, wanted] = [await perform(ours, one), await perform(theirs, one)];
        if (JSON.stringify(got) !== JSON.stringify(wanted))
          throw new Error(
            `${JSON.stringify(one)} gave ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`,
          );
      }
    }),
    { numRuns: HISTORIES },
  );
  return [];
}

/** The session for the OpenAI Agents SDK, with real agents and beside the SDK's own. */
export const openaiAgentsChecks: readonly FrameworkCheck[] = [
  ...[false, true].map((stream) => ({
    name: `OpenAI Agents SDK, session${stream ? ", streaming" : ""}`,
    shows: showStory("OpenAI Agents SDK", stream),
    run: () => twoConversations(stream),
  })),
  {
    name: `OpenAI Agents SDK, session: ${HISTORIES} histories as in MemorySession`,
    run: sameAsMemorySession,
  },
];
