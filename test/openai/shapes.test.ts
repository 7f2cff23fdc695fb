import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type OpenaiServer, openaiServer } from "../../src/testing/openai/openai-server.ts";

/**
 * The shapes in `shapes/` are written down from OpenAI's public reference of its API: what each endpoint answers, with texts
 * and numbers of our own. What the server for tests answers has the same fields of the same types.
 */
let server: OpenaiServer;
beforeAll(async () => {
  server = await openaiServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.reset();
  server.reply = () => "Goats sleep in the shed.";
});

const recorded = (name: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, "shapes", `${name}.json`), "utf8"));

/** A value with types in place of what it says; of a list, the shapes that its members have. */
function shapeOf(value: unknown): unknown {
  if (value === null) return "null";
  if (Array.isArray(value)) return [...new Set(value.map((one) => JSON.stringify(shapeOf(one))))];
  if (typeof value !== "object") return typeof value;
  return Object.fromEntries(
    Object.entries(value as object)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, field]) => [name, shapeOf(field)]),
  );
}

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o-mini", ...body }),
  });
const eventsOf = (text: string): unknown[] =>
  [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json ?? "") as unknown);

const CHAT = { messages: [{ role: "user", content: "Where do goats sleep?" }] };
const INPUT = { input: "Where do goats sleep?" };
const STREAM = { stream: true, stream_options: { include_usage: true } };
const CALLS = (): { toolCalls: { name: string; arguments: object }[] } => ({
  toolCalls: [{ name: "weather", arguments: { city: "Utrecht" } }],
});

it.each([
  ["chat-completion", "/chat/completions", CHAT, false],
  ["chat-completion-tools", "/chat/completions", CHAT, true],
  ["response", "/responses", INPUT, false],
  ["response-function-call", "/responses", INPUT, true],
  ["embeddings", "/embeddings", { model: "text-embedding-3-small", input: ["goats"] }, false],
] as const)("answers a %s as OpenAI does", async (name, path, body, isCall) => {
  if (isCall) server.reply = CALLS as OpenaiServer["reply"];
  const answer: unknown = await (await post(path, body)).json();
  expect(shapeOf(answer)).toEqual(shapeOf(recorded(name)));
});

it.each([
  ["chat-completion-chunks", "/chat/completions", { ...CHAT, ...STREAM }, false],
  ["chat-completion-tool-chunks", "/chat/completions", { ...CHAT, ...STREAM }, true],
  ["response-events", "/responses", { ...INPUT, stream: true }, false],
  ["response-function-call-events", "/responses", { ...INPUT, stream: true }, true],
] as const)("streams %s as OpenAI does, in the same order", async (name, path, body, isCall) => {
  if (isCall) server.reply = CALLS as OpenaiServer["reply"];
  const events = eventsOf(await (await post(path, body)).text());
  expect(shapeOf(events)).toEqual(shapeOf(recorded(name)));
});

it.each([
  ["model", "/models/gpt-4o-mini"],
  ["models", "/models"],
  ["error", "/models/none"],
] as const)("gives a %s as OpenAI does", async (name, path) => {
  const answer: unknown = await (await fetch(`${server.url}${path}`)).json();
  expect(shapeOf(answer)).toEqual(shapeOf(recorded(name)));
});
