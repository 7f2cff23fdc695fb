import { inspect } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { CallReport } from "../../domain/model-usage.ts";
import { MemoryError } from "../../errors.ts";
import type { Prompt } from "../../ports/language/language-model.ts";
import type { CircuitState } from "../../ports/language/model-calls.ts";
import { languageModelConformance } from "../../testing/language-model-conformance.ts";
import { type OpenaiServer, openaiServer } from "../../testing/openai/openai-server.ts";
import { SPOILT } from "../../testing/openai/script.ts";
import { type OpenaiModelOptions, openaiModel } from "./index.ts";

const KEY = "sk-test-0123456789-never-shown";
const SOON = { "retry-after-ms": "5" };

let server: OpenaiServer;
beforeAll(async () => {
  server = await openaiServer({ apiKey: KEY });
});
afterAll(() => server.close());
beforeEach(() => {
  server.reset();
  server.refusesSchemas = false;
  server.reply = () => '{"towns":["Porto"]}';
});

const made = (options: OpenaiModelOptions = {}) =>
  openaiModel({ baseUrl: server.url, apiKey: KEY, ...options });
const bodies = () => server.received.map(({ body }) => body);

const PROMPT: Prompt = {
  purpose: "understand",
  turns: [
    { role: "system", content: "Name towns." },
    { role: "user", content: "I know Porto." },
  ],
  maxTokens: 200,
  units: 3,
};
const SHAPE: NonNullable<Prompt["shape"]> = {
  name: "towns",
  schema: {
    type: "object",
    properties: { towns: { type: "array", items: { type: "string" } } },
    required: ["towns"],
    additionalProperties: false,
  },
};
const SHAPED = { ...PROMPT, shape: SHAPE };

/** A `fetch` that answers what each request in turn is to get, and keeps where it went. */
function answering(...answers: readonly (object | [status: number, body: object])[]) {
  const sent: { url: string; headers: Headers; body: { [field: string]: unknown } }[] = [];
  let next = 0;
  const fetching = (async (url: URL, init: RequestInit) => {
    sent.push({ url: String(url), headers: new Headers(init.headers), body: JSON.parse(String(init.body)) });
    const answer = answers[Math.min(next, answers.length - 1)] ?? {};
    next += 1;
    const [status, body] = Array.isArray(answer) ? answer : [200, answer];
    return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
  }) as unknown as typeof fetch;
  return { fetching, sent };
}
const saying = (content: unknown, more: object = {}) => ({
  model: "m-1",
  choices: [{ index: 0, message: { role: "assistant", content, ...more }, finish_reason: "stop" }],
  usage: { prompt_tokens: 9, completion_tokens: 4 },
});
const refusing = (message: string, param: string | null = null, code: string | null = null) =>
  [400, { error: { message, type: "invalid_request_error", param, code } }] as [number, object];

let scripted: OpenaiServer;
languageModelConformance({
  name: "openai",
  async open(says) {
    scripted = await openaiServer({
      reply: ({ turns }) =>
        says({ turns: turns.map(({ role, text }) => ({ role: role as "user", content: text })) }),
    });
    return openaiModel({ baseUrl: scripted.url });
  },
  teardown: () => scripted.close(),
});

describe("a chat request", () => {
  it("follows the protocol and contains the key only in its header", async () => {
    await made().complete(SHAPED);
    expect(server.received[0]).toMatchObject({
      path: "/v1/chat/completions",
      authorization: `Bearer ${KEY}`,
      body: {
        model: "gpt-4o-mini",
        messages: PROMPT.turns,
        max_tokens: 200,
        temperature: 0,
        response_format: {
          type: "json_schema",
          json_schema: { name: "towns", strict: true, schema: SHAPE.schema },
        },
      },
    });
    expect(JSON.stringify(bodies())).not.toContain(KEY);
  });

  it.each([
    ["https://api.openai.com/v1", {}, "https://api.openai.com/v1/chat/completions", "authorization"],
    [
      "https://ana.openai.azure.com/openai/v1",
      {},
      "https://ana.openai.azure.com/openai/v1/chat/completions",
      "api-key",
    ],
    [
      "https://ana.openai.azure.com",
      { apiVersion: "2024-10-21", model: "my gpt" },
      "https://ana.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
      "api-key",
    ],
    [
      "https://ana.openai.azure.com/openai/deployments/mine/",
      { apiVersion: "2024-10-21", model: "mine" },
      "https://ana.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21",
      "api-key",
    ],
    [
      "http://localhost:11434/v1/",
      { model: "llama3.2" },
      "http://localhost:11434/v1/chat/completions",
      "authorization",
    ],
  ] as [string, OpenaiModelOptions, string, string][])(
    "goes from %s to the right place",
    async (baseUrl, more, url, header) => {
      const { fetching, sent } = answering(saying("hello"));
      await openaiModel({ baseUrl, apiKey: KEY, fetch: fetching, ...more }).complete(PROMPT);
      expect(sent[0]?.url).toBe(url);
      expect(sent[0]?.headers.get(header)).toContain(KEY);
    },
  );

  it("uses the token limit that each server knows, and no temperature for reasoning models", async () => {
    const one = answering(saying("x"));
    await openaiModel({ apiKey: KEY, fetch: one.fetching }).complete(PROMPT);
    expect(one.sent[0]?.body).toMatchObject({ max_completion_tokens: 200, temperature: 0 });
    const two = answering(saying("x"));
    await openaiModel({ apiKey: KEY, model: "o4-mini", fetch: two.fetching }).complete(PROMPT);
    expect(two.sent[0]?.body).not.toHaveProperty("temperature");
  });

  it.each([
    ["no key for OpenAI", {}],
    ["a key with a line break", { apiKey: "sk-\nx" }],
    ["an address that is none", { apiKey: KEY, baseUrl: "api.example.com" }],
    ["a password in the address", { apiKey: KEY, baseUrl: "https://me:hunter2@example.com/v1" }],
    ["a version that is none", { apiKey: KEY, baseUrl: "https://a.b/", apiVersion: "x y" }],
    ["no tries", { apiKey: KEY, tries: 0 }],
  ] satisfies [string, OpenaiModelOptions][])("refuses %s when it is made", (_what, options) => {
    let refused: unknown;
    try {
      openaiModel(options);
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({ code: "invalid_input" });
    expect(inspect(refused)).not.toMatch(/hunter2|sk-/);
  });
});

describe("a server that refuses parts of a request", () => {
  it("is asked for JSON after it refuses a schema, and this is remembered", async () => {
    server.refusesSchemas = true;
    const model = made();
    for (let i = 0; i < 2; i += 1) {
      expect((await model.complete(SHAPED)).value).toEqual({ towns: ["Porto"] });
    }
    expect(bodies().map(({ response_format: format }) => (format as { type: string }).type)).toEqual([
      "json_schema",
      "json_object",
      "json_object",
    ]);
    expect(server.received[1]?.turns[0]?.text).toMatch(/one JSON object.*"towns": \[string, …\]/s);
  });

  it("is asked in words after it refuses JSON too", async () => {
    const refused = refusing("response_format is not supported by this model");
    const { fetching, sent } = answering(refused, refused, saying('{"towns":[]}'));
    const model = openaiModel({ baseUrl: server.url, fetch: fetching });
    expect((await model.complete(SHAPED)).value).toEqual({ towns: [] });
    expect(sent[2]?.body).not.toHaveProperty("response_format");
    await model.complete(SHAPED);
    expect(sent).toHaveLength(4);
  });

  it("is asked once in words if it ignores a schema, and this is remembered if it helps", async () => {
    const { fetching, sent } = answering(saying("Porto!"), saying('{"towns":["Porto"]}'));
    const model = openaiModel({ baseUrl: server.url, fetch: fetching });
    expect((await model.complete(SHAPED)).value).toEqual({ towns: ["Porto"] });
    await model.complete(SHAPED);
    expect(sent.map(({ body }) => (body.response_format as { type: string }).type)).toEqual([
      "json_schema",
      "json_object",
      "json_object",
    ]);
  });

  it("does not cost two calls per answer if the model ignores every form", async () => {
    const { fetching, sent } = answering(saying("no"));
    const model = openaiModel({ baseUrl: server.url, fetch: fetching });
    for (let i = 0; i < 4; i += 1) expect((await model.complete(SHAPED)).value).toBeUndefined();
    expect(sent).toHaveLength(5);
  });

  it("gets requests without the refused temperature, token limit name and stream options", async () => {
    const { fetching, sent } = answering(
      refusing("Unsupported value: 'temperature' does not support 0 with this model.", "temperature"),
      refusing("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
      saying("at last"),
    );
    const model = openaiModel({ baseUrl: server.url, fetch: fetching });
    expect((await model.complete(PROMPT)).text).toBe("at last");
    expect(sent[2]?.body).toEqual({
      model: "gpt-4o-mini",
      messages: PROMPT.turns,
      max_completion_tokens: 200,
    });
    await model.complete(PROMPT);
    expect(sent).toHaveLength(4);
  });
});

describe("a chat answer", () => {
  it.each([
    ["fenced", { towns: ["Porto"] }],
    ["chatty", { towns: ["Porto"] }],
    ["thought aloud", { towns: ["Porto"] }],
    ["broken", { towns: [] }],
  ] as const)("is read where it is %s", async (way, value) => {
    server.always = SPOILT[way];
    expect((await made().complete(SHAPED)).value).toEqual(value);
  });

  it.each([
    ["refused", "refused"],
    ["cut", "length"],
    ["empty", "stop"],
    ["only thought", "stop"],
  ] as const)("is an answer, and no fault, where it is %s", async (way, finish) => {
    server.always = SPOILT[way];
    expect(await made().complete(SHAPED)).toMatchObject({ finish });
  });

  it("is read from `reasoning_content` if there is no other content", async () => {
    const { fetching } = answering(saying(null, { reasoning_content: 'So: {"towns":["Braga"]}' }));
    const { value, text } = await openaiModel({ baseUrl: server.url, fetch: fetching }).complete(SHAPED);
    expect([value, text]).toEqual([{ towns: ["Braga"] }, ""]);
  });

  it("is a refusal if the provider's filter stopped the prompt", async () => {
    const { fetching } = answering(refusing("The response was filtered", "prompt", "content_filter"));
    const model = openaiModel({ baseUrl: server.url, fetch: fetching });
    expect(await model.complete(SHAPED)).toMatchObject({ finish: "refused", text: "" });
    const stream = model.stream(PROMPT);
    expect(await stream.next()).toMatchObject({ done: true, value: { finish: "refused" } });
  });

  it("has the server's token counts, or estimates without them", async () => {
    const usage = {
      prompt_tokens: 1500,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 1408 },
    };
    const told = answering({ ...saying("x"), usage });
    expect((await openaiModel({ baseUrl: server.url, fetch: told.fetching }).complete(PROMPT)).usage).toEqual(
      {
        tokensIn: 1500,
        tokensCached: 1408,
        tokensOut: 20,
      },
    );
    const untold = answering({ ...saying("four words of text"), usage: null });
    expect(
      (await openaiModel({ baseUrl: server.url, fetch: untold.fetching }).complete(PROMPT)).usage,
    ).toMatchObject({ isEstimated: true, tokensOut: 5 });
  });
});

describe("a streamed answer", () => {
  const gathered = async (model = made()): Promise<string> => {
    let text = "";
    for await (const part of model.stream(PROMPT)) text += part;
    return text;
  };

  it("is retried before its first word, but not after it", async () => {
    server.reply = () => "one two three four five";
    server.troubles.push({ status: 500, headers: SOON });
    expect(await gathered()).toBe("one two three four five");
    for (const it of ["resets", "ends", "errs"] as const) {
      server.reset();
      server.troubles.push({ afterEvents: 3, it });
      await expect(gathered()).rejects.toMatchObject({ code: "unavailable" });
      expect(server.received).toHaveLength(1);
    }
  });

  it("fails if the server falls silent", async () => {
    server.troubles.push({ afterEvents: 2, it: "hangs" });
    await expect(gathered(made({ timeoutMs: 80 }))).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("no answer"),
    });
  });

  it("stops the server when the reader stops", async () => {
    server.reply = () => "word ".repeat(500);
    server.troubles.push({ betweenMs: 5 });
    for await (const _ of made().stream(PROMPT)) break;
    await expect.poll(() => server.received[0]?.isGone).toBe(true);
  });

  it("is accepted from a server that does not stream", async () => {
    const { fetching } = answering(saying("All at once."));
    expect(await gathered(openaiModel({ baseUrl: server.url, fetch: fetching }))).toBe("All at once.");
  });
});

describe("a failing chat server", () => {
  it.each([
    ["too many requests", { status: 429, headers: SOON }],
    ["a fault", { status: 500, headers: SOON }],
    ["a hang-up", "hangs up"],
    ["a page of HTML", { answer: "<html>Bad gateway" }],
    ["half an answer", { answer: '{"choices":[{"mess' }],
    ["an error as if all were well", { answer: '{"error":{"message":"overloaded"}}' }],
    ["no choices", { answer: '{"choices":[]}' }],
  ] as const)("is asked again after %s", async (_what, trouble) => {
    server.troubles.push(trouble);
    expect((await made({ tries: 2 }).complete(SHAPED)).value).toEqual({ towns: ["Porto"] });
    expect(server.received).toHaveLength(2);
  });

  it.each([
    [400, "invalid_input"],
    [422, "invalid_input"],
    [401, "unavailable"],
    [404, "unavailable"],
  ])("is called once for status %i, which would not change", async (status, code) => {
    server.always = { status };
    await expect(made().complete(SHAPED)).rejects.toMatchObject({ code });
    expect(server.received).toHaveLength(1);
  });

  it("is called once if the account has no credit", async () => {
    const { fetching, sent } = answering([
      429,
      { error: { message: "You exceeded", code: "insufficient_quota" } },
    ]);
    const model = openaiModel({ baseUrl: server.url, fetch: fetching });
    await expect(model.complete(PROMPT)).rejects.toThrow("no credit");
    expect(sent).toHaveLength(1);
  });

  it("is not awaited after the deadline of all tries and pauses", async () => {
    server.always = { status: 500 };
    const begun = performance.now();
    await expect(made({ tries: 10, deadlineMs: 300 }).complete(PROMPT)).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(performance.now() - begun).toBeLessThan(1500);
  });

  it("is reported without showing a text or the key", async () => {
    const secret = "I hide the diamonds under the oak.";
    const prompt: Prompt = { ...PROMPT, turns: [{ role: "user", content: secret }] };
    const failures: unknown[] = [];
    for (const status of [400, 401, 404, 429, 500]) {
      server.always = { status, headers: SOON };
      const model = made({ tries: 2 });
      await model.complete(prompt).catch((error: unknown) => failures.push(error));
      await model
        .stream(prompt)
        .next()
        .catch((error: unknown) => failures.push(error));
    }
    expect(failures).toHaveLength(10);
    for (const failure of failures) {
      expect(failure).toMatchObject({ name: "MemoryError" });
      expect(inspect(failure, { depth: 10, showHidden: true })).not.toMatch(/diamonds|sk-test/);
    }
  });
});

describe("the circuit breaker of the chat model", () => {
  it("opens after five failures in a row, reports it, and lets one probe through", async () => {
    const states: CircuitState[] = [];
    const reports: CallReport[] = [];
    const model = made({
      tries: 1,
      onCircuit: (state) => states.push(state),
      onCall: (report) => reports.push(report),
    });
    server.always = { status: 500 };
    for (let i = 0; i < 7; i += 1) await model.complete(PROMPT).catch(() => {});
    expect(server.received).toHaveLength(5);
    expect(model.circuit?.state()).toBe("open");
    expect(reports.map(({ outcome }) => outcome)).toEqual([
      ...Array.from({ length: 5 }, () => "failed"),
      "not_tried",
      "not_tried",
    ]);
    await expect(model.complete(PROMPT)).rejects.toThrow(/5 times in a row\. The next attempt is in \d+ s/);
    expect(states).toEqual(["open"]);
  });

  it("stays closed after refusals and aborted calls", async () => {
    const model = made({ tries: 1 });
    server.always = { status: 400 };
    for (let i = 0; i < 6; i += 1) await model.complete(PROMPT).catch(() => {});
    server.always = "hangs";
    for (let i = 0; i < 6; i += 1) {
      await model.complete(PROMPT, { signal: AbortSignal.timeout(5) }).catch(() => {});
    }
    expect(model.circuit?.state()).toBe("closed");
  });
});

describe("the ledger of the chat model", () => {
  it("records each request with its owner", async () => {
    const told: unknown[] = [];
    const scope = { project: "p", user: "ana" };
    const model = made({
      tries: 2,
      onCall: ({ ms, host, ...report }, whose) => told.push({ ...report, whose }),
    });
    server.troubles.push({ status: 429, headers: SOON });
    await model.complete(SHAPED, { scope });
    for await (const _ of model.stream({ ...PROMPT, purpose: "answer" }, { scope }));
    const tokens = { tokensCached: 0, model: "gpt-4o-mini", whose: scope };
    expect(told).toMatchObject([
      { ...tokens, purpose: "understand", units: 3, outcome: "rate_limited", tokensIn: 0 },
      { ...tokens, purpose: "understand", units: 3, outcome: "ok", tokensIn: expect.any(Number) },
      { ...tokens, purpose: "answer", units: 3, outcome: "ok" },
    ]);
  });

  it("records a rejected call without sending it if a budget is used up", async () => {
    const outcomes: string[] = [];
    const model = made({
      onCall: ({ outcome }) => outcomes.push(outcome),
      mayCall: async (purpose, scope) => {
        throw new MemoryError("over_quota", `no more of ${purpose} for ${scope?.user}`);
      },
    });
    const scope = { project: "p", user: "ana" };
    await expect(model.complete(PROMPT, { scope })).rejects.toMatchObject({ code: "over_quota" });
    await expect(model.stream(PROMPT, { scope }).next()).rejects.toMatchObject({ code: "over_quota" });
    expect(server.received).toEqual([]);
    expect(outcomes).toEqual(["over_budget", "over_budget"]);
  });
});
