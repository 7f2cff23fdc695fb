import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type OpenaiServer, openaiServer } from "../../src/testing/openai/openai-server.ts";
import { type Json, type ProxyAnswer, type ProxyWorld, proxyWorld, SERVER_KEY } from "./world.ts";

type Headed = { readonly [name: string]: string };

/** Every place that names a user, in order of precedence, and how a request names `ana` there. */
const PLACES: readonly { readonly from: string; readonly body?: object; readonly headers?: Headed }[] = [
  { from: "x-keepsake-user", headers: { "x-keepsake-user": "ana" } },
  { from: "x-openwebui-user-id", headers: { "X-OpenWebUI-User-Id": "ana" } },
  { from: "x-user-id", headers: { "x-user-id": "ana" } },
  { from: "user", body: { user: "ana" } },
  { from: "safety_identifier", body: { safety_identifier: "ana" } },
  { from: "metadata.user_id", body: { metadata: { user_id: "ana" } } },
];

let world: ProxyWorld;
afterEach(() => world.close());

const CHATS = {
  "/v1/chat/completions": { messages: [{ role: "user", content: "I live in Porto." }] },
  "/v1/responses": { input: "I live in Porto." },
} as const;

function said(path: keyof typeof CHATS, more: object = {}, headers: Headed = {}): Promise<ProxyAnswer> {
  return world.call("POST", path, { model: "gpt-4o-mini", ...CHATS[path], ...more }, headers);
}
const chat = (more: object = {}, headers: Headed = {}) => said("/v1/chat/completions", more, headers);
const namedIn = ({ headers }: ProxyAnswer) => [
  headers.get("x-keepsake-user"),
  headers.get("x-keepsake-user-from"),
];
const settled = async (user: string, count: number): Promise<string[]> => {
  await expect.poll(() => world.messagesOf(user).then(({ length }) => length)).toBe(count);
  return world.messagesOf(user);
};

describe("the user of a chat", () => {
  beforeEach(async () => {
    world = await proxyWorld();
  });

  for (const path of Object.keys(CHATS) as (keyof typeof CHATS)[]) {
    it.each(PLACES)(`${path} takes the user from $from, and says so`, async ({ from, body, headers }) => {
      const answer = await said(path, body, headers);
      expect([answer.status, answer.headers.get("x-keepsake-memory"), ...namedIn(answer)]).toEqual([
        200,
        "on",
        "ana",
        from,
      ]);
      expect(await settled("ana", 2)).toEqual(["I live in Porto.", "Noted."]);
    });
  }

  it("is the one that stands first in the order of precedence where several places name different users", async () => {
    for (let first = 0; first < PLACES.length - 1; first += 1) {
      const later = PLACES.slice(first + 1);
      const body = Object.assign({}, ...later.map((place) => place.body ?? {})) as object;
      const headers = Object.assign({}, ...later.map((place) => place.headers ?? {})) as Headed;
      const named = renamed({ body, headers }, "bo");
      const { from, body: own, headers: ownHeaders } = PLACES[first] ?? { from: "" };
      const answer = await chat({ ...named.body, ...own }, { ...named.headers, ...ownHeaders });
      expect(namedIn(answer)).toEqual(["ana", from]);
    }
    expect((await settled("bo", 0)).length).toBe(0);
  });

  it("is named in percent-encoding in the answer where the name is not plain ASCII", async () => {
    const answer = await chat({ user: "Zoë, née Müller\u2028" });
    expect(namedIn(answer)).toEqual([encodeURIComponent("Zoë, née Müller\u2028"), "user"]);
  });

  it("is nobody where only prompt_cache_key is given: it names a cache, not a person", async () => {
    const answer = await chat({ prompt_cache_key: "ana" });
    expect(answer.headers.get("x-keepsake-memory-why")).toBe("no user named");
    expect(namedIn(answer)).toEqual([null, null]);
    expect(await world.messagesOf("ana")).toEqual([]);
  });

  it("is nobody where the first place that names one holds no valid name, and the next place is not asked", async () => {
    for (const [more, headers] of [
      [{ user: "ana" }, { "x-user-id": "x".repeat(513) }],
      [{ user: "a\u0007", safety_identifier: "ana" }, {}],
    ] as const) {
      const answer = await chat(more, headers);
      expect([answer.status, answer.headers.get("x-keepsake-memory-why")]).toEqual([
        200,
        "the user is not a valid name",
      ]);
    }
    expect(await world.messagesOf("ana")).toEqual([]);
  });

  it("is not taken from a field that holds no text", async () => {
    const answer = await chat({ user: 7, safety_identifier: null, metadata: "ana" });
    expect(answer.headers.get("x-keepsake-memory-why")).toBe("no user named");
  });

  it("stays in the project of the key, whichever header names it", async () => {
    const made = await world.call("POST", "/api/v1/keys", { scopes: ["read", "write"] });
    const key = made.json.key as string;
    await world.keepsake.scope({ user: "ana", project: "acme" }).remember("I live in Faro.");
    for (const name of ["x-keepsake-user", "x-openwebui-user-id", "x-user-id"])
      await chat({}, { authorization: `Bearer ${key}`, [name]: "ana" });
    const sent = world.upstream.received.map(({ raw }) => raw.toString("utf8")).join("\n");
    expect(sent).not.toContain("Faro");
    expect(sent).toContain("Porto");
  });

  it("goes to the model's server in no header", async () => {
    await chat(
      {},
      { "X-OpenWebUI-User-Id": "ana", "X-OpenWebUI-User-Email": "ana@example.com", "x-user-id": "ana" },
    );
    const [received] = world.upstream.received;
    expect(JSON.stringify(received?.headers)).not.toContain("ana");
  });
});

/** The same places with another name in them. */
function renamed<Named extends object>(named: Named, to: string): Named {
  return JSON.parse(JSON.stringify(named).replaceAll('"ana"', JSON.stringify(to))) as Named;
}

describe("the user of a chat with a key that is bound to a user", () => {
  let authorization: string;
  beforeEach(async () => {
    world = await proxyWorld();
    const { json } = await world.call("POST", "/api/v1/keys", { scopes: ["read", "write"], user_id: "bo" });
    authorization = `Bearer ${json.key}`;
  });

  it("is the key's where the request names nobody, and the answer says so", async () => {
    const answer = await chat({}, { authorization });
    expect(namedIn(answer)).toEqual(["bo", "key"]);
    expect(await settled("bo", 2)).toHaveLength(2);
  });

  it.each(PLACES)("is refused with 403 where $from names another", async ({ body, headers }) => {
    const answer = await chat(body, { ...headers, authorization });
    expect([answer.status, answer.json.error.type, answer.json.error.code]).toEqual([
      403,
      "permission_error",
      "forbidden",
    ]);
    expect(world.upstream.received).toEqual([]);
  });

  it.each(PLACES)("is taken where $from names the same", async ({ body, headers }) => {
    const named = renamed({ body: body ?? {}, headers: headers ?? {} }, "bo");
    const answer = await chat(named.body, { ...named.headers, authorization });
    expect([answer.status, ...namedIn(answer)]).toEqual([200, "bo", "key"]);
  });
});

describe("a server that requires a user", () => {
  beforeEach(async () => {
    world = await proxyWorld({ proxy: { isUserRequired: true } });
  });

  it("refuses a chat that names nobody, in OpenAI's form, before the model's server is asked", async () => {
    for (const path of Object.keys(CHATS) as (keyof typeof CHATS)[]) {
      for (const [more, headers] of [
        [{}, {}],
        [{ stream: true }, {}],
        [{ user: "" }, {}],
        [{ prompt_cache_key: "ana" }, {}],
        [{ user: "x".repeat(513) }, {}],
        [{}, { "x-keepsake-memory": "off" }],
        [{ model: "keepsake" }, {}],
      ] as const) {
        const answer = await said(path, more, headers);
        expect([answer.status, answer.json.error]).toMatchObject([
          400,
          { type: "invalid_request_error", param: "user", code: "invalid_input" },
        ]);
        expect(answer.json.error.message).toContain("safety_identifier");
      }
    }
    expect(world.upstream.received).toEqual([]);
  });

  it("takes a chat that names one, and what is no chat", async () => {
    for (const { body, headers } of PLACES) expect((await chat(body, headers)).status).toBe(200);
    const vectors = await world.call("POST", "/v1/embeddings", { model: "m", input: "x" });
    expect([vectors.status, (await world.call("GET", "/v1/models")).status]).toEqual([200, 200]);
  });
});

describe("the program's settings of who speaks", () => {
  let upstream: OpenaiServer;
  let folder: string;
  let program: ChildProcessByStdio<null, Readable, null> | undefined;

  beforeEach(async () => {
    world = await proxyWorld();
    upstream = await openaiServer({ reply: () => "Noted." });
    folder = mkdtempSync(join(tmpdir(), "keepsake-speaks-"));
  });
  afterEach(async () => {
    if (program && program.exitCode === null) {
      const gone = new Promise((resolve) => program?.once("exit", resolve));
      program.kill();
      await gone;
    }
    program = undefined;
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The program with these settings: its address, or what it says where it does not start. */
  async function begun(settings: Headed): Promise<{ readonly url?: string; readonly complaint?: string }> {
    const main = join(import.meta.dirname, "../../src/cli/main.ts");
    const { PATH = "", HOME = "" } = process.env;
    const started = spawn(process.execPath, [main, "serve", "--port", "0", "--json"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "ignore"],
      env: {
        PATH,
        HOME,
        KEEPSAKE_DB: join(folder, "memory.db"),
        KEEPSAKE_API_KEY: SERVER_KEY,
        KEEPSAKE_EXTRACTOR: "rules",
        OPENAI_API_KEY: "sk-any",
        OPENAI_BASE_URL: upstream.url,
        ...settings,
      },
    });
    program = started;
    let text = "";
    for await (const part of started.stdout) {
      text += String(part);
      if (text.includes('"url"') && text.trimEnd().endsWith("}"))
        return { url: (JSON.parse(text) as { url: string }).url };
    }
    return { complaint: (JSON.parse(text) as Json).error.message };
  }
  const asked = (url: string, headers: Headed, body: object = {}): Promise<Response> =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${SERVER_KEY}`, "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: "gpt-4o-mini", ...CHATS["/v1/chat/completions"], ...body }),
    });

  it("KEEPSAKE_USER_HEADERS names other headers, in order, in place of the default ones", async () => {
    const { url = "" } = await begun({ KEEPSAKE_USER_HEADERS: "X-Employee, X-Forwarded-User" });
    const from = async (headers: Headed) => (await asked(url, headers)).headers.get("x-keepsake-user-from");
    expect(await from({ "x-forwarded-user": "bo", "x-employee": "ana" })).toBe("x-employee");
    expect(await from({ "x-forwarded-user": "bo" })).toBe("x-forwarded-user");
    expect(await from({ "x-keepsake-user": "ana", "x-employee": "bo" })).toBe("x-keepsake-user");
    expect(await from({ "x-openwebui-user-id": "ana", "x-user-id": "ana" })).toBeNull();
  });

  it("KEEPSAKE_USER_HEADERS=off takes no header but x-keepsake-user", async () => {
    const { url = "" } = await begun({ KEEPSAKE_USER_HEADERS: "off" });
    const answer = await asked(url, { "x-openwebui-user-id": "ana", "x-user-id": "ana" });
    expect(answer.headers.get("x-keepsake-memory-why")).toBe("no user named");
    expect((await asked(url, { "x-keepsake-user": "ana" })).headers.get("x-keepsake-user")).toBe("ana");
  });

  it("KEEPSAKE_REQUIRE_USER refuses a chat that names nobody, from the environment and from keepsake.yaml", async () => {
    const { url = "" } = await begun({ KEEPSAKE_REQUIRE_USER: "true" });
    const refused = await asked(url, {});
    expect([refused.status, ((await refused.json()) as Json).error.param]).toEqual([400, "user"]);
    expect((await asked(url, {}, { safety_identifier: "ana" })).status).toBe(200);
    program?.kill();
    writeFileSync(join(folder, "keepsake.yaml"), "require_user: true\nuser_headers: [X-Employee]\n");
    const again = await begun({});
    expect((await asked(again.url ?? "", {})).status).toBe(400);
    expect((await asked(again.url ?? "", { "x-employee": "ana" })).status).toBe(200);
  });

  it.each([
    ["KEEPSAKE_USER_HEADERS", "authorization"],
    ["KEEPSAKE_USER_HEADERS", "x-user-id, Cookie"],
    ["KEEPSAKE_USER_HEADERS", "x-keepsake-upstream-key"],
    ["KEEPSAKE_USER_HEADERS", "x user"],
    ["KEEPSAKE_REQUIRE_USER", "yes"],
  ])("%s=%s stops the start", async (name, value) => {
    const { url, complaint } = await begun({ [name]: value });
    expect(url).toBeUndefined();
    expect(complaint).toContain(`${name}: "${value}" is not allowed`);
  });
});
