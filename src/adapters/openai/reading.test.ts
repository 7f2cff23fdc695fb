import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeShape } from "./capabilities.ts";
import {
  createShapeCheck,
  createThoughtFilter,
  findJson,
  readServerSentEvents,
  removeThoughts,
} from "./completion.ts";

const FACTS = { facts: ["The user lives in Porto."] };
const TEXT = JSON.stringify(FACTS);
const fits = createShapeCheck({ required: ["facts"] });

/** Answers as servers and models have given them. */
const CORPUS: readonly (readonly [string, string])[] = [
  ["plain", TEXT],
  ["over several lines", JSON.stringify(FACTS, null, 2)],
  ["fenced", `\`\`\`json\n${TEXT}\n\`\`\``],
  ["in a fence without a language", `\`\`\`\n${TEXT}\n\`\`\``],
  ["in a fence that never ends", `\`\`\`json\n${TEXT}`],
  ["after words", `Here are the facts I extracted:\n\n${TEXT}`],
  ["between words with braces", `I used {curly braces}. ${TEXT} That is {all}.`],
  ["after a thought", `<think>Maybe {"facts": []}? No.</think>\n${TEXT}`],
  ["after a thought whose beginning is not there", `Maybe {"facts": []}? No.</think>${TEXT}`],
  ["in a thought that never ends", `<think>It is ${TEXT}`],
  ["with a comma too many", '{"facts": ["The user lives in Porto.",],}'],
  ["with a comment", '{"facts": [ // one\n "The user lives in Porto."]}'],
  ["in Python's words", "{'facts': ['The user lives in Porto.']}"],
  ["as a text of JSON", JSON.stringify(TEXT)],
  ["after the schema itself", `{"type":"object","properties":{"facts":{"type":"array"}}} ${TEXT}`],
  ["twice", `${TEXT}\n${TEXT}`],
  ["with a mark at the beginning", `\ufeff${TEXT}`],
  ["cut off in the second fact", `${TEXT.slice(0, -2)},"The user wor`],
];

describe("the JSON of an answer", () => {
  it.each(CORPUS)("is found if it is %s", (_how, answer) => {
    expect(findJson(answer, fits)).toEqual(FACTS);
  });

  it.each([
    ["nothing", ""],
    ["words", "I found no facts."],
    ["a number", "42"],
    ["an opening brace", "{"],
    ["a name without a value", '{"facts" }'],
  ])("is not found in %s, or has no fact", (_what, answer) => {
    const value = findJson(answer, fits);
    expect(value === undefined || !fits(value)).toBe(true);
  });

  it("has its complete parts if the answer is cut off at any point", () => {
    const items = Array.from({ length: 4 }, (_, i) => ({ turn: i, quote: `said "it" ${i}\n`, sure: 0.5 }));
    const whole = JSON.stringify({ items });
    for (let end = 1; end < whole.length; end += 1) {
      const read = findJson(whole.slice(0, end)) as { items?: typeof items } | undefined;
      for (const [i, item] of (read?.items ?? []).entries()) expect(items[i]).toMatchObject(item);
    }
  });

  it("equals the written value, whatever it contains", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.string(), (value, words) => {
        const wrapped = { value };
        const text = `${words.replace(/[{}[\]<>"']/g, "")}\`\`\`\n${JSON.stringify(wrapped)}\n\`\`\``;
        expect(JSON.stringify(findJson(text, (one) => typeof one === "object"))).toBe(
          JSON.stringify(wrapped),
        );
      }),
    );
  });

  it("is searched quickly and without throwing in any answer", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"',
      "'",
      ":",
      ",",
      "\\",
      "\\u12",
      "<think>",
      "</think>",
      "/*",
      "//",
      "\n",
      "null",
      "1e",
      "a",
      "\ud83e",
      "```json\n",
      '{"a":',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 60 }), (parts) => {
        findJson(parts.join(""), fits);
        removeThoughts(parts.join(""));
      }),
    );
    const begun = process.cpuUsage();
    for (const piece of ['{"a":', "[", "{/*", "/*{", "<think>", '{"a":"', "{'", "</think>"]) {
      findJson(piece.repeat(200_000), fits);
    }
    // Processor time in µs: it does not depend on what else runs on the machine.
    expect(process.cpuUsage(begun).user).toBeLessThan(4_000_000);
  });

  it("has no effect on prototypes with names special to JavaScript", () => {
    const read = findJson('{"__proto__": {"polluted": 1}, "facts": [],}', fits) as object;
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });
});

describe("a stream of events", () => {
  const bytes = (text: string, size: number): AsyncIterable<Uint8Array> => {
    const all = new TextEncoder().encode(text);
    return (async function* () {
      for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
    })();
  };
  const events = async (text: string, size: number): Promise<string[]> => {
    const found: string[] = [];
    for await (const data of readServerSentEvents(bytes(text, size))) found.push(data);
    return found;
  };

  it("has the same events for any split and any line ends", async () => {
    const plain = ': hello\n\ndata: {"a":"é🦊"}\n\nevent: x\ndata: one\ndata: two\nid: 7\n\ndata:[DONE]\n\n';
    const wanted = ['{"a":"é🦊"}', "one\ntwo", "[DONE]"];
    for (const text of [plain, plain.replaceAll("\n", "\r\n"), plain.replaceAll("\n", "\r")]) {
      for (const size of [1, 2, 3, 7, 1000]) expect(await events(text, size)).toEqual(wanted);
    }
    expect(await events("data: the last one has no end", 4)).toEqual(["the last one has no end"]);
  });

  it("shows no thought for any split of its tags", () => {
    const text = "Well, <think>no <b>idea</b></think>it is 3 < 4 <thin ice> so.";
    const shown = (size: number): string => {
      const filter = createThoughtFilter();
      let all = "";
      for (let at = 0; at < text.length; at += size) all += filter.push(text.slice(at, at + size));
      return all + filter.end();
    };
    for (const size of [1, 2, 5, 11, 100]) expect(shown(size)).toBe("Well, it is 3 < 4 <thin ice> so.");
  });
});

it("describes a schema in words", () => {
  const text = describeShape({
    type: "object",
    properties: {
      items: {
        type: "array",
        items: {
          type: "object",
          properties: {
            do: { enum: ["add", "end"] },
            old: { type: "integer" },
            note: { type: ["string", "null"] },
          },
        },
      },
    },
  });
  expect(text).toContain('"items": [{');
  expect(text).toContain('"do": "add" | "end",');
  expect(text).toContain('"old": whole number,');
  expect(text).toContain('"note": string | null,');
  expect(text).not.toContain("properties");
});
