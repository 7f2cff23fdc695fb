import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ProxyAnswer, type ProxyWorld, proxyWorld, UPSTREAM_KEY } from "./world.ts";

const CLIENT_KEY = "sk-of-the-client-itself";
const OWN: { readonly [name: string]: string } = { "x-keepsake-upstream-key": CLIENT_KEY };
const TOOL = { type: "function", name: "weather", parameters: { type: "object", properties: {} } };
const WORDS = { role: "user", content: "Hello." };

let world: ProxyWorld;
beforeEach(async () => {
  world = await proxyWorld();
});
afterEach(() => world.close());

const respond = (more: object, headers = {}): Promise<ProxyAnswer> =>
  world.call(
    "POST",
    "/v1/responses",
    { model: "gpt-4o-mini", user: "ana", input: "Hello.", ...more },
    headers,
  );
const chat = (more: object, headers = {}): Promise<ProxyAnswer> =>
  world.call(
    "POST",
    "/v1/chat/completions",
    { model: "gpt-4o-mini", user: "ana", messages: [WORDS], ...more },
    headers,
  );
const withTool = (tool: object) => ({ tools: [TOOL, tool] });
const withItem = (item: object) => ({ input: [WORDS, item] });
const withPart = (part: object) => ({
  input: [{ role: "user", content: [{ type: "input_text", text: "Hi." }, part] }],
});

/** Every way in which a request for a response names what is stored, with the field that is refused. */
const STORED: readonly (readonly [title: string, request: object, param: string])[] = [
  ["background", { background: true }, "background"],
  ["background as text", { background: "true" }, "background"],
  ["a stored prompt", { prompt: { id: "pmpt_bob", variables: { city: "Porto" } } }, "prompt"],
  [
    "a comparison with an earlier response",
    { prompt_cache_options: { comparison_response_id: "resp_bob" } },
    "prompt_cache_options.comparison_response_id",
  ],
  ["a vector store of a tool", withTool({ type: "file_search", vector_store_ids: ["vs_bob"] }), "tools"],
  ["a tool that is not known", withTool({ type: "retrieval", knowledge: "bob" }), "tools"],
  [
    "a container by its id",
    withTool({ type: "code_interpreter", container: "cntr_bob" }),
    "tools[].container",
  ],
  [
    "files of a container",
    withTool({ type: "code_interpreter", container: { type: "auto", file_ids: ["file-bob"] } }),
    "tools[].container.file_ids",
  ],
  [
    "a container of a shell",
    withTool({ type: "shell", environment: { type: "container_reference", container_id: "cntr_bob" } }),
    "tools[].environment.container_id",
  ],
  [
    "a skill of a shell",
    withTool({
      type: "shell",
      environment: { type: "container_auto", skills: [{ type: "skill_reference", skill_id: "skill_bob" }] },
    }),
    "tools[].environment.skills[].skill_id",
  ],
  [
    "a mask of an image",
    withTool({ type: "image_generation", input_image_mask: { file_id: "file-bob" } }),
    "tools[].input_image_mask.file_id",
  ],
  [
    "a connector",
    withTool({ type: "mcp", server_label: "drive", connector_id: "connector_googledrive" }),
    "tools[].connector_id",
  ],
  [
    "a tunnel",
    withTool({ type: "mcp", server_label: "drive", tunnel_id: "tunnel_bob" }),
    "tools[].tunnel_id",
  ],
  [
    "a tool inside a namespace",
    withTool({
      type: "namespace",
      name: "x",
      tools: [{ type: "file_search", vector_store_ids: ["vs_bob"] }],
    }),
    "tools[].tools",
  ],
  [
    "a tool inside an input item",
    withItem({
      type: "additional_tools",
      role: "developer",
      tools: [{ type: "file_search", vector_store_ids: ["vs_bob"] }],
    }),
    "input[].tools",
  ],
  ["item_reference", withItem({ type: "item_reference", id: "msg_bob" }), "input"],
  ["an item of an id alone", withItem({ id: "msg_bob" }), "input"],
  ["an item of an id and no type", withItem({ type: null, id: "msg_bob" }), "input"],
  ["a message without its content", withItem({ type: "message", role: "assistant", id: "msg_bob" }), "input"],
  ["reasoning without its content", withItem({ type: "reasoning", id: "rs_bob", summary: [] }), "input"],
  ["a compaction without its content", withItem({ type: "compaction", id: "cmp_bob" }), "input"],
  ["a web search without its content", withItem({ type: "web_search_call", id: "ws_bob" }), "input"],
  [
    "an image that was generated",
    withItem({ type: "image_generation_call", id: "ig_bob", result: null }),
    "input",
  ],
  [
    "a call of the code interpreter",
    withItem({ type: "code_interpreter_call", id: "ci_bob", container_id: "cntr_bob", code: "1" }),
    "input",
  ],
  ["a search in files", withItem({ type: "file_search_call", id: "fs_bob", queries: ["x"] }), "input"],
  ["an item that is not known", withItem({ type: "thread_reference", thread: "bob" }), "input"],
  ["a file in a message", withPart({ type: "input_file", file_id: "file-bob" }), "input[].content[].file_id"],
  [
    "an image in a message",
    withPart({ type: "input_image", file_id: "file-bob" }),
    "input[].content[].file_id",
  ],
  [
    "a file that a function gives",
    withItem({
      type: "function_call_output",
      call_id: "call_1",
      output: [{ type: "input_file", file_id: "file-bob" }],
    }),
    "input[].output[].file_id",
  ],
  [
    "a screenshot by its file",
    withItem({
      type: "computer_call_output",
      call_id: "call_1",
      output: { type: "computer_screenshot", file_id: "file-bob" },
    }),
    "input[].output.file_id",
  ],
  ["a field that is not known and holds text", { vault: "vault_bob" }, "vault"],
  ["a field that is not known and holds text inside", { agents: [{ name: ["bob"] }] }, "agents"],
  ["an id in camel case", { include: [], reasoning: { fileId: "file-bob" } }, "reasoning.fileId"],
];

/** The same for a chat completion. */
const STORED_IN_CHAT: readonly (readonly [title: string, request: object, param: string])[] = [
  [
    "an audio of an earlier answer",
    { messages: [WORDS, { role: "assistant", audio: { id: "audio_bob" } }, WORDS] },
    "messages[].audio.id",
  ],
  ["a voice", { audio: { format: "mp3", voice: { id: "voice_bob" } } }, "audio.voice.id"],
  [
    "a file",
    { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file-bob" } }] }] },
    "messages[].content[].file.file_id",
  ],
  ["a tool that is not known", { tools: [{ type: "file_search", vector_store_ids: ["vs_bob"] }] }, "tools"],
  [
    "data sources of Azure",
    { data_sources: [{ type: "azure_search", parameters: { index_name: "bob" } }] },
    "data_sources",
  ],
  ["an assistant", { assistant_id: "asst_bob" }, "assistant_id"],
  ["background", { background: true }, "background"],
];

function expectRefused(answer: ProxyAnswer, param: string): void {
  expect([answer.status, answer.json?.error]).toMatchObject([
    400,
    { type: "invalid_request_error", param, code: "invalid_input" },
  ]);
  expect(answer.json.error.message).toContain("x-keepsake-upstream-key");
  expect(answer.text).not.toMatch(/_bob|-bob/);
}

describe("with the server's key, a response", () => {
  it.each(STORED)("is refused where it names %s", async (_title, request, param) => {
    expectRefused(await respond(request), param);
    expect(world.upstream.received).toEqual([]);
    expect(await world.messagesOf("ana")).toEqual([]);
  });

  it.each([
    ["previous_response_id", { previous_response_id: "resp_bob" }, 400, "previous_response_not_found"],
    ["conversation by its id", { conversation: "conv_bob" }, 404, "not_found"],
    ["conversation as an object", { conversation: { id: "conv_bob" } }, 404, "not_found"],
  ] as const)("is refused where %s is not that of the user here", async (_title, request, status, code) => {
    const answer = await respond(request);
    const param = Object.keys(request)[0];
    expect([answer.status, answer.json?.error]).toMatchObject([
      status,
      { type: "invalid_request_error", param, code },
    ]);
    expect(answer.text).not.toContain("_bob");
    expect(world.upstream.received).toEqual([]);
    expect(await world.messagesOf("ana")).toEqual([]);
  });

  it("is refused where a field stands twice or in another spelling, so that another reader may find a reference", async () => {
    const head = '"model":"gpt-4o-mini","user":"ana"';
    for (const body of [
      `{${head},"previous_response_id":"resp_bob","input":"Hello.","previous_response_id":null}`,
      `{${head},"previous_response\\u005fid":"resp_bob","input":"Hello."}`,
      `{${head},"input":"Hello.","Previous_Response_ID":"resp_bob"}`,
      `{${head},"input":[{"type":"item_reference","type":"message","role":"user","content":"x","id":"msg_bob"}]}`,
      `{${head},"input":[{"Type":"item_reference","type":"message","role":"user","content":"x","id":"msg_bob"}]}`,
      `{${head},"input":"Hello.","metadata":{},"metadata":{"a":"b"}}`,
      `{${head},"input":"Hello.","background":true,"background":false}`,
      `{${head},"input":"Hello.","Background":true,"background":false}`,
    ]) {
      const answer = await world.call("POST", "/v1/responses", body);
      expect([body, answer.status, answer.json?.error.type]).toEqual([body, 400, "invalid_request_error"]);
    }
    expect(world.upstream.received).toEqual([]);
  });

  it("is refused where a field that was checked is spelt in capital letters", async () => {
    for (const request of [
      { Background: true },
      { BACKGROUND: true },
      withItem({ Type: "item_reference", role: "user", content: "x", id: "msg_bob" }),
      withTool({ type: "code_interpreter", Container: "cntr_bob" }),
    ]) {
      const answer = await respond(request);
      expect([JSON.stringify(request), answer.status]).toEqual([JSON.stringify(request), 400]);
    }
    expect(world.upstream.received).toEqual([]);
  });

  it("passes where all that it says stands in it, byte for byte", async () => {
    const schema = {
      type: "object",
      properties: { file_id: { type: "string" }, Id: {}, id: {} },
      required: ["file_id"],
    };
    const body = JSON.stringify({
      model: "gpt-4o-mini",
      input: [
        WORDS,
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Hm.", annotations: [] }],
        },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" },
        { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
        {
          type: "function_call",
          id: "fc_1",
          call_id: "call_1",
          name: "weather",
          arguments: '{"file_id":"x"}',
        },
        { type: "function_call_output", id: null, call_id: "call_1", output: "sunny" },
        {
          type: "mcp_list_tools",
          id: "mcpl_1",
          server_label: "x",
          tools: [{ name: "y", input_schema: schema }],
        },
        {
          role: "user",
          content: [{ type: "input_file", file_id: null, filename: "a.txt", file_data: "data:;base64,YQ==" }],
        },
      ],
      tools: [
        { ...TOOL, parameters: schema },
        { type: "web_search" },
        { type: "web_search_preview_2025_03_11" },
        { type: "code_interpreter", container: { type: "auto", file_ids: [] } },
        { type: "mcp", server_label: "x", server_url: "https://mcp.example/" },
      ],
      previous_response_id: null,
      conversation: null,
      background: false,
      store: true,
      metadata: { file_id: "their own words", topic: "goats" },
      text: { format: { type: "json_schema", name: "answer", schema, strict: false } },
      x_new: { b: [1.5, true, null, ""] },
      stop_token_ids: [1, 2],
      prompt_cache_key: "bucket",
      include: ["reasoning.encrypted_content"],
    });
    const answer = await world.call("POST", "/v1/responses", body);
    expect([answer.status, answer.json.error]).toEqual([200, null]);
    expect(world.upstream.received[0]?.raw.toString("utf8")).toBe(body);
  });

  it("does not wait for a request that is nested without end", async () => {
    const depth = 200_000;
    const begun = performance.now();
    const answer = await world.call(
      "POST",
      "/v1/responses",
      `{"model":"m","input":"x","x":${"[".repeat(depth)}${"]".repeat(depth)}}`,
    );
    expect(answer.status).toBe(400);
    expect(performance.now() - begun).toBeLessThan(5000);
  });
});

describe("with the server's key, a chat completion", () => {
  it.each(STORED_IN_CHAT)("is refused where it names %s", async (_title, request, param) => {
    expectRefused(await chat(request), param);
    expect(world.upstream.received).toEqual([]);
    expect(await world.messagesOf("ana")).toEqual([]);
  });

  it("passes with tools, images, files and the fields of other servers", async () => {
    const body = JSON.stringify({
      model: "gpt-4o-mini",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Hi." },
            { type: "image_url", image_url: { url: "https://a.example/x.png" } },
          ],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "sunny" },
        {
          role: "user",
          content: [
            { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,YQ==" } },
          ],
        },
      ],
      tools: [
        {
          type: "function",
          function: { name: "weather", parameters: { type: "object", properties: { id: {} } } },
        },
      ],
      response_format: {
        type: "json_schema",
        json_schema: { name: "a", schema: { type: "object", properties: { user_id: {} } } },
      },
      store: true,
      provider: { order: ["a"] },
      chat_template_kwargs: { enable_thinking: false, thread_id: "x" },
      stop: ["END"],
      logit_bias: { "50256": -100 },
    });
    const answer = await world.call("POST", "/v1/chat/completions", body);
    expect(answer.status).toBe(200);
    expect(world.upstream.received[0]?.raw.toString("utf8")).toBe(body);
  });

  it("names no word of the request in a refusal", async () => {
    const answer = await chat({ "Ana lives in Porto": "secret words", messages: [WORDS] });
    expect([answer.status, answer.json.error.param]).toEqual([400, "body"]);
    expect(answer.text).not.toMatch(/Porto|secret/);
  });
});

it("with the server's key, embeddings are refused where they name what is stored", async () => {
  const vectors = (more: object) => world.call("POST", "/v1/embeddings", { model: "m", input: "x", ...more });
  expectRefused(await vectors({ file_id: "file-bob" }), "file_id");
  expect(world.upstream.received).toEqual([]);
  expect((await vectors({ dimensions: 8, input: ["x", "y"] })).status).toBe(200);
});

describe("with the client's own key", () => {
  it("goes on to the model's server under that key, and not under the server's", async () => {
    await respond({}, OWN);
    await chat({}, OWN);
    await world.call("GET", "/v1/models", undefined, OWN);
    expect(world.upstream.received.map(({ authorization }) => authorization)).toEqual(
      Array(3).fill(`Bearer ${CLIENT_KEY}`),
    );
    expect(JSON.stringify(world.upstream.received.map(({ headers }) => headers))).not.toMatch(
      new RegExp(`keepsake|${UPSTREAM_KEY}`),
    );
  });

  it("passes what names stored objects, in either way to bring the key", async () => {
    const first = await respond({ store: true }, OWN);
    const again = await respond({ previous_response_id: first.json.id, background: true }, OWN);
    expect([again.status, world.upstream.received.at(-1)?.turns.length]).toEqual([200, 3]);
    const other = {
      "x-keepsake-key": "a-key-for-this-test-0123456789",
      authorization: `Bearer ${CLIENT_KEY}`,
    };
    expect((await respond({ previous_response_id: first.json.id }, other)).status).toBe(200);
    await respond(withTool({ type: "file_search", vector_store_ids: ["vs_1"] }), OWN);
    expect(world.upstream.received.at(-1)?.body.tools).toHaveLength(2);
  });

  it("still remembers, and stores the user's words once", async () => {
    await respond({ input: "I live in Porto." }, OWN);
    await expect.poll(() => world.messagesOf("ana").then(({ length }) => length)).toBe(2);
    expect(await world.messagesOf("ana")).toEqual(["I live in Porto.", "Noted."]);
  });

  it("is refused where the header holds a key of this server, or no key, and neither goes on", async () => {
    const made = await world.call("POST", "/api/v1/keys", { scopes: ["read"] });
    for (const brought of [
      made.json.key as string,
      "a-key-for-this-test-0123456789",
      "Bearer sk-x",
      "",
      "sk x",
    ]) {
      const answer = await chat({}, { "x-keepsake-upstream-key": brought });
      expect([answer.status, answer.json.error.param]).toEqual([400, "x-keepsake-upstream-key"]);
      if (brought !== "") expect(answer.text).not.toContain(brought);
    }
    expect(world.upstream.received).toEqual([]);
  });

  it("reaches nothing stored where the model's server needs no key, for such a server takes any", async () => {
    const keyless = await proxyWorld({ proxy: { upstream: { baseUrl: world.upstream.url } } });
    try {
      const body = { model: "m", input: "Hello.", previous_response_id: "resp_bob" };
      const answer = await keyless.call("POST", "/v1/responses", body, OWN);
      expect([answer.status, answer.json.error.param]).toEqual([400, "previous_response_id"]);
      expect(world.upstream.received).toEqual([]);
    } finally {
      await keyless.close();
    }
  });
});

it("the built-in model refuses background, whose answer nobody could read", async () => {
  const answer = await respond({ model: "keepsake", background: true });
  expect([answer.status, answer.json.error.param]).toEqual([400, "background"]);
  expect((await respond({ model: "keepsake", background: false, input: "I live in Porto." })).status).toBe(
    200,
  );
});
