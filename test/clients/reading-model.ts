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

/**
 * A model that knows nothing but what it is sent: it answers from the blocks in the request, and calls the tool "weather"
 * with the city that stands there. So what it says shows what the proxy put in.
 */
export function readingModel(): Promise<OpenaiServer> {
  return openaiServer({
    apiKey: "sk-upstream",
    reply: ({ turns, body }) => {
      const lines = linesIn(turns.map(({ text }) => text).join("\n"));
      const last = turns.at(-1);
      if (last?.role === "tool") return `The tool says: ${last.text}`;
      const asked = (last?.text ?? "").replace(BLOCKS, "");
      if (asked.includes(QUESTION)) {
        const used = TOOLS.filter((tool) => holds(lines, tool));
        return used.length === 0 ? "I do not know." : `You use ${used.join(" and ")}.`;
      }
      if (asked.includes("weather where I live") && Array.isArray(body.tools)) {
        const city = lines.map(({ text }) => CITY.exec(text)?.[1]).find((found) => found !== undefined);
        return { toolCalls: [{ name: "weather", arguments: { city: city ?? "nowhere" } }] };
      }
      return "All right.";
    },
  });
}
