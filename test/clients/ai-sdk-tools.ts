import {
  generateText,
  type ModelMessage,
  simulateReadableStream,
  stepCountIs,
  streamText,
  type ToolSet,
} from "ai";
import { MockLanguageModelV4 } from "ai/test";
import {
  generateText as generateText5,
  type ModelMessage as ModelMessage5,
  stepCountIs as stepCountIs5,
  type ToolSet as ToolSet5,
} from "ai-5";
import { MockLanguageModelV2 } from "ai-5/test";
import {
  generateText as generateText6,
  type ModelMessage as ModelMessage6,
  stepCountIs as stepCountIs6,
} from "ai-6";
import { MockLanguageModelV3 } from "ai-6/test";
import { createMemoryTools, type MemoryTools } from "../../src/adapters/ai-sdk/index.ts";
import { createMemory, type ScopedMemory } from "../../src/index.ts";
import { type FrameworkCheck, showStory } from "./framework-check.ts";

/** What the model is sent, as all versions have it. */
type Prompt = readonly { readonly role: string; readonly content: unknown }[];
type Call = { readonly toolName: string; readonly input: object };

const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const USAGE_BY_KIND = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const CALLS = { unified: "tool-calls" as const, raw: "tool_calls" };
const STOP = { unified: "stop" as const, raw: "stop" };

/** The words of a newest user message, and the call that the model answers it with. */
function callFor(prompt: Prompt): Call | undefined {
  const sent = JSON.stringify(prompt);
  const words = JSON.stringify(prompt.findLast(({ role }) => role === "user"));
  const confirm = [...sent.matchAll(/confirm: (?:\\+)?"([\w-]{16})/g)].at(-1)?.[1];
  const isAfterTool = prompt.at(-1)?.role === "tool";
  if (words.includes("at once") && isAfterTool) {
    const isConfirmed = sent.split('"tool-result"').length > 2;
    return isConfirmed ? undefined : { toolName: "forget", input: { what: "Magnet", confirm } };
  }
  if (isAfterTool) return undefined;
  if (words.includes("as Ben"))
    return { toolName: "recall", input: { query: "productivity tools", user: "ben" } };
  if (words.includes("I use Shram"))
    return { toolName: "remember", input: { text: "I use Shram and Magnet as productivity tools." } };
  if (words.includes("Which"))
    return { toolName: "recall", input: { query: "Which productivity tools do I use?" } };
  if (words.includes("Forget")) return { toolName: "forget", input: { what: "Magnet" } };
  return { toolName: "forget", input: { what: "Magnet", confirm } };
}

/** The model gives as its text what the newest tool gave. */
const textOf = (prompt: Prompt): string => JSON.stringify(prompt.at(-1)?.content);

function toContent(prompt: Prompt) {
  const call = callFor(prompt);
  if (!call) return [{ type: "text" as const, text: textOf(prompt) }];
  const toolCallId = `call-${prompt.length}`;
  return [
    {
      type: "tool-call" as const,
      toolCallId,
      toolName: call.toolName,
      input: JSON.stringify(call.input),
    },
  ];
}

/** One turn of a conversation. Gives what the model says. */
type Say = (text: string) => Promise<string>;

function sdk7(tools: MemoryTools, stream: boolean): Say {
  const messages: ModelMessage[] = [];
  const model = new MockLanguageModelV4({
    async doGenerate({ prompt }) {
      const content = toContent(prompt);
      const finishReason = content[0]?.type === "text" ? STOP : CALLS;
      return { content, finishReason, usage: USAGE_BY_KIND, warnings: [] };
    },
    async doStream({ prompt }) {
      const [part] = toContent(prompt);
      const parts =
        part?.type === "text"
          ? [
              { type: "text-start" as const, id: "1" },
              { type: "text-delta" as const, id: "1", delta: part.text },
              { type: "text-end" as const, id: "1" },
            ]
          : part
            ? [part]
            : [];
      const finishReason = part?.type === "text" ? STOP : CALLS;
      const start = { type: "stream-start" as const, warnings: [] };
      const finish = { type: "finish" as const, finishReason, usage: USAGE_BY_KIND };
      return { stream: simulateReadableStream({ chunks: [start, ...parts, finish] }) };
    },
  });
  return async (text) => {
    messages.push({ role: "user", content: text });
    const asked = { model, messages, tools: { ...tools } satisfies ToolSet, stopWhen: stepCountIs(4) };
    const result = stream ? streamText(asked) : await generateText(asked);
    const said = await result.text;
    messages.push(...(await result.response).messages);
    return said;
  };
}

function sdk6(tools: MemoryTools): Say {
  const messages: ModelMessage6[] = [];
  const model = new MockLanguageModelV3({
    async doGenerate({ prompt }) {
      const content = toContent(prompt);
      const finishReason = content[0]?.type === "text" ? STOP : CALLS;
      return { content, finishReason, usage: USAGE_BY_KIND, warnings: [] };
    },
  });
  return async (text) => {
    messages.push({ role: "user", content: text });
    const { text: said, response } = await generateText6({
      model,
      messages,
      tools: { ...tools },
      stopWhen: stepCountIs6(4),
    });
    messages.push(...response.messages);
    return said;
  };
}

function sdk5(tools: MemoryTools): Say {
  const messages: ModelMessage5[] = [];
  const model = new MockLanguageModelV2({
    async doGenerate({ prompt }) {
      const content = toContent(prompt);
      const finishReason = content[0]?.type === "text" ? "stop" : "tool-calls";
      return { content, finishReason, usage: USAGE, warnings: [] };
    },
  });
  return async (text) => {
    messages.push({ role: "user", content: text });
    const { text: said, response } = await generateText5({
      model,
      messages,
      tools: tools as unknown as ToolSet5,
      stopWhen: stepCountIs5(4),
    });
    messages.push(...response.messages);
    return said;
  };
}

/** Remembers, recalls in another conversation, and forgets after a plan and a yes. Each problem is a sentence. */
async function twoConversations(begin: (tools: MemoryTools) => Say, ana: ScopedMemory): Promise<string[]> {
  const problems: string[] = [];
  const check = (holds: boolean, problem: string): void => void (holds || problems.push(problem));
  const open = (): Say => begin(createMemoryTools(ana));
  const known = async (): Promise<string> => JSON.stringify((await ana.list()).items);
  check((await open()("I use Shram and Magnet as productivity tools.")).includes("Stored"), "not stored");
  const asked = await open()("Which productivity tools do I use?");
  check(asked.includes("Magnet") && /<keepsake-[0-9a-f]{16}>/.test(asked), `recalled ${asked}`);
  check((await open()("Look it up as Ben.")).includes("field other than"), "the model could name a user");
  await open()("Forget Magnet at once.");
  check((await known()).includes("Magnet"), "the model confirmed its own plan");
  const say = open();
  check((await say("Forget Magnet.")).includes("Nothing is erased yet"), "there was no plan");
  check((await known()).includes("Magnet"), "the plan erased");
  const done = await say("Yes.");
  check(done.includes("nothing is left"), `after the yes: ${done}`);
  check(!(await known()).includes("Magnet"), "the erasure did not reach what the tool stored");
  const later = await open()("Which productivity tools do I use?");
  check(later.includes("Shram") && !later.includes("Magnet"), `after the erasure: ${later}`);
  return problems;
}

/** The tools for the AI SDK, with the three versions of its specification. */
export const aiSdkToolsChecks: readonly FrameworkCheck[] = [
  { name: "AI SDK 7 (v4), tools", begin: (tools: MemoryTools) => sdk7(tools, false) },
  { name: "AI SDK 7 (v4), tools, streaming", begin: (tools: MemoryTools) => sdk7(tools, true), stream: true },
  { name: "AI SDK 6 (v3), tools", begin: sdk6 },
  { name: "AI SDK 5 (v2), tools", begin: sdk5 },
].map(({ name, begin, stream = false }) => ({
  name,
  shows: showStory("AI SDK", stream),
  async run() {
    await using memory = await createMemory({ path: ":memory:" });
    return await twoConversations(begin, memory.scope({ user: "ana" }));
  },
}));
