import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CallReport } from "../../domain/model-usage.ts";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import { MemoryError } from "../../errors.ts";
import { createMemory } from "../../memory.ts";
import { type OpenaiServer, openaiServer } from "../../testing/openai/openai-server.ts";
import { type Served, serve } from "../server.ts";
import type { Step } from "./proxy.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
type Json = any;
const KEY = "a-key-for-this-test-only-1";

let keepsake: Keepsake;
let upstream: OpenaiServer;
let served: Served;
let troubles: Step[];
let reports: CallReport[];
/** What breaks in the memory; nothing while it is undefined. */
let broken: Partial<Record<keyof ScopedMemory, () => unknown>> | undefined;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  upstream = await openaiServer({ apiKey: "sk-upstream" });
  troubles = [];
  reports = [];
  broken = undefined;
  served = await serve({
    keepsake: { ...keepsake, scope: (named) => ({ ...keepsake.scope(named), ...broken }) as ScopedMemory },
    clock,
    port: 0,
    apiKey: KEY,
    proxy: {
      upstream: { baseUrl: upstream.url, apiKey: "sk-upstream" },
      clock,
      retrievalMs: 1000,
      deadlineMs: 2000,
      onTrouble: (step) => troubles.push(step),
      onCall: (report) => reports.push(report),
    },
  });
});
afterEach(async () => {
  await served.close();
  await keepsake.close();
  await upstream.close();
});

async function chat(
  words: string,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${served.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({
      model: "gpt-4o-mini",
      user: "ana",
      messages: [{ role: "user", content: words }],
      ...more,
    }),
  });
}
const lastSent = (): string => upstream.received.at(-1)?.raw.toString("utf8") ?? "";
const stored = async (): Promise<unknown[]> => {
  const said: unknown[] = [];
  for await (const line of keepsake.scope({ user: "ana" }).export())
    if (line.type === "message") said.push((line.message as { content: string }).content);
  // What records a response has no words.
  return said.filter((words) => words !== "");
};
const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  for (let i = 0; i < 200; i += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("it never came to be so");
};

const unavailable = (): never => {
  throw new MemoryError("unavailable", "the database is locked.");
};

describe("a memory that fails", () => {
  it.each<[string, Partial<Record<keyof ScopedMemory, () => unknown>>, Step[]]>([
    [
      "is locked",
      { history: unavailable, context: unavailable, remember: unavailable },
      ["recall", "store", "store"],
    ],
    ["rejects", { context: () => Promise.reject(new Error("disk full")) }, ["recall"]],
    [
      "throws what is no error",
      {
        profile: () => {
          throw "broken";
        },
      },
      ["recall"],
    ],
    ["is slow", { context: () => new Promise(() => {}) }, ["recall"]],
    [
      "cannot store",
      { remember: () => Promise.reject(new MemoryError("corrupt", "damaged.")) },
      ["store", "store"],
    ],
  ])("leaves the chat unchanged and is counted if it %s", async (_how, how, steps) => {
    const words = "Where do I live, and what is my dog called?";
    broken = how;
    const response = await chat(words);
    expect(response.status).toBe(200);
    expect(((await response.json()) as Json).choices[0].message.content).toContain("dog");
    if (steps.includes("recall")) {
      expect(lastSent()).toContain(`"content":"${words}"`);
      expect(response.headers.get("x-keepsake-memory")).toBe("degraded");
    }
    await until(() => troubles.length === steps.length);
    expect(troubles).toEqual(steps);
  });

  it("shows no data that it failed to forget", async () => {
    const ana = keepsake.scope({ user: "ana" });
    await ana.remember("I use Magnet.");
    broken = { remember: unavailable };
    const response = await chat("Forget that I use Magnet, please.");
    expect([response.status, response.headers.get("x-keepsake-memory-why")]).toEqual([200, "forget failed"]);
    expect(lastSent()).toContain("Nothing is erased yet");
    expect(lastSent()).not.toContain("What is kept about the user");
    expect(troubles).toContain("forget");
    const next = await chat("Which tool do I use?");
    expect(next.headers.get("x-keepsake-memory-why")).toBe("forget pending");
    expect(lastSent()).not.toContain("Magnet");
    broken = undefined;
    await until(async () => (await stored()).every((words) => !String(words).includes("Magnet")));
    expect((await chat("Which tool do I use now?")).headers.get("x-keepsake-memory")).toBe("on");
  });
});

describe("an upstream that fails", () => {
  it.each([400, 401, 404, 429, 500, 503])("has its own error forwarded: %i", async (status) => {
    upstream.troubles.push({
      status,
      headers: { "retry-after": "7", "x-ratelimit-remaining-requests": "0" },
    });
    const response = await chat("Hello there.");
    expect(response.status).toBe(status);
    expect(await response.text()).toBe(upstream.received[0]?.sent);
    expect(response.headers.get("retry-after")).toBe("7");
    expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect(response.headers.get("x-request-id")).toBe("req_00000001");
    expect(upstream.received).toHaveLength(1);
    expect(reports.map(({ outcome }) => outcome)).toEqual([
      status === 429 ? "rate_limited" : status < 500 ? "rejected" : "failed",
    ]);
    // What was said was said.
    await until(async () => (await stored()).length === 1);
  });

  it("gives a clear error if it is unreachable, closes silently, or takes too long", async () => {
    upstream.troubles.push("hangs up");
    expect((await chat("Hello there.")).status).toBe(502);
    upstream.troubles.push("hangs");
    const late = await chat("Hello there.");
    expect([late.status, ((await late.json()) as Json).error.code]).toEqual([504, "unavailable"]);
    await upstream.close();
    const gone = await chat("Hello there.");
    expect(gone.status).toBe(502);
    const { error } = (await gone.json()) as Json;
    expect(error).toMatchObject({ type: "server_error", param: null });
    expect(error.message).not.toContain("Hello");
    expect(reports.map(({ outcome }) => outcome)).toEqual(["unreachable", "timeout", "unreachable"]);
  }, 10_000);

  it("does not have its redirects followed", async () => {
    upstream.troubles.push({ status: 307, headers: { location: "http://127.0.0.1:1/v1" } });
    const response = await chat("Hello there.");
    expect([response.status, response.headers.get("location")]).toEqual([502, null]);
  });

  it("that cuts its stream has it cut here too, and the partial reply is stored as cut", async () => {
    upstream.reply = () => "One two three four five six.";
    upstream.troubles.push({ afterEvents: 4, it: "resets" });
    const response = await chat("Count for me, please.", { stream: true });
    let came = "";
    const reading = (async () => {
      for await (const bytes of response.body ?? []) came += Buffer.from(bytes).toString("utf8");
    })();
    await expect(reading).rejects.toThrow();
    expect(came).not.toBe("");
    expect(upstream.received[0]?.sent.startsWith(came)).toBe(true);
    await until(async () => (await stored()).length === 2);
    expect((await stored())[1]).toMatch(/^One two\b/);
    expect(reports.map(({ outcome }) => outcome)).toEqual(["cut"]);
  });

  it("that ends its stream early has it forwarded byte for byte", async () => {
    upstream.troubles.push({ afterEvents: 3, it: "ends" });
    const response = await chat("Count for me, please.", { stream: true });
    expect(await response.text()).toBe(upstream.received[0]?.sent);
    await until(() => reports.length > 0);
    expect(reports[0]?.outcome).toBe("cut");
  });
});

describe("a stream", () => {
  it.each(["/v1/chat/completions", "/v1/responses"])("a stream of %s arrives byte for byte", async (path) => {
    upstream.reply = () => "Grüße 👋🏽 from the “model”. 你好。";
    const body = { model: "gpt-4o-mini", user: "ana", stream: true, stream_options: { include_usage: true } };
    const asked =
      path === "/v1/responses" ? { input: "Hello." } : { messages: [{ role: "user", content: "Hello." }] };
    const response = await fetch(`${served.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ ...body, ...asked }),
    });
    expect(await response.text()).toBe(upstream.received[0]?.sent);
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    await until(async () => (await stored()).length === 2);
    expect((await stored())[1]).toBe("Grüße 👋🏽 from the “model”. 你好。");
    expect(reports[0]).toMatchObject({
      purpose: "chat",
      model: expect.stringContaining("gpt-4o-mini"),
      outcome: "ok",
    });
    expect(reports[0]?.isEstimated).toBeUndefined();
  });

  it("arrives in chunks as it is sent", async () => {
    upstream.troubles.push({ betweenMs: 30 });
    const response = await chat("Hello there.", { stream: true });
    const times: number[] = [];
    for await (const _ of response.body ?? []) times.push(performance.now());
    expect(times.length).toBeGreaterThanOrEqual(4);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(60);
  });

  it("ends at the upstream when the client disconnects, and the partial reply is stored", async () => {
    upstream.reply = () => "One two three four five six seven eight nine ten.";
    upstream.troubles.push({ betweenMs: 50 });
    const gone = new AbortController();
    const response = await fetch(`${served.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "gpt-4o-mini",
        user: "ana",
        stream: true,
        messages: [{ role: "user", content: "Count for me, please." }],
      }),
      signal: gone.signal,
    });
    let seen = "";
    const reading = (async () => {
      for await (const bytes of response.body ?? []) {
        seen += Buffer.from(bytes).toString("utf8");
        if (seen.includes("two")) gone.abort();
      }
    })();
    await expect(reading).rejects.toThrow();
    await until(() => upstream.received[0]?.isGone === true);
    await until(async () => (await stored()).length === 2);
    expect((await stored())[1]).toMatch(/^One two/);
    expect((await stored())[1]).not.toContain("ten");
    expect(reports.map(({ outcome }) => outcome)).toEqual(["aborted"]);
  });
});

describe("the request to the upstream", () => {
  const body = {
    api_base: "http://127.0.0.1:1",
    base_url: "http://127.0.0.1:1",
    api_key: "sk-mine",
    extra_headers: { authorization: "x" },
  };

  it("cannot choose another server, and contains no Keepsake headers", async () => {
    const response = await chat("Hello there.", body, {
      cookie: "keepsake_7420=secret",
      "openai-organization": "org-other",
      "x-forwarded-for": "10.0.0.1",
      "x-keepsake-user": "ana",
      "x-custom": "kept",
    });
    expect(response.status).toBe(200);
    const [received] = upstream.received;
    expect(received?.authorization).toBe("Bearer sk-upstream");
    for (const name of Object.keys(body)) expect(received?.body).not.toHaveProperty(name);
    const names = Object.keys(received?.headers ?? {});
    expect(names).toContain("x-custom");
    expect(names.filter((name) => /cookie|forwarded|keepsake|organization/.test(name))).toEqual([]);
    expect(lastSent()).not.toContain(KEY);
  });

  it("uses the client's own key if it sends one with ours", async () => {
    const response = await chat(
      "Hello there.",
      {},
      { authorization: "Bearer sk-of-the-client", "x-keepsake-key": KEY, "openai-organization": "org-own" },
    );
    // This upstream takes no other key than its own, and says so itself.
    expect(response.status).toBe(401);
    expect(upstream.received[0]?.authorization).toBe("Bearer sk-of-the-client");
    expect(upstream.received[0]?.headers["openai-organization"]).toBe("org-own");
    const without = await chat("Hello.", {}, { authorization: "Bearer sk-upstream" });
    expect(without.status).toBe(401);
    expect(upstream.received).toHaveLength(1);
  });
});

// Last: it asks a hundred times, and what it leaves to collect takes the time of the test behind it.
describe("a memory that can take nothing for long", () => {
  it("refuses a request to forget that it can neither carry out nor keep", async () => {
    broken = { remember: unavailable };
    const answers: Response[] = [];
    for (let i = 0; i <= 100; i += 1)
      answers.push(await chat(`Forget that I use tool ${i}, please.`, { user: `user ${i}` }));
    expect(answers.slice(0, -1).every(({ status }) => status === 200)).toBe(true);
    expect(answers.at(-1)?.status).toBe(503);
    expect(upstream.received).toHaveLength(answers.length - 1);
  });
});
