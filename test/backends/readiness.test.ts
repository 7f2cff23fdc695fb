import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ownServer } from "../services/own-server.ts";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const KEY = "a-key-for-this-test-only-1";

interface Dependency {
  readonly kind: string;
  readonly name?: string;
  readonly state: string;
  readonly since: string;
}

interface Answer {
  readonly code: number;
  readonly text: string;
  readonly said: {
    readonly status: string;
    readonly durability?: string;
    readonly degraded?: readonly string[];
    readonly checks?: readonly { readonly name: string; readonly state: string; readonly says: string }[];
    readonly dependencies?: readonly Dependency[];
  };
}

let folder = "";
let server: ChildProcess | undefined;
let url = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-ready-"));
});
afterEach(() => {
  server?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function serve(settings: { readonly [name: string]: string }): Promise<void> {
  const started = spawn(
    process.execPath,
    [MAIN, "serve", "--port", "0", "--json", "--db", join(folder, "memory.db")],
    { env: { PATH: process.env.PATH, KEEPSAKE_API_KEY: KEY, ...settings } },
  );
  server = started;
  url = await new Promise<string>((resolve) => {
    started.stdout.once("data", (line: Buffer) => resolve(JSON.parse(String(line)).url));
  });
}

async function ask(route: "health" | "ready", key?: string): Promise<Answer> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/api/v1/${route}`, { headers });
  const text = await response.text();
  return { code: response.status, text, said: JSON.parse(text) };
}

/** Asks until a service is found so, and exactly these are degraded, for half a minute at most: each is noted by itself. */
async function until(
  kind: string,
  state: string,
  degraded?: readonly string[],
): Promise<{ readonly ready: Answer; readonly found: Dependency }> {
  let last: Answer | undefined;
  for (let tried = 0; tried < 60; tried += 1) {
    last = await ask("ready", KEY);
    const found = last.said.dependencies?.find((one) => one.kind === kind);
    const isSettled = degraded === undefined || `${last.said.degraded}` === `${degraded}`;
    if (found?.state === state && isSettled) return { ready: last, found };
    await pause(500);
  }
  throw new Error(`${kind} never was ${state} with ${degraded} degraded: ${last?.text}`);
}

/** What nobody may learn from an answer: where the services and the file are. */
function secretsOf(...addresses: readonly string[]): string[] {
  const parts = addresses
    .map((address) => new URL(address))
    .flatMap(({ hostname, port, password }) => [hostname, `:${port}`, ...(password ? [password] : [])]);
  return [...addresses, ...parts, folder, "memory.db", "127.0.0.1", KEY];
}

describe("a server alone on its file", () => {
  it("tells without a key only whether it is up and ready, and with one what it found", {
    timeout: 60_000,
  }, async () => {
    await serve({});
    expect((await ask("health")).said).toEqual({ status: "ok" });
    expect((await ask("ready")).said).toEqual({ status: "ready" });
    for (const route of ["health", "ready"] as const)
      expect((await ask(route, "another-key")).code).toBe(401);
    await until("record", "up");
    for (let tried = 0; tried < 60 && (await ask("health", KEY)).said.durability === "unknown"; tried += 1)
      await pause(250);
    for (const route of ["health", "ready"] as const) {
      const { code, said, text } = await ask(route, KEY);
      expect([route, code, said.durability]).toEqual([route, 200, "full"]);
      const names = said.checks?.map(({ name }) => name);
      expect(names).toEqual([
        "durability",
        "format",
        "file",
        "disk",
        "digests",
        "erasures",
        "secret",
        "rows",
        "jobs",
      ]);
      for (const one of secretsOf()) expect(text).not.toContain(one);
    }
  });

  it("names a model's server whose answers fail as down, and asks it nothing to find that out", {
    timeout: 120_000,
  }, async () => {
    let requests = 0;
    const broken = createServer((_request, response) => {
      requests += 1;
      response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => broken.listen(0, "127.0.0.1", resolve));
    const { port } = broken.address() as AddressInfo;
    try {
      await serve({
        OPENAI_API_KEY: "sk-nothing-000000000000",
        OPENAI_BASE_URL: `http://localhost:${port}/v1`,
      });
      expect((await until("model", "up")).ready.said.degraded).toEqual([]);
      // Longer than the time between two looks.
      await pause(6000);
      expect(requests).toBe(0);
      for (const message of ["I use Shram as a productivity tool.", "What productivity tools do I use?"]) {
        await fetch(`${url}/api/v1/conversation`, {
          method: "POST",
          headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
          body: JSON.stringify({ user_id: "ana", message }),
        });
      }
      const { ready } = await until("model", "down");
      expect([ready.code, ready.said.degraded]).toEqual([200, ["model"]]);
      for (const one of [`localhost`, `:${port}`, "sk-nothing"]) expect(ready.text).not.toContain(one);
    } finally {
      broken.closeAllConnections();
      broken.close();
    }
  });
});

it("a Redis and a Chroma that cannot be reached are named as down, without their addresses and passwords", {
  timeout: 60_000,
}, async () => {
  const [redis, chroma] = ["redis://ana:geheim@localhost:64009", "http://localhost:64007"] as const;
  await serve({ REDIS_URL: redis, KEEPSAKE_SESSIONS: "redis", CHROMA_URL: chroma });
  await until("sessions", "down");
  const { ready } = await until("index", "down", ["sessions", "cache", "chroma"]);
  expect(ready.code).toBe(200);
  const texts = [ready.text, (await ask("health", KEY)).text, (await ask("ready")).text];
  for (const text of texts) for (const one of secretsOf(redis, chroma)) expect(text).not.toContain(one);
});

interface Case {
  readonly name: "redis" | "chroma";
  readonly kind: string;
  readonly settings: (address: string) => { readonly [name: string]: string };
  readonly named: readonly string[];
}

const CASES: readonly (Case & { readonly isThere: boolean })[] = [
  {
    name: "redis",
    kind: "sessions",
    settings: (address) => ({ REDIS_URL: address, KEEPSAKE_SESSIONS: "redis" }),
    // With an address of Redis, the cache is there, too.
    named: ["sessions", "cache"],
    isThere: process.env.KEEPSAKE_TEST_REDIS !== undefined,
  },
  {
    name: "chroma",
    kind: "index",
    settings: (address) => ({ CHROMA_URL: address }),
    named: ["chroma"],
    isThere: process.env.KEEPSAKE_TEST_CHROMA !== undefined,
  },
];

for (const { name, kind, settings, named, isThere } of CASES) {
  it.skipIf(!isThere)(
    `readiness names a killed ${name} as down, goes on with status 200, and names it as up once it is back`,
    { timeout: 180_000 },
    async () => {
      const service = await ownServer(name);
      try {
        await serve(settings(service.address));
        expect((await until(kind, "up", [])).ready).toMatchObject({ code: 200, said: { status: "ready" } });
        await service.kill();
        const { ready, found } = await until(kind, "down", named);
        expect(ready.code).toBe(200);
        expect(Date.parse(found.since)).toBeGreaterThan(Date.now() - 60_000);
        const health = await ask("health", KEY);
        expect(health.said.status).toBe("degraded");
        for (const { text } of [ready, health]) {
          for (const one of secretsOf(service.address)) expect(text).not.toContain(one);
        }
        expect((await ask("ready")).said).toEqual({ status: "ready" });
        await service.start();
        const back = await until(kind, "up", []);
        expect(Date.parse(back.found.since)).toBeGreaterThan(Date.parse(found.since));
      } finally {
        await service.remove();
      }
    },
  );
}
