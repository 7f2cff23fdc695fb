import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryRateLimits } from "../../src/adapters/memory/rate-limits.ts";
import { MAX_UPLOAD_BYTES } from "../../src/http/proxy/upstream/upstream-client.ts";
import { type ProxyWorld, proxyWorld, SERVER_KEY, UPSTREAM_KEY } from "./world.ts";

const CLIENT_KEY = "sk-of-the-client-itself";
const OWN: { readonly [name: string]: string } = { "x-keepsake-upstream-key": CLIENT_KEY };

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Of the body, as far as it came. */
  bytes: number;
  hash: string;
  isWhole: boolean;
}

let upstream: Server;
let seen: Seen[];
/** How the model's server answers; by default at the end of the request. */
let answer: (request: Seen, response: ServerResponse) => void;
let world: ProxyWorld;

/** What the key may send before it is refused: one upload of a megabyte. */
const MEGABYTE = 1_000_000;

beforeEach(async () => {
  seen = [];
  answer = (_request, response) =>
    response.setHeader("content-type", "application/json").end('{"id": "file-1"}');
  upstream = createServer((request, response) => {
    const { method = "", url = "", headers } = request;
    const one: Seen = { method, url, headers, bytes: 0, hash: "", isWhole: false };
    seen.push(one);
    const hash = createHash("sha256");
    request.on("data", (part: Buffer) => {
      one.bytes += part.length;
      hash.update(part);
    });
    request.on("error", () => {});
    request.on("end", () => {
      one.hash = hash.digest("hex");
      one.isWhole = true;
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  world = await proxyWorld({ proxy: { upstream: { baseUrl: upstreamUrl(), apiKey: UPSTREAM_KEY } } });
});
afterEach(async () => {
  await world.close();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
});

/** Addresses of OpenAI's API beside those that Keepsake serves itself. */
const REST: readonly (readonly [method: string, path: string])[] = [
  ["GET", "/v1/files?limit=2&after=file-1"],
  ["POST", "/v1/files"],
  ["GET", "/v1/files/file-1/content"],
  ["DELETE", "/v1/files/file-1"],
  ["POST", "/v1/batches"],
  ["POST", "/v1/batches/batch_1/cancel"],
  ["GET", "/v1/vector_stores/vs_1/files"],
  ["POST", "/v1/conversations"],
  ["POST", "/v1/conversations/conv_1/items"],
  ["GET", "/v1/responses/resp_1?stream=true"],
  ["DELETE", "/v1/responses/resp_1"],
  ["POST", "/v1/responses/resp_1/cancel"],
  ["GET", "/v1/responses/resp_1/input_items"],
  ["GET", "/v1/chat/completions"],
  ["POST", "/v1/chat/completions/chatcmpl-1"],
  ["POST", "/v1/images/generations"],
  ["POST", "/v1/audio/speech"],
  ["POST", "/v1/moderations"],
  ["POST", "/v1/completions"],
  ["POST", "/v1/fine_tuning/jobs"],
  ["POST", "/v1/fine_tuning/checkpoints/ft:gpt-4o-mini:org:goats:Ab1/permissions"],
  ["DELETE", "/v1/models/ft:gpt-4o-mini:org::id"],
  ["PATCH", "/v1/agents/agent_1"],
  ["PUT", "/v1/organization/certificates/cert_1"],
];
const hasBody = (method: string) => method !== "GET" && method !== "DELETE";

describe("the rest of OpenAI's API", () => {
  it.each(REST)(
    "%s %s passes with the client's own key: method, path, query, body and answer",
    async (method, path) => {
      answer = (_request, response) => {
        response.writeHead(207, {
          "content-type": "application/x-goats",
          "x-request-id": "req_1",
          etag: '"1"',
        });
        response.end('{ "seed": 9007199254740993 }');
      };
      const body = hasBody(method) ? '{ "purpose":"batch", "n": 1.0 }' : undefined;
      const got = await world.call(method, path, body, OWN);
      expect([got.status, got.text, got.headers.get("content-type")]).toEqual([
        207,
        '{ "seed": 9007199254740993 }',
        "application/x-goats",
      ]);
      expect([got.headers.get("x-request-id"), got.headers.get("etag")]).toEqual(["req_1", '"1"']);
      expect(seen).toHaveLength(1);
      const hash = createHash("sha256")
        .update(body ?? "")
        .digest("hex");
      expect(seen[0]).toMatchObject({ method, url: path.replaceAll(":", "%3A"), hash });
      expect(seen[0]?.headers.authorization).toBe(`Bearer ${CLIENT_KEY}`);
      expect(JSON.stringify(seen[0]?.headers)).not.toMatch(
        new RegExp(`x-keepsake|${SERVER_KEY}|${UPSTREAM_KEY}`),
      );
    },
  );

  // Conversations and responses are served from the user's memory then.
  const isServed = (path: string) =>
    /^\/v1\/(?:conversations|responses\/\w+(?!\/cancel)(?:$|[?/]))/.test(path);
  it.each(REST.filter(([, path]) => !isServed(path)))(
    "%s %s is refused with the server's key, and the refusal says what to do",
    async (method, path) => {
      const got = await world.call(method, path, hasBody(method) ? "{}" : undefined);
      expect([404, 405]).toContain(got.status);
      expect(got.json.error).toMatchObject({ type: "invalid_request_error" });
      expect(got.json.error.message).toContain("x-keepsake-upstream-key");
      expect(seen).toEqual([]);
    },
  );

  it("is passed on in no method to a key that may only read but GET and HEAD", async () => {
    const { json } = await world.call("POST", "/api/v1/keys", { scopes: ["read"] });
    const headers = { ...OWN, authorization: `Bearer ${json.key}` };
    for (const [method, path] of REST) {
      const isReading = method === "GET";
      const got = await world.call(method, path, hasBody(method) ? "{}" : undefined, headers);
      expect([method, path, got.status]).toEqual([method, path, isReading ? 200 : 403]);
      if (!isReading) expect(got.json.error.type).toBe("permission_error");
    }
    expect((await world.call("HEAD", "/v1/files", undefined, headers)).status).toBe(200);
    expect(new Set(seen.map(({ method }) => method))).toEqual(new Set(["GET", "HEAD"]));
  });

  it("is passed on to nobody without a key of this server", async () => {
    for (const authorization of ["", "Bearer sk-none", `Bearer ${CLIENT_KEY}`])
      expect((await world.call("GET", "/v1/files", undefined, { ...OWN, authorization })).status).toBe(401);
    expect(seen).toEqual([]);
  });

  it("is passed on by no request where KEEPSAKE_PASS_THROUGH is off, or where the model's server needs no key", async () => {
    const { port } = upstream.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    for (const proxy of [
      { mayPassThrough: false, upstream: { baseUrl, apiKey: "sk-x" } },
      { upstream: { baseUrl } },
    ]) {
      const other = await proxyWorld({ proxy });
      const got = await other.call("GET", "/v1/files", undefined, OWN);
      expect([got.status, got.json.error.message]).toEqual([
        404,
        expect.stringContaining("KEEPSAKE_PASS_THROUGH"),
      ]);
      await other.close();
    }
    expect(seen).toEqual([]);
  });
});

describe("a body that passes through", () => {
  it("goes on as it comes, before its end, whatever its type is", async () => {
    const parts = ["--goats\r\n", "x".repeat(100_000), "\r\n--goats--"];
    let isPartThere: (() => void) | undefined;
    const firstPart = new Promise<void>((resolve) => {
      isPartThere = resolve;
    });
    upstream.prependListener("request", (request) => request.once("data", () => isPartThere?.()));
    async function* body() {
      yield Buffer.from(parts[0] ?? "");
      // The rest comes only once the first part has arrived over there.
      await firstPart;
      yield Buffer.from(parts[1] ?? "");
      yield Buffer.from(parts[2] ?? "");
    }
    const response = await fetch(`${world.served.url}/v1/files`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${SERVER_KEY}`,
        ...OWN,
        "content-type": "multipart/form-data; boundary=goats",
      },
      body: ReadableStream.from(body()),
      duplex: "half",
    } as RequestInit);
    expect(response.status).toBe(200);
    expect(seen[0]).toMatchObject({
      isWhole: true,
      hash: createHash("sha256").update(parts.join("")).digest("hex"),
    });
    expect(seen[0]?.headers["content-type"]).toBe("multipart/form-data; boundary=goats");
  });

  it("is refused with 413 where it says that it is too long, and nothing of it goes on", async () => {
    const status = await rawStatus(
      `POST /v1/files HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${SERVER_KEY}\r\nx-keepsake-upstream-key: ${CLIENT_KEY}\r\n` +
        `content-length: ${MAX_UPLOAD_BYTES + 1}\r\n\r\n`,
    );
    expect(status).toBe(413);
    expect(seen).toEqual([]);
  });

  it.each([
    ["that says its length", () => Buffer.alloc(MEGABYTE)],
    ["in chunks", () => new Blob([Buffer.alloc(MEGABYTE)]).stream()],
  ])("%s counts against the byte limit of the key, and the next one is refused", async (_how, makeBody) => {
    const limited = await proxyWorld({
      proxy: { upstream: { baseUrl: upstreamUrl(), apiKey: UPSTREAM_KEY } },
      byteLimits: memoryRateLimits({
        perMinute: MEGABYTE + 100_000,
        clock: () => new Date("2026-03-01T12:00:00Z"),
      }),
    });
    const upload = async (): Promise<number> => {
      const response = await fetch(`${limited.served.url}/v1/files`, {
        method: "POST",
        headers: { authorization: `Bearer ${SERVER_KEY}`, ...OWN },
        body: makeBody(),
        duplex: "half",
      } as RequestInit);
      await response.text();
      return response.status;
    };
    try {
      expect([await upload(), await upload()]).toEqual([200, 429]);
      expect(seen.filter(({ isWhole }) => isWhole).map(({ bytes }) => bytes)).toEqual([MEGABYTE]);
    } finally {
      await limited.close();
    }
  });

  it("is broken off over there where the client goes away in the middle", async () => {
    const { port } = new URL(world.served.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `POST /v1/files HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${SERVER_KEY}\r\nx-keepsake-upstream-key: ${CLIENT_KEY}\r\ncontent-length: 1000\r\n\r\nabc`,
    );
    await expect.poll(() => seen[0]?.bytes).toBe(3);
    socket.destroy();
    await expect
      .poll(() => new Promise((resolve) => upstream.getConnections((_error, count) => resolve(count))))
      .toBe(0);
    expect(seen[0]?.isWhole).toBe(false);
  });
});

function upstreamUrl(): string {
  const { port } = upstream.address() as AddressInfo;
  return `http://127.0.0.1:${port}/v1`;
}

function rawStatus(request: string): Promise<number> {
  const { port } = new URL(world.served.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(request));
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1];
      if (status === undefined) return;
      socket.destroy();
      resolve(Number(status));
    });
    socket.on("error", reject);
  });
}

describe("an answer that passes through", () => {
  it("streams as it comes", async () => {
    let goOn = (): void => {};
    answer = (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      goOn = () => response.end("data: 2\n\n");
    };
    const headers = { authorization: `Bearer ${SERVER_KEY}`, ...OWN };
    const response = await fetch(`${world.served.url}/v1/responses/resp_1?stream=true`, { headers });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe("data: 1\n\n");
    goOn();
    const second = await reader?.read();
    expect(Buffer.from(second?.value ?? []).toString()).toBe("data: 2\n\n");
  });

  it("is no redirect: it is not followed, and its address does not reach the client", async () => {
    answer = (_request, response) =>
      response.writeHead(307, { location: "http://127.0.0.1:1/elsewhere" }).end();
    const got = await world.call("GET", "/v1/files/file-1/content", undefined, OWN);
    expect([got.status, got.headers.get("location"), seen.length]).toEqual([502, null, 1]);
    expect(got.text).not.toContain("elsewhere");
  });

  it("may have no body", async () => {
    for (const status of [204, 304]) {
      answer = (_request, response) => response.writeHead(status, { etag: '"1"' }).end();
      const got = await world.call("GET", "/v1/files/file-1", undefined, { ...OWN, "if-none-match": '"1"' });
      expect([got.status, got.text, got.headers.get("etag")]).toEqual([status, "", '"1"']);
    }
  });

  it("is 502 where the model's server does not answer, without the client's key in it", async () => {
    answer = (_request, response) => response.destroy();
    const got = await world.call("POST", "/v1/batches", "{}", OWN);
    expect([got.status, got.json.error.code]).toEqual([502, "unavailable"]);
    expect(got.text).not.toContain(CLIENT_KEY);
  });
});

it("the client's own key stands in no file, log line or error of the program", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-own-key-"));
  const { port } = upstream.address() as AddressInfo;
  const { PATH = "", HOME = "" } = process.env;
  const program = spawn(
    process.execPath,
    [join(import.meta.dirname, "../../src/cli/main.ts"), "serve", "--port", "0", "--json"],
    {
      cwd: folder,
      env: {
        ...{ PATH, HOME, KEEPSAKE_DB: join(folder, "memory.db"), KEEPSAKE_API_KEY: SERVER_KEY },
        ...{ KEEPSAKE_LOG: "json", KEEPSAKE_EXTRACTOR: "rules", OPENAI_API_KEY: "sk-x" },
        OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      },
    },
  );
  const gone = new Promise((resolve) => program.once("close", resolve));
  let printed = "";
  for (const stream of [program.stdout, program.stderr])
    stream.on("data", (part) => (printed += String(part)));
  try {
    await expect.poll(() => printed, { timeout: 20_000 }).toContain('"url"');
    const url = /"url": ?"([^"]+)"/.exec(printed)?.[1] ?? "";
    const headers = { authorization: `Bearer ${SERVER_KEY}`, ...OWN, "content-type": "application/json" };
    const chat = JSON.stringify({ model: "m", user: "ana", messages: [{ role: "user", content: "Hi." }] });
    const answers: string[] = [];
    for (const [method, path, body] of [
      ["GET", "/v1/files", undefined],
      ["POST", "/v1/batches", "{}"],
      ["GET", "/v1/..%2ffiles", undefined],
      ["POST", "/v1/chat/completions", chat],
      ["POST", "/v1/chat/completions", "{"],
      ["GET", "/v1/files", undefined],
    ] as const) {
      if (answers.length === 5) answer = (_request, response) => response.destroy();
      answers.push(
        await (await fetch(`${url}${path}`, { method, headers, ...(body ? { body } : {}) })).text(),
      );
    }
    // A kept connection that is closed is tried again: the last request may come several times.
    expect(seen.length).toBeGreaterThanOrEqual(4);
    expect(new Set(seen.map(({ headers: sent }) => sent.authorization))).toEqual(
      new Set([`Bearer ${CLIENT_KEY}`]),
    );
    program.kill();
    await gone;
    const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), "latin1"));
    expect(files.length).toBeGreaterThan(1);
    expect(printed).toContain('"route":"/v1/*"');
    for (const text of [...files, ...answers, printed]) expect(text.includes(CLIENT_KEY)).toBe(false);
  } finally {
    program.kill();
    await gone;
    rmSync(folder, { recursive: true, force: true });
  }
});
