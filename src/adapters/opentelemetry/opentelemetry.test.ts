import { context, propagation, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import { apiKeys, httpApp, passingKeys } from "../../http/index.ts";
import { createMemory } from "../../memory.ts";
import { type OpenaiServer, openaiServer } from "../../testing/index.ts";
import { openaiEmbedder } from "../openai/index.ts";
import { otelTracer } from "./index.ts";

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const clock = () => new Date("2026-11-21T10:00:00Z");

let server: OpenaiServer;
let memory: Keepsake;
let app: ReturnType<typeof httpApp>;
let key: string;

beforeAll(async () => {
  provider.register();
  server = await openaiServer();
  const tracer = await otelTracer();
  if (!tracer) throw new Error("the API is a dev dependency: it is there");
  memory = await createMemory({
    path: ":memory:",
    clock,
    tracer,
    embedder: (hooks) => openaiEmbedder({ baseUrl: server.url, tries: 1, patienceMs: 5000, ...hooks }),
  });
  const keys = apiKeys({ store: passingKeys(), clock });
  key = keys.first ?? "";
  app = httpApp({ keepsake: memory, keys, tracer });
});
beforeEach(() => exporter.reset());
afterAll(async () => {
  await memory.close();
  await server.close();
  await provider.shutdown();
  for (const api of [trace, context, propagation]) api.disable();
});

const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
const named = (name: string): ReadableSpan => {
  const found = spans().find((span) => span.name === name);
  if (!found) throw new Error(`no span ${name} among ${spans().map((span) => span.name)}`);
  return found;
};

function call(path: string, body?: unknown): Promise<Response> {
  return Promise.resolve(
    app.request(path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", traceparent: PARENT },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
}

describe("OpenTelemetry spans", () => {
  it("continue the caller's trace through the request and the recall to the model's server", async () => {
    await call("/api/v1/memories/canary-ana/search", { query: "Where do I live, canary?" });
    const request = named("POST /api/v1/memories/{user_id}/search");
    const search = named("search_memory");
    const embedding = named("embeddings text-embedding-3-small");
    expect(request.spanContext().traceId).toBe("0af7651916cd43dd8448eb211c80319c");
    expect(request.parentSpanContext?.spanId).toBe("b7ad6b7169203331");
    expect(search.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
    expect(embedding.parentSpanContext?.spanId).toBe(search.spanContext().spanId);
    expect(request.attributes).toEqual({
      "http.request.method": "POST",
      "http.response.status_code": 200,
      "http.route": "/api/v1/memories/{user_id}/search",
    });
    expect(search.attributes).toMatchObject({ "gen_ai.operation.name": "search_memory" });
    expect(embedding.attributes).toMatchObject({
      "gen_ai.operation.name": "embeddings",
      "gen_ai.request.model": "text-embedding-3-small",
      "keepsake.outcome": "ok",
    });
    expect(embedding.duration[0] * 1e9 + embedding.duration[1]).toBeGreaterThan(0);
  });

  it("report an error by its code", async () => {
    await expect(memory.scope({ user: "ana" }).get("nothing")).rejects.toMatchObject({ code: "not_found" });
    expect(named("keepsake.get")).toMatchObject({
      attributes: { "error.type": "not_found" },
      status: { code: 2 },
    });
    expect(named("keepsake.get").events).toEqual([]);
  });

  it("report a failed call", async () => {
    server.always = { status: 500 };
    await memory.scope({ user: "ana" }).recall("What now?");
    server.always = undefined;
    expect(named("embeddings text-embedding-3-small").attributes).toMatchObject({ "error.type": "failed" });
  });

  it("of a stream end with the stream", async () => {
    const ana = memory.scope({ user: "ana" });
    await ana.remember("I live in Porto.");
    exporter.reset();
    for await (const _ of ana.answerStream("Where do I live?"))
      expect(spans().map(({ name }) => name)).not.toContain("keepsake.answerStream");
    expect(named("keepsake.answerStream").status.code).toBe(0);
  });

  it("contain no text and no name of a user", async () => {
    const user = "canary-ana";
    await call("/message", { userId: user, message: "I live in Canarytown." });
    await call("/message", { userId: user, message: "Where do I live, canary?" });
    await call(`/api/v1/memories/${user}`);
    await call(`/canary?canary=canary`);
    await call("/forget", { userId: user, message: "Canarytown" });
    const all = spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
    expect(all.length).toBeGreaterThan(7);
    expect(JSON.stringify(all)).not.toMatch(/canary/i);
  });
});
