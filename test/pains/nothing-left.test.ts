import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OpenaiServer, openaiServer } from "../../src/testing/openai/openai-server.ts";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const KEY = "a-key-for-this-test-only-1";
// Made up, and put together here so that no scanner takes it for a real one.
const SECRET = `sk-${"Zr8Qm2Vx7Lp4Tn9Kd3"}`;
const INCOGNITO = "Quillfeather";

let folder = "";
let upstream: OpenaiServer;
let child: ChildProcess;
let url = "";
/** All that the server prints: notices, its access log, faults. */
let printed = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-nothing-left-"));
  upstream = await openaiServer();
  child = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--db", join(folder, "memory.db")], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      NO_COLOR: "1",
      KEEPSAKE_API_KEY: KEY,
      OPENAI_API_KEY: "sk-none",
      OPENAI_BASE_URL: upstream.url,
    },
  });
  child.stdout?.on("data", (part: Buffer) => {
    printed += part.toString();
  });
  child.stderr?.on("data", (part: Buffer) => {
    printed += part.toString();
  });
  await until(() => /http:\/\/127\.0\.0\.1:\d+/.test(printed));
  url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] ?? "";
}, 30_000);
afterAll(async () => {
  child.kill("SIGTERM");
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 400; i += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("it never came to be so");
}

async function ask(path: string, body?: object, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${url}${path}`, {
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...headers },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} gave ${response.status}: ${text}`);
  return text;
}

const chat = (content: string, mode: string): Promise<string> =>
  ask(
    "/v1/chat/completions",
    { model: "gpt-4o-mini", user: "ana", messages: [{ role: "user", content }] },
    {
      "x-keepsake-memory": mode,
    },
  );

/** Everything that is left of what was said: files, what was printed, metrics, what calls cost, and every page. */
async function everything(): Promise<string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), "latin1"));
  const pages = ["/metrics", "/api/v1/stats", "/api/v1/memories/ana", "/api/v1/memories/ana/stats"];
  return [printed, ...files, ...(await Promise.all(pages.map((path) => ask(path))))].join("\n");
}

/** What works in the background has run, and all is stored. */
async function settled(): Promise<void> {
  await chat("Good morning!", "on");
  await ask("/api/v1/memories/ana/optimize", {});
  await until(async () => (await ask("/api/v1/memories/ana")).includes("Ghent"));
}

describe("what must not be left", () => {
  it("is nothing of an incognito turn, after every background job has run (vellum PR#33101)", async () => {
    await chat("I live in Ghent.", "on");
    await chat(`I live with a parrot called ${INCOGNITO}.`, "off");
    await settled();
    expect(upstream.received.some(({ raw }) => raw.includes(INCOGNITO))).toBe(true);
    const left = await everything();
    expect(left).toContain("Ghent");
    expect(left).not.toContain(INCOGNITO);
    expect(left).not.toContain(INCOGNITO.toLowerCase());
  }, 60_000);

  it("is no secret: not in files, indexes, logs, metrics or the ledger of calls (ai-memory#6)", async () => {
    await chat(`I deploy with ${SECRET} to Ghent.`, "on");
    await ask("/api/v1/messages", {
      user_id: "ana",
      messages: [{ role: "tool", content: `token ${SECRET}` }],
    });
    await ask("/api/v1/conversation", { user_id: "ana", message: `My key is ${SECRET}.` });
    await settled();
    const left = await everything();
    expect(left).toContain("[API key left out]");
    expect(left).not.toContain(SECRET);
    expect(left).not.toContain(SECRET.slice(3).toLowerCase());
  }, 60_000);

  it("is no word of the user's in what is printed, in metrics and in the ledger of calls", async () => {
    await settled();
    const told = [printed, await ask("/metrics"), await ask("/api/v1/stats")].join("\n");
    expect(told).not.toContain("Ghent");
    expect(told).toContain("/v1/chat/completions");
  }, 60_000);
});
