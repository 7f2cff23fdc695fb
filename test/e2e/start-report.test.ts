import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const KEY = "k".repeat(24);

let folder: string;
let server: ChildProcess | undefined;
let printed = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-start-"));
  printed = "";
});
afterEach(() => {
  server?.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

/** Starts a server in the folder; gives its address. */
async function start(env: { readonly [name: string]: string }): Promise<string> {
  server = spawn(process.execPath, [MAIN, "serve", "--port", "0"], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [server.stdout, server.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  await expect.poll(() => printed, { timeout: 30_000 }).toMatch(/listens on http:\S+,/);
  return /listens on (http:\S+),/.exec(printed)?.[1] ?? "";
}

const get = async (url: string, path: string) => {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${KEY}` } });
  return (await response.json()) as { readonly notices: readonly string[] };
};

it("says at the start and in /ready that an index cannot be used, and serves without it", async () => {
  const url = await start({
    KEEPSAKE_API_KEY: KEY,
    FAISS_INDEX_PATH: "faiss",
    USE_GPU: "on",
    KEEPSAKE_PYTHON: join(folder, "no-python"),
  });
  await expect
    .poll(() => printed)
    .toContain("FAISS keeps its indexes in faiss (FAISS_INDEX_PATH) and searches on a GPU");
  await expect.poll(() => printed, { timeout: 20_000 }).toMatch(/The index faiss cannot be used/);
  const { notices } = await get(url, "/api/v1/ready");
  expect(notices).toEqual([
    expect.stringMatching(/^The index faiss cannot be used; recalls use the database\. /),
  ]);
  const response = await fetch(`${url}/message`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ userId: "ana", message: "I use Shram and Magnet as productivity tools." }),
  });
  expect(response.status).toBe(200);
});

it("reads .env, logs requests with LOG_LEVEL=INFO, and logs users only if it is told to", async () => {
  writeFileSync(join(folder, ".env"), `KEEPSAKE_API_KEY=${KEY}\nLOG_LEVEL=INFO\n`, { mode: 0o600 });
  const paths = ["off", "on"] as const;
  for (const shown of paths) {
    const url = await start({ KEEPSAKE_LOG_PATHS: shown });
    expect(printed).toContain(".env was read for KEEPSAKE_API_KEY, LOG_LEVEL.");
    await get(url, "/api/v1/memories/anastasia?status=current");
    await expect.poll(() => printed).toContain("INFO request");
    expect(printed.includes("anastasia")).toBe(shown === "on");
    expect(printed).not.toContain("status=current");
    expect(printed).not.toContain(KEY);
    server?.kill("SIGKILL");
    printed = "";
  }
});

it("says at the start that the package of an embedder is missing", async () => {
  const url = await start({ KEEPSAKE_API_KEY: KEY, EMBEDDING_MODEL: "all-MiniLM-L6-v2" });
  await expect
    .poll(() => printed)
    .toMatch(/EMBEDDING_MODEL cannot be used: .*npm install @huggingface\/transformers/);
  expect((await get(url, "/api/v1/ready")).notices).toEqual([expect.stringContaining("EMBEDDING_MODEL")]);
});

it("starts although an embedder that users may choose cannot be opened, and says so there and in /ready", async () => {
  const mpnet = { kind: "sentence-transformers", model: "all-mpnet-base-v2" };
  const env = { KEEPSAKE_API_KEY: KEY, KEEPSAKE_EMBEDDERS: JSON.stringify({ mpnet }) };
  const url = await start(env);
  const notice = /The embedder "mpnet" cannot be opened; .*npm install @huggingface\/transformers/;
  await expect.poll(() => printed).toMatch(notice);
  expect((await get(url, "/api/v1/ready")).notices).toEqual([expect.stringMatching(notice)]);
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  const call = (method: string, path: string, body: object) =>
    fetch(`${url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
  const chosen = await call("PUT", "/embedders/ana", { embedder: "mpnet" });
  expect([chosen.status, await chosen.json()]).toEqual([
    422,
    expect.objectContaining({ detail: expect.stringContaining('"mpnet" could not be opened here') }),
  ]);
  expect((await call("POST", "/memories", { user_id: "ana", content: "I use Shram." })).status).toBe(201);
});

it("says at the start what reranks, and that the package of a cross-encoder is missing", async () => {
  const url = await start({ KEEPSAKE_API_KEY: KEY, KEEPSAKE_RERANKER: "cross-encoder" });
  await expect
    .poll(() => printed)
    .toContain("The best items of recalls are reranked by a cross-encoder in this process");
  await expect
    .poll(() => printed)
    .toMatch(
      /KEEPSAKE_RERANKER cannot be used; recalls keep the order of the search\. .*npm install @huggingface\/transformers/,
    );
  expect((await get(url, "/api/v1/ready")).notices).toEqual([expect.stringContaining("KEEPSAKE_RERANKER")]);
});

it("says at the start which host reranks, without the path and the key of its address", async () => {
  await start({
    KEEPSAKE_API_KEY: KEY,
    KEEPSAKE_RERANKER_URL: "http://127.0.0.1:9/secret-path",
    KEEPSAKE_RERANKER_MODEL: "rerank-x",
    KEEPSAKE_RERANKER_API_KEY: "secret-key",
  });
  await expect
    .poll(() => printed)
    .toContain(
      "The best items of recalls are reranked by rerank-x at 127.0.0.1:9, which gets queries and texts.",
    );
  expect(printed).not.toMatch(/secret/);
});
