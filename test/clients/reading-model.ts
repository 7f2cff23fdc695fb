import { type AnthropicServer, anthropicServer } from "../../src/testing/anthropic/anthropic-server.ts";
import { type OpenaiServer, openaiServer } from "../../src/testing/openai/openai-server.ts";
import { QUESTION } from "./story.ts";

/** A line of a block that was put into a request. */
interface Line {
  readonly text: string;
  readonly until?: string;
}

const TOOLS = ["Shram", "Magnet"];
const CITY = /\b(?:lives? in|living in) ([A-Z]\w+)/;

const BLOCKS = /<keepsake-[a-z0-9]+>[\s\S]*?<\/keepsake-[a-z0-9]+>/g;

/** What stands in the blocks of a request, wherever they are. */
function linesIn(text: string): Line[] {
  const blocks = text.match(BLOCKS) ?? [];
  return blocks.flatMap((block) =>
    block
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Line),
  );
}

/** Whether the lines say that it holds: told, and not told to be over. */
function holds(lines: readonly Line[], name: string): boolean {
  const about = lines.filter(({ text }) => text.includes(name));
  const isOver = about.some(
    ({ text, until }) => until !== undefined || /\bnot\b|n't\b|\bno longer\b/.test(text),
  );
  return about.length > 0 && !isOver;
}

/** What a model says: a text, or a call of the tool with a city. */
type Said = string | { readonly city: string };

/** A model is told texts; the last one is a question or what a tool gave. */
interface Told {
  readonly texts: readonly string[];
  readonly isToolResult: boolean;
  readonly hasTools: boolean;
}

/**
 * A model that knows nothing but what it is sent: it answers from the blocks in the request, and calls the tool "weather"
 * with the city that stands there. So what it says shows what the proxy put in.
 */
function answerTold({ texts, isToolResult, hasTools }: Told): Said {
  const lines = linesIn(texts.join("\n"));
  const last = texts.at(-1) ?? "";
  if (isToolResult) return `The tool says: ${last}`;
  const asked = last.replace(BLOCKS, "");
  if (asked.includes(QUESTION)) {
    const used = TOOLS.filter((tool) => holds(lines, tool));
    return used.length === 0 ? "I do not know." : `You use ${used.join(" and ")}.`;
  }
  if (asked.includes("weather where I live") && hasTools) {
    const city = lines.map(({ text }) => CITY.exec(text)?.[1]).find((found) => found !== undefined);
    return { city: city ?? "nowhere" };
  }
  return "All right.";
}

/** That model behind OpenAI's protocol. */
export function readingModel(): Promise<OpenaiServer> {
  return openaiServer({
    apiKey: "sk-upstream",
    reply: ({ turns, body }) => {
      const said = answerTold({
        texts: turns.map(({ text }) => text),
        isToolResult: turns.at(-1)?.role === "tool",
        hasTools: Array.isArray(body.tools),
      });
      return typeof said === "string" ? said : { toolCalls: [{ name: "weather", arguments: said }] };
    },
  });
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: string | readonly Block[];
}

/** The text of a content: of its blocks, and of what tools gave. */
const textOf = (content: string | readonly Block[] | undefined): string =>
  typeof content === "string"
    ? content
    : (content ?? []).map(({ text, content: inner }) => text ?? textOf(inner)).join("\n");

/** That model behind Anthropic's protocol. */
export function readingClaude(): Promise<AnthropicServer> {
  return anthropicServer({
    apiKey: "sk-ant-upstream",
    reply: ({ body }) => {
      const messages = body.messages as { content: string | Block[] }[];
      const last = messages.at(-1)?.content;
      const said = answerTold({
        texts: [textOf(body.system as string), ...messages.map(({ content }) => textOf(content))],
        isToolResult: Array.isArray(last) && last[0]?.type === "tool_result",
        hasTools: Array.isArray(body.tools),
      });
      return typeof said === "string" ? said : [{ tool: "weather", input: said }];
    },
  });
}
