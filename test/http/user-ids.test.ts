import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import { type Served, serve } from "../../src/http/index.ts";
import { createMemory } from "../../src/memory.ts";
import { makeChangeSet, makeMemory, makeMessage } from "../../src/testing/memory-store/change-sets.ts";
import { ODD_TEXTS } from "./corpus.ts";

let folder: string;
let keepsake: Keepsake;
let served: Served;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-ids-"));
  keepsake = await createMemory({ path: join(folder, "memory.db") });
  served = await serve({ keepsake, clock: () => new Date(), port: 0 });
});
afterEach(async () => {
  await served.close();
  await keepsake.close();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
  readonly json: any;
}

async function call(method: string, where: string, body?: unknown, headers = {}): Promise<Answer> {
  const response = await fetch(`${served.url}${where}`, {
    method,
    headers: {
      authorization: `Bearer ${served.firstKey}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
}

const write = (user: string, session?: string): Promise<Answer> =>
  call("POST", "/api/v1/messages", {
    user_id: user,
    messages: [{ role: "user", content: "I use Shram for work." }],
    ...(session === undefined ? {} : { session_id: session }),
  });

/** Ids that paths have trouble with, beside those of the corpus. */
const HARD_IDS: readonly string[] = [
  ".",
  "..",
  "...",
  "./",
  "../",
  "/",
  "//",
  "a/../b",
  "../../etc",
  "%2e",
  "%2e%2e",
  "%2E%2e/",
  "%252e",
  "%",
  "%zz",
  "?",
  "a?b=c",
  "#",
  "a#b",
  ";",
  "a;b",
  "&",
  "+",
  "a b",
  " . ",
  ":",
  ":user_id",
  "{user_id}",
  "*",
  "\\",
  "..\\..",
  "@",
  "a\tb",
  "a\nb",
  "a\r\nb",
  "．．",
  "․․",
  "\u00ad",
  "\u200b",
  "\ufeff",
  "\u202e..",
  "é",
  "e\u0301",
  "名前",
  "👩‍👩‍👧‍👦",
  "stats",
  "all",
  "search",
  "export",
  "import",
  "history",
  "x".repeat(512),
  "名".repeat(170),
  "%".repeat(512),
  "/".repeat(512),
];

/** Whether an id can be written; and then that it can be read, listed, exported and erased by its path. */
async function isWholeOrRefused(user: string): Promise<"refused" | "reached"> {
  const session = user;
  const written = await write(user, session);
  if (written.status === 400) {
    expect(written.json.code).toBe("invalid_input");
    return "refused";
  }
  expect(written.status).toBe(201);
  const at = encodeURIComponent(user);
  const list = await call("GET", `/api/v1/memories/${at}`);
  expect([user, list.status, list.json.items?.length]).toEqual([user, 200, 1]);
  expect(list.json.items[0].user_id).toBe(user);
  const [{ id }] = list.json.items;
  expect((await call("GET", `/api/v1/memories/${at}/${id}`)).json).toMatchObject({ id, user_id: user });
  const found = await call("POST", `/api/v1/memories/${at}/search?query=Shram`);
  expect(found.json.items.length).toBeGreaterThan(0);
  expect((await call("GET", `/api/v1/sessions/${at}/${encodeURIComponent(session)}`)).status).toBe(200);
  const users = await call("GET", "/api/v1/users?limit=1000");
  expect(users.json.items).toContainEqual({ user_id: user });
  expect((await call("DELETE", `/api/v1/memories/${at}/all`)).status).toBeLessThan(300);
  expect((await call("GET", `/api/v1/memories/${at}`)).json.items).toEqual([]);
  return "reached";
}

describe("the id of a user", () => {
  it("that can be written can be read, listed and erased by its path, whatever it holds", {
    timeout: 300_000,
  }, async () => {
    const ids = [...HARD_IDS, ...ODD_TEXTS.filter((text) => Buffer.byteLength(text) <= 512)];
    const refused: string[] = [];
    for (const id of ids) if ((await isWholeOrRefused(id)) === "refused") refused.push(id);
    // The last one is white space to JavaScript: an empty name.
    expect(refused).toEqual([".", "..", "\ufeff"]);
  });

  it("drawn at random is refused, or can be reached by its path", { timeout: 300_000 }, async () => {
    const piece = fc.constantFrom(
      ".",
      "..",
      "/",
      "\\",
      "%",
      "%2e",
      "%2F",
      "?",
      "#",
      " ",
      "\t",
      "a",
      "é",
      "\u200b",
    );
    const id = fc.oneof(
      fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join("")),
      fc.string({ unit: "binary", minLength: 1, maxLength: 40 }),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
    );
    await fc.assert(
      fc.asyncProperty(id, async (user) => void (await isWholeOrRefused(user))),
      { numRuns: 60, seed: 20260106 },
    );
  });

  it.each([".", ".."])("%j is refused by the library, the API and the proxy alike", async (user) => {
    const refused = { code: "invalid_input", message: /a URL cannot contain it/ };
    const scoped = keepsake.scope({ user });
    const tries = [
      () => scoped.remember("I use Shram."),
      () => scoped.add({ text: "I use Shram." }),
      () => scoped.converse("I use Shram."),
      async () => void (await scoped.converseStream("I use Shram.").next()),
      () => keepsake.scope({ user: "ana" }).remember("I use Shram.", { session: user }),
      () => keepsake.scope({ user: "ana", session: user }).remember("I use Shram."),
    ];
    for (const attempt of tries) {
      const error = await Promise.resolve(attempt()).then(
        () => undefined,
        (thrown: { code: string; message: string }) => thrown,
      );
      expect(error?.code).toBe(refused.code);
      expect(error?.message).toMatch(refused.message);
    }
    const bodies: [path: string, body: object][] = [
      ["/api/v1/messages", { user_id: user, messages: [{ role: "user", content: "I use Shram." }] }],
      [
        "/api/v1/messages",
        { user_id: "ana", session_id: user, messages: [{ role: "user", content: "Hi." }] },
      ],
      ["/api/v1/memories", { user_id: user, content: "I use Shram." }],
      ["/api/v1/conversation", { user_id: user, message: "I use Shram." }],
      ["/message", { userId: user, message: "I use Shram." }],
      ["/api/v1/keys", { user_id: user, scopes: ["read"] }],
    ];
    for (const [path, body] of bodies)
      expect([path, (await call("POST", path, body)).status]).toEqual([path, 400]);
    const chat = { model: "keepsake", user, messages: [{ role: "user", content: "I use Shram." }] };
    expect((await call("POST", "/v1/chat/completions", chat)).status).toBe(400);
    expect(await keepsake.users()).toEqual([]);
  });

  it.each([".", ".."])(
    "%j under which an earlier version stored something is still listed and erased",
    async (user) => {
      const scope = { project: "default", user };
      const path = join(folder, "old.db");
      const record = await openSqliteStore({ path });
      await record.commit(
        scope,
        makeChangeSet({ messages: [makeMessage("m1")], memories: [makeMemory("a")] }),
      );
      await record.close();
      await using old = await createMemory({ path });
      expect(await old.users()).toContain(user);
      const server = await serve({ keepsake: old, clock: () => new Date(), port: 0 });
      const response = await fetch(`${server.url}/api/v1/erasures`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.firstKey}`, "content-type": "application/json" },
        body: JSON.stringify({ user_id: user, everything: true }),
      });
      expect(response.status).toBe(201);
      await server.close();
      expect((await old.scope({ user }).list()).items).toEqual([]);
    },
  );
});
