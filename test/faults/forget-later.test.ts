import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import { type Served, serve } from "../../src/http/server.ts";
import { createMemory } from "../../src/memory.ts";
import { type OpenaiServer, openaiServer } from "../../src/testing/openai/openai-server.ts";

const KEY = "a-key-for-this-test-only-1";
const NAME = "Zebulonix";

let folder: string;
let keepsake: Keepsake;
let upstream: OpenaiServer;
let served: Served;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-forget-later-"));
  keepsake = await createMemory({ path: join(folder, "keepsake.db") });
  upstream = await openaiServer({ apiKey: "sk-upstream" });
  served = await serve({
    keepsake,
    clock: () => new Date(),
    port: 0,
    apiKey: KEY,
    proxy: { upstream: { baseUrl: upstream.url, apiKey: "sk-upstream" }, retrievalMs: 20_000 },
  });
});
afterEach(async () => {
  await served.close();
  await keepsake.close();
  await upstream.close();
  rmSync(folder, { recursive: true });
});

/** Sends a chat. Gives what the answer says about memory, and what the model was sent. */
async function chat(...words: string[]): Promise<{ memory: string; why: string; sent: string }> {
  const messages = words.map((content, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content }));
  const response = await fetch(`${served.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o-mini", user: "ana", messages }),
  });
  await response.text();
  const sent = upstream.received.at(-1)?.raw.toString("utf8") ?? "";
  const { headers } = response;
  return {
    memory: headers.get("x-keepsake-memory") ?? "",
    why: headers.get("x-keepsake-memory-why") ?? "",
    sent,
  };
}

it("keeps a request to forget that a locked database cannot take, shows nothing meanwhile, and carries it out afterwards", async () => {
  await keepsake.scope({ user: "ana" }).remember(`My cat is called ${NAME}.`);
  expect((await chat("What is my cat called?")).sent).toContain(NAME);

  const lock = new DatabaseSync(join(folder, "keepsake.db"));
  lock.exec("BEGIN IMMEDIATE");
  const wish = "Forget my cat's name.";
  const first = await chat(wish);
  expect([first.memory, first.why]).toEqual(["degraded", "forget failed"]);
  expect(first.sent).toContain("Nothing is erased yet");
  // Beyond the time that a write waits for the lock.
  await new Promise((resolve) => setTimeout(resolve, 6000));
  const question = "Good. What is my cat called?";
  for (const words of [[wish, "Hello.", question], ["What is the name of my cat?"]]) {
    const { memory, why, sent } = await chat(...words);
    expect([memory, why, sent.includes(NAME)]).toEqual(["degraded", "forget pending", false]);
  }
  lock.exec("ROLLBACK");
  lock.close();

  await expect.poll(async () => (await chat("Hello again.")).memory, { interval: 500 }).toBe("on");
  const reported = await chat(wish, "Hello.", question, "I do not know.", "And now?");
  expect(reported.sent).toContain("the user's wish to forget in an earlier message");
  expect(reported.sent).toContain("Erased: ");
  expect(reported.sent).not.toContain(NAME);
  const { memory, sent } = await chat("What is my cat called, now?");
  expect([memory, sent.includes(NAME)]).toEqual(["on", false]);
  const kept: string[] = [];
  for await (const line of keepsake.scope({ user: "ana" }).export()) kept.push(JSON.stringify(line));
  expect(kept.filter((line) => line.includes(NAME))).toEqual([]);
});

it("says that the message before is still being stored", async () => {
  const lock = new DatabaseSync(join(folder, "keepsake.db"));
  lock.exec("BEGIN IMMEDIATE");
  await chat("I live in Porto.");
  const { memory, why } = await chat("I live in Porto.", "Nice.", "In which town do I live?");
  lock.exec("ROLLBACK");
  lock.close();
  expect([memory, why]).toEqual(["degraded", "store pending"]);
});
