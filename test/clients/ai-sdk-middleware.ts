import { generateText, simulateReadableStream, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { generateText as generateText5, streamText as streamText5, wrapLanguageModel as wrap5 } from "ai-5";
import { MockLanguageModelV2 } from "ai-5/test";
import { generateText as generateText6, streamText as streamText6, wrapLanguageModel as wrap6 } from "ai-6";
import { MockLanguageModelV3 } from "ai-6/test";
import * as z from "zod";
import { createMemoryMiddleware } from "../../src/adapters/ai-sdk/index.ts";
import { createMemory, type ScopedMemory } from "../../src/index.ts";
import { type FrameworkCheck, showStory } from "./framework-check.ts";

/** A conversation with a model: gives its answer. */
type Say = (text: string, session: string) => Promise<string>;

const REPLY = "All right.";
/** Enough for a busy machine. */
const timeoutMs = 60_000;
const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const USAGE_BY_KIND = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const STOP = { unified: "stop" as const, raw: "stop" };
const TEXT = [
  { type: "text-start" as const, id: "1" },
  { type: "text-delta" as const, id: "1", delta: "All " },
  { type: "text-delta" as const, id: "1", delta: "right." },
  { type: "text-end" as const, id: "1" },
];
const start = { type: "stream-start" as const, warnings: [] };

/** What the models were sent, the newest last. */
const prompts: string[] = [];
const note = ({ prompt }: { readonly prompt: unknown }): void => {
  prompts.push(JSON.stringify(prompt));
};

async function join(parts: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const part of parts) text += part;
  return text;
}

function sdk7(memory: ScopedMemory, stream: boolean): Say {
  const content = [{ type: "text" as const, text: REPLY }];
  const model = new MockLanguageModelV4({
    async doGenerate(call) {
      note(call);
      return { content, finishReason: STOP, usage: USAGE_BY_KIND, warnings: [] };
    },
    async doStream(call) {
      note(call);
      const finish = { type: "finish" as const, finishReason: STOP, usage: USAGE_BY_KIND };
      return { stream: simulateReadableStream({ chunks: [start, ...TEXT, finish] }) };
    },
  });
  return async (prompt, session) => {
    const asked = {
      model: wrapLanguageModel({ model, middleware: createMemoryMiddleware(memory, { timeoutMs, session }) }),
      prompt,
    };
    return stream ? join(streamText(asked).textStream) : (await generateText(asked)).text;
  };
}

function sdk6(memory: ScopedMemory, stream: boolean): Say {
  const content = [{ type: "text" as const, text: REPLY }];
  const model = new MockLanguageModelV3({
    async doGenerate(call) {
      note(call);
      return { content, finishReason: STOP, usage: USAGE_BY_KIND, warnings: [] };
    },
    async doStream(call) {
      note(call);
      const finish = { type: "finish" as const, finishReason: STOP, usage: USAGE_BY_KIND };
      return { stream: simulateReadableStream({ chunks: [start, ...TEXT, finish] }) };
    },
  });
  return async (prompt, session) => {
    const middleware = createMemoryMiddleware(memory, { timeoutMs, session, specificationVersion: "v3" });
    const asked = { model: wrap6({ model, middleware }), prompt };
    return stream ? join(streamText6(asked).textStream) : (await generateText6(asked)).text;
  };
}

function sdk5(memory: ScopedMemory, stream: boolean): Say {
  const content = [{ type: "text" as const, text: REPLY }];
  const model = new MockLanguageModelV2({
    async doGenerate(call) {
      note(call);
      return { content, finishReason: "stop", usage: USAGE, warnings: [] };
    },
    async doStream(call) {
      note(call);
      const finish = { type: "finish" as const, finishReason: "stop" as const, usage: USAGE };
      return { stream: simulateReadableStream({ chunks: [start, ...TEXT, finish] }) };
    },
  });
  return async (prompt, session) => {
    const middleware = createMemoryMiddleware(memory, { timeoutMs, session, specificationVersion: "v2" });
    const asked = { model: wrap5({ model, middleware }), prompt };
    return stream ? join(streamText5(asked).textStream) : (await generateText5(asked)).text;
  };
}

/** Tells, asks in another conversation, and forgets. Each problem is a sentence. */
async function twoConversations(say: Say, memory: ScopedMemory): Promise<string[]> {
  const problems: string[] = [];
  const check = (holds: boolean, problem: string): void => void (holds || problems.push(problem));
  check(
    (await say("I use Shram and Magnet as productivity tools.", "one")) === REPLY,
    "the answer is another",
  );
  await say("Which productivity tools do I use?", "two");
  check(prompts.at(-1)?.includes("Magnet") === true, "the second conversation was not given the memory");
  await say("Forget that I ever mentioned Magnet.", "three");
  const asking = prompts.at(-1) ?? "";
  check(
    asking.split("Magnet").length === 2,
    "the request to forget was not carried out before the model was called",
  );
  await say("Which productivity tools do I use?", "four");
  check(prompts.at(-1)?.includes("Shram") === true, "what stays was not given");
  check(
    prompts.at(-1)?.includes("Magnet") === false,
    "the erasure did not reach what came in through the SDK",
  );
  check((await memory.erasures())[0]?.complete === true, "the erasure is not complete");
  return problems;
}

/** A turn with a tool: two calls of the model, and one message that is stored. */
async function turnWithTool(memory: ScopedMemory): Promise<string[]> {
  let calls = 0;
  const model = new MockLanguageModelV4({
    async doGenerate(call) {
      note(call);
      calls += 1;
      const ask = {
        type: "tool-call" as const,
        toolCallId: "1",
        toolName: "weather",
        input: '{"city":"Porto"}',
      };
      return {
        content: calls === 1 ? [ask] : [{ type: "text" as const, text: REPLY }],
        finishReason: calls === 1 ? { unified: "tool-calls" as const, raw: "tool_calls" } : STOP,
        usage: USAGE_BY_KIND,
        warnings: [],
      };
    },
  });
  await memory.remember("I live in Porto.", { session: "before" });
  const { text } = await generateText({
    model: wrapLanguageModel({
      model,
      middleware: createMemoryMiddleware(memory, { timeoutMs, session: "tools" }),
    }),
    prompt: "What is the weather where I live?",
    stopWhen: stepCountIs(3),
    tools: { weather: tool({ inputSchema: z.object({ city: z.string() }), execute: () => "sunny" }) },
  });
  const { items } = await memory.session("tools");
  const isGiven = prompts.slice(-2).every((prompt) => prompt.includes("I live in Porto"));
  return [
    ...(text === REPLY && calls === 2 ? [] : [`the answer after ${calls} calls: ${text}`]),
    ...(isGiven ? [] : ["a call was not given the memory"]),
    ...(items.length === 1 ? [] : [`${items.length} messages are stored, not one`]),
  ];
}

/** The middleware for the AI SDK, with the three versions of its specification. */
export const aiSdkMiddlewareChecks: readonly FrameworkCheck[] = [
  ...[
    { name: "AI SDK 7 (v4)", sdk: sdk7 },
    { name: "AI SDK 6 (v3)", sdk: sdk6 },
    { name: "AI SDK 5 (v2)", sdk: sdk5 },
  ].flatMap(({ name, sdk }) =>
    [false, true].map((stream) => ({
      name: `${name}, middleware${stream ? ", streaming" : ""}`,
      shows: showStory("AI SDK", stream),
      async run() {
        await using memory = await createMemory({ path: ":memory:" });
        const ana = memory.scope({ user: "ana" });
        return await twoConversations(sdk(ana, stream), ana);
      },
    })),
  ),
  {
    name: "AI SDK 7 (v4), middleware, a turn with a tool",
    async run() {
      await using memory = await createMemory({ path: ":memory:" });
      return await turnWithTool(memory.scope({ user: "ana" }));
    },
  },
];
