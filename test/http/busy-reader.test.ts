import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Running, started } from "../../bench/load/server.ts";

const USERS = ["ana", "ben", "cleo", "dan", "eve", "finn"];
const QUESTIONS = ["Where do I live?", "What is my dog called?", "Who plays the cello?", "What do I drive?"];
const TOLD = [
  "I live in Lisbon.",
  "My dog is called Bruno.",
  "My sister Ana plays the cello.",
  "I drive a green Fiat.",
  "We talked about the garden for an hour.",
  "I take the train to work on Mondays.",
];

const folder = mkdtempSync(join(tmpdir(), "keepsake-busy-"));
let server: Running;

beforeAll(async () => {
  server = await started(join(folder, "memory.db"), { KEEPSAKE_ANSWER_WAIT_MS: "300" });
  const messages = TOLD.map((content) => ({ role: "user", content }));
  for (const user_id of USERS)
    expect((await post("/api/v1/messages", { user_id, messages })).status).toBe(201);
}, 600_000);

afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true });
});

interface ConversationReply {
  readonly reply: string;
  readonly trouble?: string;
  readonly receipt: { readonly memories: readonly { readonly text: string }[] };
}

async function post(path: string, body: object, limitMs = 200_000): Promise<Response> {
  return fetch(server.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(limitMs),
  });
}

async function converse(user_id: string, message: string, limitMs?: number): Promise<ConversationReply> {
  const response = await post("/api/v1/conversation", { user_id, message }, limitMs);
  expect(response.status).toBe(200);
  return (await response.json()) as ConversationReply;
}

it("answers more questions at once than can be read closely, says so, and learns what each message tells", async () => {
  const asked = Array.from({ length: 30 }, (_, i) => ({
    user: USERS[i % USERS.length] ?? "",
    message: `${QUESTIONS[i % QUESTIONS.length]} I like the tea called Assamino${i}.`,
    word: `Assamino${i}`,
  }));
  const replies = await Promise.all(
    asked.map(async (one) => ({ ...one, ...(await converse(one.user, one.message)) })),
  );
  const busy = replies.filter(({ trouble }) => trouble === "busy");
  expect(busy.length).toBeGreaterThan(0);
  expect(busy.length).toBeLessThan(replies.length);
  expect(busy.filter(({ reply }) => !/I'm not certain|no time to look closely/.test(reply))).toEqual([]);
  const unlearnt = replies.filter(
    ({ receipt, word }) => !receipt.memories.some(({ text }) => text.includes(word)),
  );
  expect(unlearnt).toEqual([]);
}, 600_000);

it("answers surely again once the load is over", async () => {
  const { reply, trouble } = await converse("ana", "What do I drive?");
  expect(reply).toContain("green Fiat");
  expect(reply).not.toContain("not certain");
  expect(trouble).toBeUndefined();
}, 300_000);

it("answers and learns for others while one user sends long texts", async () => {
  const sentence =
    "My dog Bruno, who is seven, likes to swim in the lake behind our house, and my sister came. ";
  const from = performance.now();
  await converse("finn", "What is my dog called?");
  // Ten times what it takes alone: where every slice of a reading waits for a long message, it takes a hundred times as long.
  const limitMs = Math.max(20_000, 10 * (performance.now() - from));
  let isOver = false;
  let sent = 0;
  const sendLong = async (): Promise<void> => {
    while (!isOver) {
      sent += 1;
      const content = `${sentence.repeat(110)} It was day ${sent}.`;
      await post("/api/v1/messages", { user_id: "long", messages: [{ role: "user", content }] });
    }
  };
  const long = [sendLong(), sendLong()];
  try {
    for (const user of USERS.slice(0, 4)) {
      const { reply } = await converse(user, "What is my dog called?", limitMs);
      expect(reply).toContain("Bruno");
      const body = { user_id: user, messages: [{ role: "user", content: "I play chess on Sundays." }] };
      const response = await post("/api/v1/messages", body, limitMs);
      expect(response.status).toBe(201);
    }
  } finally {
    isOver = true;
    await Promise.all(long);
  }
  expect(sent).toBeGreaterThan(1);
}, 900_000);
