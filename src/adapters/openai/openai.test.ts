import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { embedderConformance } from "../../testing/embedder-conformance.ts";
import { type EmbeddingsServer, startEmbeddingsServer } from "../../testing/openai/openai-server.ts";
import { parseRetryAfter } from "../shared/model-calls/remote-call.ts";
import { splitIntoBatches } from "./embeddings.ts";
import { type OpenaiEmbedderOptions, openaiEmbedder } from "./index.ts";

const KEY = "sk-test-0123456789-never-shown";
const SOON = { "retry-after-ms": "5" };

let server: EmbeddingsServer;
beforeAll(async () => {
  server = await startEmbeddingsServer({ apiKey: KEY, mostTexts: 100 });
});
afterAll(() => server.close());
beforeEach(() => {
  server.received.length = 0;
  server.troubles.length = 0;
  server.always = undefined;
});

const embedder = (options: OpenaiEmbedderOptions = {}) =>
  openaiEmbedder({ baseUrl: server.url, apiKey: KEY, ...options });

const inputs = (): unknown[] => server.received.map(({ body }) => body.input);

embedderConformance({ name: "openai", open: async () => embedder() });
embedderConformance({
  name: "openai, shortened",
  open: async () => embedder({ dimensions: 256, cacheSize: 0 }),
});
embedderConformance({
  name: "another model of the same protocol",
  open: async () => embedder({ model: "nomic-embed-text", dimensions: 768, batchSize: 7 }),
});

describe("the embedder of OpenAI", () => {
  it("sends requests by the protocol, with the key only in the header", async () => {
    await embedder().embed(["one", "two"]);
    await embedder({ dimensions: 512 }).embed(["three"]);
    expect(server.received.map(({ path, authorization, body }) => [path, authorization, body])).toEqual([
      [
        "/v1/embeddings",
        `Bearer ${KEY}`,
        { model: "text-embedding-3-small", input: ["one", "two"], encoding_format: "float" },
      ],
      [
        "/v1/embeddings",
        `Bearer ${KEY}`,
        { model: "text-embedding-3-small", input: ["three"], encoding_format: "float", dimensions: 512 },
      ],
    ]);
  });

  it("names the space of its vectors", () => {
    const shapes = [embedder(), embedder({ dimensions: 256 }), embedder({ model: "text-embedding-3-large" })];
    expect(shapes.map(({ fingerprint, dimensions, local }) => [fingerprint, dimensions, local])).toEqual([
      ["openai/text-embedding-3-small/1536", 1536, false],
      ["openai/text-embedding-3-small/256", 256, false],
      ["openai/text-embedding-3-large/3072", 3072, false],
    ]);
  });

  it("requests each text once, in batches of at most a hundred", async () => {
    const texts = Array.from({ length: 250 }, (_, i) => `text number ${i % 230}`);
    await embedder().embed(texts);
    expect(inputs().map((input) => (input as string[]).length)).toEqual([100, 100, 30]);
  });

  it("keeps a request within the token limit of the server", () => {
    const long = "x".repeat(8000);
    const batches = splitIntoBatches(
      Array.from({ length: 90 }, () => long),
      100,
    );
    expect(batches.map(({ length }) => length)).toEqual([37, 37, 16]);
    expect(splitIntoBatches(["a", "b", "c"], 2)).toEqual([["a", "b"], ["c"]]);
    expect(splitIntoBatches([], 2)).toEqual([]);
  });

  it("caches vectors, and evicts the least recently used ones", async () => {
    const small = embedder({ cacheSize: 2 });
    await small.embed(["a"]);
    await small.embed(["b"]);
    await small.embed(["a"]);
    await small.embed(["c"]);
    await small.embed(["a"]);
    await small.embed(["b"]);
    expect(inputs()).toEqual([["a"], ["b"], ["c"], ["b"]]);
    const none = embedder({ cacheSize: 0 });
    await none.embed(["a"]);
    await none.embed(["a"]);
    expect(server.received).toHaveLength(6);
  });

  it("has an empty cache after it is evicted", async () => {
    const one = embedder();
    await one.embed(["a"]);
    one.cache?.clear();
    await one.embed(["a"]);
    expect(inputs()).toEqual([["a"], ["a"]]);
  });

  it("measures the threshold for merges when it is first needed, once, and keeps it for later processes", async () => {
    const profilesPath = mkdtempSync(join(tmpdir(), "keepsake-openai-"));
    try {
      const first = embedder({ profilesPath });
      expect([first.duplicateFloor, server.received.length]).toEqual([undefined, 0]);
      const [floor = -1, same] = await Promise.all([
        first.calibration?.duplicateFloor(),
        first.calibration?.duplicateFloor(),
      ]);
      expect(same).toBe(floor);
      expect(inputs().map((input) => (input as string[]).length)).toEqual([40]);
      expect(floor).toBeGreaterThanOrEqual(0);
      expect(floor).toBeLessThanOrEqual(1);
      expect(await embedder({ profilesPath }).calibration?.duplicateFloor()).toBe(floor);
      expect(server.received).toHaveLength(1);
      await embedder({ profilesPath, dimensions: 256 }).calibration?.duplicateFloor();
      expect(server.received).toHaveLength(2);
      const given = embedder({ duplicateFloor: 0.8 });
      expect([given.duplicateFloor, given.calibration]).toEqual([0.8, undefined]);
    } finally {
      rmSync(profilesPath, { recursive: true });
    }
  });

  it("goes on with a measurement that broke off, and sends no sentence again", async () => {
    const one = embedder({ batchSize: 10, tries: 1 });
    const none = { change: (answer: unknown) => answer } as EmbeddingsServer["troubles"][number];
    server.troubles.push(none, none, { status: 500 });
    await expect(one.calibration?.duplicateFloor()).rejects.toMatchObject({ code: "unavailable" });
    const sent = server.received.length;
    expect(await one.calibration?.duplicateFloor()).toBeGreaterThanOrEqual(0);
    expect(sent).toBe(3);
    expect(inputs().flat()).toHaveLength(50);
    expect(new Set(inputs().flat()).size).toBe(40);
  });

  it("sends no request without a text to embed", async () => {
    expect(await embedder().embed([])).toEqual([]);
    await embedder().embed(["", "  "]);
    expect(server.received).toEqual([]);
  });

  it.each([
    ["too many requests", { status: 429, headers: SOON }],
    ["a fault of the server", { status: 500, headers: SOON }],
    ["a server that is being changed", { status: 503, headers: SOON }],
  ] as const)("tries again after %s", async (_what, trouble) => {
    server.troubles.push(trouble, trouble);
    const [vector] = await embedder().embed(["tried again"]);
    expect(vector).toHaveLength(1536);
    expect(server.received).toHaveLength(3);
  });

  it.each([
    ["hung up", "hangs up"],
    ["gave no JSON", { answer: "<html>Bad gateway: I use Shram" }],
    ["gave half an answer", { answer: '{"object":"list","data":[{"index":0,"embedding":[0.1,' }],
    ["gave a vector too few", { change: (answer) => ({ ...answer, data: answer.data.slice(1) }) }],
    [
      "gave a vector too many",
      { change: (answer) => ({ ...answer, data: [...answer.data, answer.data[0]] }) },
    ],
    [
      "gave one twice",
      { change: (answer) => ({ ...answer, data: answer.data.map((one) => ({ ...one, index: 0 })) }) },
    ],
    [
      "gave texts for numbers",
      {
        change: (answer) => ({ ...answer, data: answer.data.map((one) => ({ ...one, embedding: "AAAA" })) }),
      },
    ],
    [
      "gave no numbers",
      {
        change: (answer) => ({ ...answer, data: answer.data.map((one) => ({ ...one, embedding: [null] })) }),
      },
    ],
    ["gave an error as if all were well", { answer: '{"error":{"message":"overloaded"}}' }],
  ] satisfies [string, EmbeddingsServer["troubles"][number]][])(
    "takes no wrong answer for a right one: it %s, and was asked again",
    async (_what, trouble) => {
      server.troubles.push(trouble);
      const vectors = await embedder({ tries: 2 }).embed(["one", "two"]);
      expect(vectors.map(({ length }) => length)).toEqual([1536, 1536]);
      expect(server.received).toHaveLength(2);
    },
  );

  it("restores the order of the texts if the answer has another one", async () => {
    const right = await embedder().embed(["one", "two", "three"]);
    server.troubles.push({ change: (answer) => ({ ...answer, data: [...answer.data].reverse() }) });
    expect(await embedder().embed(["one", "two", "three"])).toEqual(right);
  });

  it("normalises vectors to unit length if the server does not", async () => {
    const right = await embedder().embed(["one"]);
    server.troubles.push({
      change: (answer) => ({
        ...answer,
        data: answer.data.map((one) => ({ ...one, embedding: one.embedding.map((part) => part * 7) })),
      }),
    });
    const [vector] = await embedder().embed(["one"]);
    for (const [i, part] of (vector ?? []).entries())
      expect(part).toBeCloseTo(right[0]?.[i] ?? Number.NaN, 6);
  });

  it("does not retry before the server's retry delay is over", async () => {
    server.troubles.push({ status: 429, headers: { "retry-after": "1" } });
    await embedder().embed(["patience"]);
    const [first, second] = server.received;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it("does not wait for a server that asks for more than a minute", async () => {
    server.always = { status: 429, headers: { "retry-after": "3600" } };
    await expect(embedder().embed(["later"])).rejects.toMatchObject({ code: "unavailable" });
    expect(server.received).toHaveLength(1);
  });

  it("parses the retry delay in all its forms", () => {
    const after = (name: string, value: string) =>
      parseRetryAfter(new Headers({ [name]: value }), Date.UTC(2026, 0, 1));
    expect(after("retry-after", "2")).toBe(2000);
    expect(after("retry-after", "0.5")).toBe(500);
    expect(after("retry-after", "Thu, 01 Jan 2026 00:00:07 GMT")).toBe(7000);
    expect(after("retry-after", "Wed, 31 Dec 2025 00:00:00 GMT")).toBe(0);
    expect(after("retry-after", "soon")).toBeUndefined();
    expect(after("retry-after-ms", "20")).toBe(20);
    expect(after("x", "1")).toBeUndefined();
  });

  it("fails if the server does not answer in time", async () => {
    server.always = "hangs";
    const begun = performance.now();
    await expect(embedder({ timeoutMs: 60, tries: 2 }).embed(["slow"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("60 ms"),
    });
    expect(performance.now() - begun).toBeLessThan(3000);
    expect(server.received).toHaveLength(2);
  });

  it("stops at once when the caller aborts a request or a pause", async () => {
    const reason = new Error("enough");
    for (const trouble of ["hangs", { status: 429, headers: { "retry-after": "30" } }] as const) {
      server.always = trouble;
      const stopping = new AbortController();
      const begun = performance.now();
      setTimeout(() => stopping.abort(reason), 50);
      await expect(embedder().embed(["long"], { signal: stopping.signal })).rejects.toBe(reason);
      expect(performance.now() - begun).toBeLessThan(2000);
    }
  });

  it.each([
    [400, "invalid_input"],
    [413, "invalid_input"],
    [401, "unavailable"],
    [403, "unavailable"],
    [404, "unavailable"],
  ])("does not retry status %i, which would not change", async (status, code) => {
    server.always = { status };
    await expect(embedder().embed(["once"])).rejects.toMatchObject({ code });
    expect(server.received).toHaveLength(1);
  });

  it("names the model's dimensions if the configured ones differ", async () => {
    const wrong = embedder({ model: "nomic-embed-text", dimensions: 512 });
    await expect(wrong.embed(["one"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("768"),
    });
  });

  it("never shows a text or the key in an error", async () => {
    const secretText = "I hide the diamonds under the oak.";
    const failures: unknown[] = [];
    const troubles: EmbeddingsServer["always"][] = [
      ...[400, 401, 404, 429, 500].map((status) => ({ status, headers: SOON })),
      { answer: `not json: ${secretText} ${KEY}` },
      "hangs up",
      "hangs",
    ];
    for (const trouble of troubles) {
      server.always = trouble;
      const short = embedder({ tries: 2, timeoutMs: 100 });
      await short.embed([secretText]).catch((error: unknown) => failures.push(error));
    }
    const nowhere = openaiEmbedder({ baseUrl: "http://127.0.0.1:1/v1", apiKey: KEY, tries: 1 });
    await nowhere.embed([secretText]).catch((error: unknown) => failures.push(error));
    expect(failures).toHaveLength(9);
    for (const failure of failures) {
      expect(failure).toMatchObject({
        name: "MemoryError",
        code: expect.stringMatching(/unavailable|invalid_input/),
      });
      const shown = inspect(failure, { depth: 10, showHidden: true });
      expect(shown).not.toContain("diamonds");
      expect(shown).not.toContain(KEY);
    }
  });

  it.each([
    ["no key for OpenAI", {}],
    ["a key with a line break", { apiKey: "sk-\nx" }],
    ["an address that is none", { apiKey: KEY, baseUrl: "api.example.com" }],
    ["a password in the address", { apiKey: KEY, baseUrl: "https://me:hunter2@example.com/v1" }],
    ["an unknown model without dimensions", { apiKey: KEY, model: "mystery" }],
    ["more dimensions than the model has", { apiKey: KEY, dimensions: 3072 }],
    ["fewer than a model can give", { apiKey: KEY, model: "text-embedding-ada-002", dimensions: 256 }],
    ["no dimensions", { apiKey: KEY, dimensions: 0 }],
    ["a batch of none", { apiKey: KEY, batchSize: 0 }],
    ["a batch that no server takes", { apiKey: KEY, batchSize: 5000 }],
    ["a floor above one", { apiKey: KEY, floor: 2 }],
  ] satisfies [string, OpenaiEmbedderOptions][])("refuses %s when it is made", (_what, options) => {
    let refused: unknown;
    try {
      openaiEmbedder(options);
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({ code: "invalid_input" });
    expect(inspect(refused)).not.toMatch(/hunter2|sk-/);
  });

  it("sends no key to a server that needs none", async () => {
    const open = await startEmbeddingsServer();
    try {
      await openaiEmbedder({ baseUrl: `${open.url}/` }).embed(["free"]);
      expect(open.received[0]).toMatchObject({ path: "/v1/embeddings", authorization: undefined });
    } finally {
      await open.close();
    }
  });
});
