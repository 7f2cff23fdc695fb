import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { CallReport } from "../../domain/model-usage.ts";
import { rerankerConformance } from "../../testing/reranker-conformance.ts";
import { wordReranker } from "../../testing/test-doubles.ts";
import { serverReranker } from "./index.ts";

interface SentBody {
  readonly model?: string;
  readonly query?: string;
  readonly documents?: readonly string[];
  readonly texts?: readonly string[];
  readonly top_n?: number;
}

interface RerankTestServer {
  readonly url: string;
  readonly received: { readonly body: SentBody; readonly key: string | undefined; readonly path: string }[];
  /** Set to answer with this status or text instead. */
  answer: { readonly status: number; readonly text: string } | undefined;
  readonly raw: { on: boolean };
  close(): Promise<void>;
}

/** A server of the protocol, as Cohere, Jina and vLLM have it ("documents"), or as TEI has it ("texts"). */
async function startServer(form: "documents" | "texts"): Promise<RerankTestServer> {
  const words = wordReranker();
  const respond = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const body = JSON.parse(text) as SentBody;
    given.received.push({ body, key: request.headers.authorization, path: request.url ?? "" });
    if (given.answer) return respond(response, given.answer.status, given.answer.text);
    const texts = body[form];
    if (!texts)
      return respond(response, 422, `Failed to deserialize the JSON body: missing field \`${form}\``);
    if (form === "texts" && texts.length > 32) return respond(response, 422, "batch size > maximum 32");
    if (texts.some((one) => one === "")) return respond(response, 400, "inputs cannot be empty");
    const scores = await words.score(body.query ?? "", texts);
    const results = scores
      .map((score, index) => ({ index, score: given.raw.on ? 10 * score - 5 : score }))
      .sort((one, other) => other.score - one.score)
      .slice(0, body.top_n);
    if (form === "texts") return respond(response, 200, results);
    return respond(response, 200, {
      results: results.map(({ index, score }) => ({ index, relevance_score: score })),
      usage: { total_tokens: 321 },
    });
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const given: RerankTestServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: undefined,
    raw: { on: false },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return given;
}

let cohere: RerankTestServer;
let tei: RerankTestServer;
beforeAll(async () => {
  [cohere, tei] = await Promise.all([startServer("documents"), startServer("texts")]);
});
afterAll(() => Promise.all([cohere.close(), tei.close()]));
beforeEach(() => {
  for (const server of [cohere, tei]) {
    server.received.length = 0;
    server.answer = undefined;
    server.raw.on = false;
  }
});

rerankerConformance({
  name: "a server with documents",
  open: async () => serverReranker({ baseUrl: `${cohere.url}/v1`, model: "rerank-v3.5" }),
});
rerankerConformance({
  name: "a server with texts",
  open: async () => serverReranker({ baseUrl: tei.url }),
});

const TEXTS = ["the red boat", "a green hill", "the boat sank"];

describe("a reranker on a server", () => {
  it("sends the model, the query and the documents with the key, and reports the call", async () => {
    const calls: CallReport[] = [];
    const reranker = serverReranker({
      baseUrl: `${cohere.url}/v2/rerank`,
      model: "rerank-v3.5",
      apiKey: "a-key",
      onCall: (report) => calls.push(report),
    });
    expect(await reranker.score("boat", TEXTS)).toEqual([1, 0, 1]);
    expect(cohere.received).toEqual([
      {
        body: { model: "rerank-v3.5", query: "boat", documents: TEXTS, top_n: 3 },
        key: "Bearer a-key",
        path: "/v2/rerank",
      },
    ]);
    expect(calls).toMatchObject([
      { purpose: "rerank", model: "rerank-v3.5", outcome: "ok", units: 3, tokensIn: 321 },
    ]);
  });

  it("learns from a refusal that a server takes texts, and asks in that form from then on", async () => {
    const reranker = serverReranker({ baseUrl: tei.url });
    expect(await reranker.score("boat", TEXTS)).toEqual([1, 0, 1]);
    expect(await reranker.score("hill", TEXTS)).toEqual([0, 1, 0]);
    expect(tei.received.map(({ body }) => Object.keys(body)[1])).toEqual(["documents", "texts", "texts"]);
  });

  it("turns raw values into shares that keep the order", async () => {
    cohere.raw.on = true;
    const scores = await serverReranker({ baseUrl: cohere.url }).score("boat", TEXTS);
    expect(scores.map((score) => Math.round(score * 100) / 100)).toEqual([0.99, 0.01, 0.99]);
  });

  it.each([
    ["no JSON", "<html>"],
    ["no results", "{}"],
    ["too few results", '{"results":[{"index":0,"relevance_score":1}]}'],
    ["one text twice", '[{"index":0,"score":1},{"index":0,"score":1},{"index":1,"score":1}]'],
    ["a text that was not sent", '[{"index":0,"score":1},{"index":7,"score":1},{"index":1,"score":1}]'],
    ["no numbers", '[{"index":0,"score":"1"},{"index":2,"score":1},{"index":1,"score":1}]'],
  ])("takes an answer with %s for a failure", async (_what, text) => {
    cohere.answer = { status: 200, text };
    await expect(serverReranker({ baseUrl: cohere.url }).score("boat", TEXTS)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("without a score for each text"),
    });
  });

  it("names the setting of a rejected key, and quotes nothing of the request or the answer", async () => {
    cohere.answer = { status: 401, text: "the red boat is not allowed with a-key" };
    const scored = serverReranker({ baseUrl: cohere.url, apiKey: "a-key" }).score("boat", TEXTS);
    const error = await scored.catch((one: Error) => one);
    expect(error).toMatchObject({ code: "unavailable" });
    expect(String(error)).toMatch(/Check KEEPSAKE_RERANKER_API_KEY\.$/);
    expect(String(error)).not.toMatch(/boat|a-key/);
  });

  it("stops asking a server that fails, for a while", async () => {
    cohere.answer = { status: 500, text: "" };
    const reranker = serverReranker({ baseUrl: cohere.url });
    for (let i = 0; i < 7; i += 1) await reranker.score("boat", TEXTS).catch(() => {});
    expect(cohere.received).toHaveLength(5);
  });

  it("refuses wrong options, and names them", () => {
    const open = (options: object) => () => serverReranker({ baseUrl: "http://localhost", ...options });
    expect(open({ baseUrl: "" })).toThrow(/^baseUrl:/);
    expect(open({ baseUrl: "ftp://x" })).toThrow(/^baseUrl:/);
    expect(open({ batchSize: 0 })).toThrow(/batchSize/);
    expect(open({ apiKey: "two words" })).toThrow(/^apiKey:/);
  });
});
