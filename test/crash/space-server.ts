import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { vectorIn } from "./reembed-child.ts";

/** A server of OpenAI's embeddings, whose vectors are those of one space. */
export interface SpaceServer {
  readonly url: string;
  /** Every text that it was given, oldest first. */
  readonly texts: string[];
  /** How long a batch of several texts takes, in ms. */
  awayMs: number;
  /** How many more batches of several texts it answers. Later ones wait until their client is gone. */
  batchesLeft: number;
  close(): void;
}

interface EmbeddingsRequest {
  readonly input: string | readonly string[];
}

/** Starts a server whose text `same[0]` has the vector of `same[1]`, so that a query finds a text without a common word. */
export async function startSpaceServer(
  space: string,
  same: readonly [query: string, text: string] = ["", ""],
): Promise<SpaceServer> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { input } = JSON.parse(Buffer.concat(parts).toString("utf8")) as EmbeddingsRequest;
    const texts = typeof input === "string" ? [input] : input;
    given.texts.push(...texts);
    if (texts.length > 1) {
      if (given.batchesLeft === 0) return;
      given.batchesLeft -= 1;
      await pause(given.awayMs);
    }
    const data = texts.map((text, index) => ({
      object: "embedding",
      index,
      embedding: [...vectorIn(space, text === same[0] ? same[1] : text)],
    }));
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ object: "list", data, model: "test", usage: { prompt_tokens: 1, total_tokens: 1 } }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const given: SpaceServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    texts: [],
    awayMs: 0,
    batchesLeft: Number.POSITIVE_INFINITY,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return given;
}

/** Calls the API of a started server. */
export async function callApi(
  { url, key }: { readonly url: string; readonly key: string },
  method: string,
  path: string,
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
): Promise<{ readonly status: number; readonly json: any }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, json: await response.json() };
}
