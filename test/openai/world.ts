import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import type { ProxyOptions } from "../../src/http/proxy/proxy.ts";
import { type Served, serve } from "../../src/http/server.ts";
import { createMemory } from "../../src/memory.ts";
import type { RateLimits } from "../../src/ports/rate-limits.ts";
import { type OpenaiServer, openaiServer } from "../../src/testing/openai/openai-server.ts";

/** The server's own key, which no generated key looks like. */
export const SERVER_KEY = "a-key-for-this-test-0123456789";
/** The key that the settings hold for the model's server. */
export const UPSTREAM_KEY = "sk-upstream-of-the-server";

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
export type Json = any;

export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

/** A Keepsake server in front of a server of OpenAI's protocol, both on ports of this machine. */
export interface ProxyWorld {
  readonly keepsake: Keepsake;
  readonly upstream: OpenaiServer;
  readonly served: Served;
  /** Sends JSON, or a body as it is, with the server's key unless the headers say otherwise. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: { readonly [name: string]: string },
  ): Promise<ProxyAnswer>;
  /** What is stored of a user, oldest first, once nothing waits to be stored. */
  messagesOf(user: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function proxyWorld(
  options: { readonly proxy?: ProxyOptions; readonly byteLimits?: RateLimits } = {},
): Promise<ProxyWorld> {
  const clock = () => new Date("2026-03-01T12:00:00Z");
  const keepsake = await createMemory({ path: ":memory:", clock });
  const upstream = await openaiServer({ reply: () => "Noted." });
  const served = await serve({
    keepsake,
    clock,
    port: 0,
    apiKey: SERVER_KEY,
    ...(options.byteLimits ? { byteLimits: options.byteLimits } : {}),
    proxy: {
      upstream: { baseUrl: upstream.url, apiKey: UPSTREAM_KEY },
      clock,
      retrievalMs: 1000,
      deadlineMs: 10_000,
      ...options.proxy,
    },
  });
  const messagesOf = async (user: string): Promise<string[]> => {
    const lines: string[] = [];
    for await (const line of keepsake.scope({ user }).export())
      if (line.type === "message") lines.push((line.message as { content: string }).content);
    // What records a response has no words.
    return lines.filter((words) => words !== "");
  };
  return {
    keepsake,
    upstream,
    served,
    messagesOf,
    async call(method, path, body, headers = {}) {
      const isJson = body !== undefined && typeof body !== "string";
      const response = await fetch(`${served.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${SERVER_KEY}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as string) }),
      });
      const text = await response.text();
      const json = text.startsWith("{") ? (JSON.parse(text) as Json) : undefined;
      return { status: response.status, headers: response.headers, text, json };
    },
    async close() {
      await served.close();
      await keepsake.close();
      await upstream.close();
    },
  };
}
