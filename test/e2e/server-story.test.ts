import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** What a user runs: made as new as src/ before the tests began. */
const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
type Json = any;

let folder: string;
let server: ChildProcess;
let url: string;
let key: string;
let printed = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-story-"));
  server = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--json", "--db", join(folder, "m.db")], {
    env: { PATH: process.env.PATH, KEEPSAKE_LOG: "json" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const started = new Promise<Json>((resolve, reject) => {
    server.stdout?.setEncoding("utf8").on("data", (text: string) => resolve(JSON.parse(text)));
    server.once("exit", () => reject(new Error(`it did not start: ${printed}`)));
  });
  server.stderr?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  ({ url, key } = await started);
});
afterAll(() => {
  server.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; json: Json; headers: Headers }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /[/+]json/.test(response.headers.get("content-type") ?? "");
  return { status: response.status, json: isJson ? JSON.parse(text) : text, headers: response.headers };
}

const say = async (message: string, session: string, more: Record<string, string> = {}): Promise<Json> =>
  (await call("POST", "/api/v1/conversation", { user_id: "ana", message, session_id: session }, more)).json;
const tools = async (session: string): Promise<string> =>
  (await say("What are the productivity tools that I use?", session)).reply;
const bytes = (): string =>
  readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), "latin1"))
    .join("\n")
    .toLowerCase();

describe("the story on a server, from its start to its end", () => {
  it("describes itself to people and to programs, without a key", async () => {
    const { json } = await call("GET", "/openapi.json", undefined, { authorization: "" });
    expect(json.openapi).toBe("3.1.0");
    expect(Object.keys(json.paths)).toContain("/api/v1/conversation");
    const docs = await fetch(`${url}/docs`);
    expect(docs.headers.get("content-security-policy")).toContain("default-src 'self'");
    expect(await docs.text()).toContain("curl -X POST");
    expect((await fetch(`${url}/docs.css`)).headers.get("content-type")).toContain("text/css");
  });

  it("learns, and a request that is sent again learns it once", async () => {
    const again = { "idempotency-key": "the first words" };
    const first = await say("I use Shram and Magnet as productivity tools.", "one", again);
    expect(first.receipt.memories).toMatchObject([{ action: "added" }, { action: "added" }]);
    expect(await say("I use Shram and Magnet as productivity tools.", "one", again)).toEqual(first);
    expect((await call("GET", "/api/v1/memories/ana/stats")).json).toMatchObject({ current: 2, revision: 1 });
  });

  it("answers in a new conversation, and changes its mind with the user", async () => {
    expect(await tools("two")).toBe("You use Shram and Magnet.");
    await say("I don't use Magnet anymore.", "two");
    expect(await tools("three")).toBe("You use Shram.");
  });

  it("shows what happened, and takes it back", async () => {
    const { items } = (await call("GET", "/api/v1/history/ana")).json;
    const change = items.find((one: Json) =>
      one.memories.some(({ action }: Json) => action === "superseded"),
    );
    await call("POST", "/api/v1/memories/ana/undo", { revision: change.revision });
    expect(await tools("four")).toBe("You use Shram and Magnet.");
    expect((await call("GET", "/api/v1/sessions/ana")).json.items.map(({ id }: Json) => id)).toEqual([
      "four",
      "three",
      "two",
      "one",
    ]);
    expect((await call("GET", "/api/v1/profile/ana")).json.text).toContain("Magnet");
  });

  it("moves to another user", async () => {
    const exported = (await call("GET", "/api/v1/export/ana")).json as string;
    const response = await fetch(`${url}/api/v1/import/copy`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" },
      body: exported,
    });
    expect(await response.json()).toMatchObject({
      known: 0,
      stored: exported.split('"type":"message"').length - 1,
    });
    await call("DELETE", "/api/v1/memories/copy/all");
  });

  it("forgets in every place, and its kept answers with it", async () => {
    const forgotten = await say("Forget that I ever mentioned Magnet.", "five");
    expect(forgotten.receipt.erasures).toMatchObject([{ complete: true }]);
    expect(await tools("six")).toBe("You use Shram.");
    const replay = await call(
      "POST",
      "/api/v1/conversation",
      { user_id: "ana", message: "I use Shram and Magnet as productivity tools.", session_id: "one" },
      { "idempotency-key": "the first words" },
    );
    expect([replay.status, replay.json.code]).toEqual([410, "not_found"]);
    expect(bytes()).not.toContain("magnet");
  });

  it("logs each request as a line of JSON, and nothing that anybody said", async () => {
    await call("POST", "/api/v1/memories/ana/search?query=Shram", undefined, { "x-request-id": "my-own-id" });
    const find = (): Json[] =>
      printed
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as Json);
    await expect.poll(() => find().some(({ request_id }) => request_id === "my-own-id")).toBe(true);
    const line = find().find(({ request_id }) => request_id === "my-own-id");
    expect(line).toMatchObject({
      event: "request",
      method: "POST",
      route: "/api/v1/memories/{user_id}/search",
      status: 200,
      ms: expect.any(Number),
      key: key.split("_")[1],
    });
    expect(printed).not.toMatch(/shram|magnet|\bana\b|productivity/i);
    expect(printed).not.toContain(key.split("_").slice(2).join("_"));
  });

  it("ends when it is told to, with what is at work finished", async () => {
    const ended = new Promise<number | null>((resolve) => server.once("exit", resolve));
    const messages = Array.from({ length: 100 }, (_, i) => ({
      role: "user",
      content: `I visited place ${i}.`,
    }));
    const atWork = call("POST", "/api/v1/messages", { user_id: "bob", messages });
    await new Promise((resolve) => setTimeout(resolve, 30));
    server.kill("SIGTERM");
    expect((await atWork).status).toBe(201);
    expect(await ended).toBe(0);
    await expect(fetch(`${url}/api/v1/health`)).rejects.toThrow();
  });
});
