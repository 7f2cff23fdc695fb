import { Agent } from "@mastra/core/agent";
import { RequestContext } from "@mastra/core/request-context";
import { createTool } from "@mastra/core/tools";
import { simulateReadableStream } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import * as z from "zod";
import { createMemoryProcessor } from "../../src/adapters/mastra/index.ts";
import { createMemory, type Keepsake } from "../../src/index.ts";
import { type FrameworkCheck, showStory } from "./framework-check.ts";

process.env.MASTRA_TELEMETRY_DISABLED = "1";

type AgentModel = Exclude<ConstructorParameters<typeof Agent>[0]["model"], readonly unknown[]>;

const REPLY = "All right.";
/** Enough for a busy machine. */
const timeoutMs = 60_000;
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const STOP = { unified: "stop" as const, raw: "stop" };
const CALLS = { unified: "tool-calls" as const, raw: "tool_calls" };

/** A real agent, whose user comes from the request's context. `prompts` gets what its model is sent. */
function agentOf(memory: Keepsake, prompts: string[]): Agent {
  const answer = (prompt: readonly { readonly role: string }[]) => {
    prompts.push(JSON.stringify(prompt));
    const asksTool = prompts.at(-1)?.includes("weather today") && prompt.at(-1)?.role === "user";
    return asksTool
      ? { type: "tool-call" as const, toolCallId: "c1", toolName: "weather", input: '{"city":"Porto"}' }
      : { type: "text" as const, text: REPLY };
  };
  const model = new MockLanguageModelV4({
    async doGenerate({ prompt }) {
      const part = answer(prompt);
      return {
        content: [part],
        finishReason: part.type === "text" ? STOP : CALLS,
        usage,
        warnings: [],
      };
    },
    async doStream({ prompt }) {
      const part = answer(prompt);
      const deltas = ["All ", "right."].map((delta) => ({ type: "text-delta" as const, id: "1", delta }));
      const parts =
        part.type === "text"
          ? [{ type: "text-start" as const, id: "1" }, ...deltas, { type: "text-end" as const, id: "1" }]
          : [part];
      const finishReason = part.type === "text" ? STOP : CALLS;
      const start = { type: "stream-start" as const, warnings: [] };
      return {
        stream: simulateReadableStream({
          chunks: [start, ...parts, { type: "finish" as const, finishReason, usage }],
        }),
      };
    },
  });
  const processors = ({ requestContext }: { requestContext: RequestContext }) => {
    const user = String(requestContext.get("user"));
    const session = String(requestContext.get("session"));
    return [createMemoryProcessor(memory.scope({ user }), { session, timeoutMs })];
  };
  const weather = createTool({
    id: "weather",
    description: "The weather in a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async () => "sunny",
  });
  return new Agent({
    id: "helper",
    name: "Helper",
    instructions: "You help a person.",
    // The mock promises more than Mastra's type for models allows.
    model: model as unknown as AgentModel,
    tools: { weather },
    inputProcessors: processors,
    outputProcessors: processors,
  });
}

/** Tells, asks in another conversation, uses a tool, and forgets. Each problem is a sentence. */
async function twoConversations(stream: boolean): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:" });
  const ana = memory.scope({ user: "ana" });
  const prompts: string[] = [];
  const agent = agentOf(memory, prompts);
  const say = async (text: string, session: string, user = "ana"): Promise<string> => {
    const requestContext = new RequestContext();
    requestContext.set("user", user);
    requestContext.set("session", session);
    if (!stream) return (await agent.generate(text, { requestContext })).text;
    let said = "";
    for await (const part of (await agent.stream(text, { requestContext })).textStream) said += part;
    return said;
  };
  const stored = async (session: string): Promise<string> =>
    (await ana.session(session)).items.map(({ role, content }) => `${role}: ${content}`).join("|");
  const problems: string[] = [];
  const check = (holds: boolean | undefined, problem: string): void => void (holds || problems.push(problem));
  check((await say("I use Shram and Magnet as productivity tools.", "one")) === REPLY, "another answer");
  const one = await stored("one");
  check(
    one === `user: I use Shram and Magnet as productivity tools.|assistant: ${REPLY}`,
    `stored is ${one}`,
  );
  await say("Which productivity tools do I use?", "two");
  check(prompts.at(-1)?.includes("Magnet"), "the second conversation was not given the memory");
  await say("Which productivity tools do I use?", "bens", "ben");
  check(!prompts.at(-1)?.includes("Magnet"), "another user was given the memory");
  check((await say("I am in Porto. What is the weather today?", "tool")) === REPLY, "no answer after a tool");
  check((await ana.session("tool")).items.length === 2, "a turn with a tool was not stored once");
  await say("Forget that I ever mentioned Magnet.", "three");
  check(
    prompts.at(-1)?.split("Magnet").length === 2,
    "the request to forget was not carried out before the model was called",
  );
  await say("Which productivity tools do I use?", "four");
  check(prompts.at(-1)?.includes("Shram"), "what stays was not given");
  check(!prompts.at(-1)?.includes("Magnet"), "the erasure did not reach what came in through the processor");
  check((await ana.erasures())[0]?.complete === true, "the erasure is not complete");
  return problems;
}

/** The processor for Mastra, with a real agent. */
export const mastraChecks: readonly FrameworkCheck[] = [false, true].map((stream) => ({
  name: `Mastra, processor${stream ? ", streaming" : ""}`,
  shows: showStory("Mastra", stream),
  run: () => twoConversations(stream),
}));
