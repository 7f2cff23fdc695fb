import { type OpenaiServer, openaiServer } from "../../src/testing/openai/openai-server.ts";
import type { Received, Reply, ToolCall, Turn } from "../../src/testing/openai/script.ts";
import { QUESTION } from "./story.ts";

const TOOLS = ["Shram", "Magnet"];

/** What the model does with what a person says. The first that fits counts. */
const CALLS: readonly {
  readonly said: RegExp;
  readonly tool: string;
  toArguments(turns: readonly Turn[]): { readonly [name: string]: unknown };
}[] = [
  {
    said: /I use Shram/,
    tool: "remember",
    toArguments: () => ({ text: "I use Shram and Magnet as productivity tools." }),
  },
  {
    said: /Which productivity tools/,
    tool: "recall",
    toArguments: () => ({ query: "Which productivity tools do I use?" }),
  },
  { said: /Forget Magnet/, tool: "forget", toArguments: () => ({ what: "Magnet" }) },
  {
    said: /Yes, erase it/,
    tool: "forget",
    toArguments: (turns) => ({ what: "Magnet", confirm: findToken(turns) }),
  },
];

/** The newest token of a plan that a tool gave. */
function findToken(turns: readonly Turn[]): string | undefined {
  const given = turns.filter(({ role }) => role === "tool").map(({ text }) => text);
  return [...given.join("\n").matchAll(/\bconfirm"?:\s*\\?"([\w-]+\.[\w-]+)/g)].at(-1)?.[1];
}

/** What a tool gave, in words: as text for a model, or as JSON where the client prefers the data. */
function describeResult(text: string): string {
  if (/Nothing is erased yet|"done":\s*false/.test(text)) return "This would be erased. Shall I?";
  if (/nothing is left|"done":\s*true/.test(text)) return "It is erased.";
  if (/"action":/.test(text)) return "I have noted that.";
  const lines = [...text.matchAll(/"text":\s*"((?:[^"\\]|\\.)*)"/g)].map(([, line = ""]) => line).join("\n");
  return nameTools(lines);
}

function nameTools(text: string): string {
  const used = TOOLS.filter((tool) => text.includes(tool));
  return used.length === 0 ? "I do not know." : `You use ${used.join(" and ")}.`;
}

/** The tool of that name. Some clients put the name of the server before it. */
function findTool(body: Received["body"], name: string): string | undefined {
  const tools = (body.tools ?? []) as {
    readonly name?: string;
    readonly function?: { readonly name: string };
  }[];
  const names = tools.map((tool) => tool.function?.name ?? tool.name ?? "");
  return names.find((one) => one === name || one.endsWith(`_${name}`));
}

function answer({ turns, body }: Received): Reply {
  const lastSaid = turns.findLastIndex(
    ({ role, text }) => role === "user" && CALLS.some(({ said }) => said.test(text)),
  );
  const result = turns.slice(lastSaid + 1).findLast(({ role }) => role === "tool");
  if (result) return describeResult(result.text);
  const call = CALLS.find(({ said }) => said.test(turns[lastSaid]?.text ?? ""));
  const name = call && findTool(body, call.tool);
  if (!call || name === undefined) return "All right.";
  const toolCall: ToolCall = { name, arguments: call.toArguments(turns) };
  return { toolCalls: [toolCall] };
}

/**
 * A model behind OpenAI's protocol that uses the tools of the memory, and knows nothing but what they give: it remembers what
 * it is told, looks up what it is asked, and asks before it erases.
 */
export const toolModel = (): Promise<OpenaiServer> => openaiServer({ apiKey: "sk-upstream", reply: answer });

/** A model behind OpenAI's protocol that has no tools, and answers from what stands in the newest turn. */
export const plainModel = (): Promise<OpenaiServer> =>
  openaiServer({
    apiKey: "sk-upstream",
    reply({ turns }) {
      const newest = turns.at(-1)?.text ?? "";
      return newest.endsWith(QUESTION) ? nameTools(newest) : "All right.";
    },
  });
