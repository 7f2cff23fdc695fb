import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import { type Served, serve } from "../../src/http/server.ts";
import { createMemory } from "../../src/memory.ts";
import { isInstalled } from "../left-out.ts";

const KEY = "a-key-for-this-test-0123456789";
const CREDENTIAL = "sk-upstream";

/** What a caller may write behind /v1/models/ to get elsewhere; "responses/resp_bob" is another user's stored answer. */
const ESCAPES: readonly string[] = [
  "..%2fresponses%2fresp_bob",
  "..%2Fresponses%2Fresp_bob",
  "%2e%2e%2fresponses%2fresp_bob",
  "%2e%2e/responses/resp_bob",
  ".%2e/responses/resp_bob",
  "%2e./responses/resp_bob",
  "../responses/resp_bob",
  "./../responses/resp_bob",
  "gpt/../../responses/resp_bob",
  "gpt%2f..%2f..%2fresponses%2fresp_bob",
  "gpt%2F%2E%2E%2F%2E%2E%2Fresponses%2Fresp_bob",
  "..%5cresponses%5cresp_bob",
  "..\\responses\\resp_bob",
  "%2e%2e%5cresponses%5cresp_bob",
  "..%255cresponses%255cresp_bob",
  "..%252fresponses%252fresp_bob",
  "%252e%252e%252fresponses%252fresp_bob",
  "%25%32%65%25%32%65%25%32%66responses",
  "..%c0%afresponses%c0%afresp_bob",
  "%c0%ae%c0%ae%c0%afresponses",
  "%e0%80%ae%e0%80%ae%2fresponses",
  "..%ef%bc%8fresponses%ef%bc%8fresp_bob",
  "%ef%bc%8e%ef%bc%8e%2fresponses",
  "..%e2%88%95responses%e2%88%95resp_bob",
  "..;/responses/resp_bob",
  "..%3b/responses/resp_bob",
  "..;%2fresponses%2fresp_bob",
  "..%00%2fresponses%2fresp_bob",
  "gpt%00",
  "..%09%2fresponses",
  "..%0d%0a%2fresponses",
  "gpt%0d%0aHost:%20evil",
  "..%20%2fresponses",
  "%20..%2fresponses",
  "..%3fx%2fresponses",
  "..%23%2fresponses",
  "...%2f..%2fresponses",
  ".%2f..%2fresponses%2fresp_bob",
  "%2fresponses%2fresp_bob",
  "%2f%2fevil.example%2fresponses",
  "gpt%2f",
  "gpt%2f%2fresponses",
  "%2e%2e",
  "%2e",
  "..%2f",
  "..%2f..%2f..%2fetc%2fpasswd",
];

let keepsake: Keepsake;
let upstream: Server;
let seen: string[];
let served: Served | undefined;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:" });
  seen = [];
  upstream = createServer((request, response) => {
    seen.push(request.url ?? "");
    response.setHeader("content-type", "application/json");
    response.end('{"id":"gpt-4o","object":"model"}');
  });
  await listening(upstream);
});
afterEach(async () => {
  await served?.close();
  await keepsake.close();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
});

async function listening(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function begin(port: number): Promise<number> {
  served = await serve({
    keepsake,
    clock: () => new Date(),
    port: 0,
    apiKey: KEY,
    proxy: {
      upstream: { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: CREDENTIAL },
      clock: () => new Date(),
      retrievalMs: 1000,
      deadlineMs: 5000,
    },
  });
  return Number(new URL(served.url).port);
}

/** The status of a GET whose path goes out as it is written: `fetch` would resolve dots before it sends them. */
function statusOf(port: number, path: string, more = ""): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${KEY}\r\n${more}connection: close\r\n\r\n`,
      );
    });
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
    });
    socket.on("end", () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)));
    socket.on("error", reject);
  });
}

async function expectNoEscape(port: number): Promise<void> {
  for (const written of ESCAPES) {
    const status = await statusOf(port, `/v1/models/${written}`);
    expect([written, status >= 400 && status < 500]).toEqual([written, true]);
  }
  expect(seen).toEqual([]);
}

/** With the client's own key the whole of /v1 is open, and nothing beside it. */
async function expectWithinV1(port: number): Promise<void> {
  const own = "x-keepsake-upstream-key: sk-of-the-client\r\n";
  for (const folder of ["/v1/files/", "/v1/", "/v1/files/x/content/"])
    for (const written of [
      ...ESCAPES,
      "../../admin",
      "../../../admin",
      "..%2f..%2fadmin",
      "%2e%2e/%2e%2e/admin",
    ])
      await statusOf(port, `${folder}${written}`, own);
  expect(seen.length).toBeGreaterThan(0);
  const parts = seen.map((path) =>
    path
      .replace(/[?#].*$/s, "")
      .split("/")
      .slice(1),
  );
  expect(parts.filter(([first, ...others]) => first !== "v1" || !others.every(isName))).toEqual([]);
}

/** Whether a segment of a path is a name, or several with slashes between them, of which none is a dot segment. */
function isName(segment: string): boolean {
  return decodeURIComponent(segment)
    .split("/")
    .every((name) => /^[\w@][\w.:@+~-]*$/.test(name));
}

/** Whether a path is that of the models, or of one by its name. */
function isOfModels(path: string): boolean {
  const [, name] = /^\/v1\/models(?:\/([^/?#]+))?(?:\?|$)/.exec(path) ?? [path, ".."];
  return name === undefined || isName(name);
}

it("a path is that of a model only if its name, decoded, leads nowhere else", () => {
  const others = ["..%2fx", "..", "x/y", "gpt%2f..%2f..", "%252e%252e%252fx", "gpt%2f"];
  expect(others.filter((name) => isOfModels(`/v1/models/${name}`))).toEqual([]);
  expect(["/v1/responses", "/v1/modelsx", "/"].filter(isOfModels)).toEqual([]);
  const paths = ["/v1/models", "/v1/models/gpt-4o?x=..%2f", "/v1/models/meta-llama%2FLlama-3.1-8B"];
  expect(paths.filter(isOfModels)).toEqual(paths);
});

describe("a path of the proxy that is passed through with the client's own key", () => {
  it("stays within /v1 of the model's server, in any encoding", async () => {
    await expectWithinV1(await begin(portOf(upstream)));
  });
});

it("the forms in which a path is tried are 40 at least, and no two the same", () => {
  expect(new Set(ESCAPES).size).toBeGreaterThanOrEqual(40);
});

describe("a model's name in a path of the proxy", () => {
  it("reaches nothing of the upstream but its models, in any encoding", async () => {
    const port = await begin(portOf(upstream));
    await expectNoEscape(port);
  });

  it("goes on as one segment where it is one, with the query", async () => {
    const port = await begin(portOf(upstream));
    const names = ["gpt-4o", "ft:gpt-4o-mini:org::id", "meta-llama%2FLlama-3.1-8B", "o3?x=..%2f"];
    for (const name of names) expect(await statusOf(port, `/v1/models/${name}`)).toBe(200);
    expect(seen).toEqual([
      "/v1/models/gpt-4o",
      "/v1/models/ft%3Agpt-4o-mini%3Aorg%3A%3Aid",
      "/v1/models/meta-llama%2FLlama-3.1-8B",
      "/v1/models/o3?x=..%2f",
    ]);
  });
});

const isNginxHere = isInstalled("nginx");

// Installed by .ci/run; elsewhere these two are left out.
describe.skipIf(!isNginxHere)(
  "a model's name in a path of the proxy, with nginx (Debian: nginx-light)",
  () => {
    let folder = "";
    let stop: () => Promise<void>;

    /** A real nginx that decodes and passes on everything under /, as a common `proxy_pass` with a path does. */
    async function nginxTo(port: number): Promise<number> {
      folder = mkdtempSync(join(tmpdir(), "keepsake-nginx-"));
      const free = createServer();
      await listening(free);
      const own = portOf(free);
      await new Promise((resolve) => free.close(resolve));
      writeFileSync(
        join(folder, "nginx.conf"),
        `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  server {
    listen 127.0.0.1:${own};
    location / { proxy_pass http://127.0.0.1:${port}/; }
  }
}`,
      );
      const child = spawn(
        "nginx",
        ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")],
        {
          stdio: "ignore",
        },
      );
      const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      stop = async () => {
        child.kill("SIGKILL");
        await gone;
        rmSync(folder, { recursive: true, force: true });
      };
      for (let attempt = 0; attempt < 100; attempt += 1) {
        const isUp = await statusOf(own, "/up").then(
          () => true,
          () => false,
        );
        if (isUp) break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      seen.length = 0;
      return own;
    }

    afterEach(async () => stop());

    it("reaches nothing but the models of an upstream that nginx decodes paths for", async () => {
      await expectNoEscape(await begin(await nginxTo(portOf(upstream))));
    });

    it("stays within /v1 of a model's server that nginx decodes paths for, with the client's own key", async () => {
      await expectWithinV1(await begin(await nginxTo(portOf(upstream))));
    });

    it("reaches nothing but the upstream's models where nginx decodes paths before this server", async () => {
      const port = await begin(portOf(upstream));
      const front = await nginxTo(port);
      const statuses: number[] = [];
      for (const written of ESCAPES) statuses.push(await statusOf(front, `/v1/models/${written}`));
      expect(statuses.filter((status) => status >= 200 && status < 500).length).toBeGreaterThanOrEqual(40);
      // That paths come through at all.
      expect(await statusOf(front, "/v1/models/gpt-4o")).toBe(200);
      expect(seen).toContain("/v1/models/gpt-4o");
      expect(seen.filter((path) => !isOfModels(path) || path.includes("resp_bob"))).toEqual([]);
    });
  },
);
