import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { childrenOf, type Running, started } from "../../bench/load/server.ts";
import { startUpstream } from "../faults/soak-upstream.ts";

const SNAPSHOTS = join(import.meta.dirname, "heap-snapshots.ts");
/** The main thread, the rules and the writer of the file. */
const LEAST_HEAPS = 3;

let folder: string;
let upstream: Awaited<ReturnType<typeof startUpstream>>;
let server: Running;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-heap-"));
  upstream = await startUpstream();
  server = await started(join(folder, "memory.db"), {
    NODE_OPTIONS: `--import ${SNAPSHOTS}`,
    HEAP_FOLDER: folder,
    KEEPSAKE_EXTRACTOR: "rules",
    // However busy the machine is, each chat gets its memories.
    RETRIEVAL_TIMEOUT_MS: "60000",
    OPENAI_API_KEY: "sk-of-the-stub",
    OPENAI_BASE_URL: upstream.url,
  });
}, 60_000);
afterEach(async () => {
  await server.end("SIGKILL");
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

async function send(method: string, path: string, body?: unknown, headers: object = {}): Promise<string> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect([method, path, response.status < 300 ? "done" : text]).toEqual([method, path, "done"]);
  if (path.startsWith("/v1/")) expect(response.headers.get("x-keepsake-memory")).toBe("on");
  return text;
}

/** Says something in every way there is, and asks for it in every way. */
async function use(user: string, word: string): Promise<void> {
  const said = (text: string) => [{ role: "user", content: text }];
  await send("POST", "/api/v1/messages", {
    user_id: user,
    session_id: `s-${user}`,
    messages: said(`I use ${word} for work. My sister has a boat called ${word}.`),
  });
  await send("POST", "/api/v1/memories", { user_id: user, content: `The badge says ${word}.` });
  for (const query of [word, "What do I use for work?"]) {
    await send("POST", `/api/v1/memories/${user}/search`, { query });
    await send("POST", "/api/v1/conversation", { user_id: user, message: query });
  }
  const talk = said(`I work with ${word} on Mondays.`);
  const chat = { model: "gpt-4o-mini", user, messages: talk };
  await send("POST", "/v1/chat/completions", chat, { "x-keepsake-session": `c-${user}` });
  const more = [...talk, { role: "assistant", content: "Good." }, ...said(`Who likes ${word}?`)];
  await send("POST", "/v1/chat/completions", { ...chat, messages: more });
  for (const path of ["profile", "memories", "history", "export"])
    await send("GET", `/api/v1/${path}/${user}`);
}

/** In how many of the server's heaps a word stands, and how many there are. */
async function heapsWith(words: readonly string[]): Promise<{ found: readonly string[]; heaps: number }> {
  const files = (): string[] => readdirSync(folder).filter((file) => file.endsWith(".heap"));
  for (const file of files()) rmSync(join(folder, file));
  const pid = server.child.pid ?? 0;
  for (const one of [pid, ...childrenOf(pid)]) process.kill(one, "SIGUSR2");
  // The main thread's takes longest; other processes may come and go.
  const isDone = (): boolean =>
    files().includes(`${pid}-0.heap`) &&
    files().length >= LEAST_HEAPS &&
    !readdirSync(folder).some((file) => file.endsWith(".part"));
  for (let still = 0, tries = 0; still < 20 && tries < 600; tries += 1) {
    await rest(100);
    still = isDone() ? still + 1 : 0;
  }
  expect(isDone()).toBe(true);
  const found = files().flatMap((file) => {
    const text = readFileSync(join(folder, file), "latin1").toLowerCase();
    return words.filter((word) => text.includes(word.toLowerCase())).map((word) => `${word} in ${file}`);
  });
  return { found, heaps: files().length };
}

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

it("a word stands in no heap of the server once it or its user was erased, and other words stay", {
  timeout: 180_000,
}, async () => {
  await use("ana", "Zqmagnetxv");
  await use("bob", "Zqpiratexv");
  await use("ana", "Zqlanternxv");
  const before = await heapsWith(["Zqmagnetxv", "Zqpiratexv", "Zqlanternxv"]);
  expect(before.heaps).toBeGreaterThanOrEqual(LEAST_HEAPS);
  for (const word of ["Zqmagnetxv", "Zqpiratexv", "Zqlanternxv"])
    expect(before.found.some((one) => one.startsWith(word))).toBe(true);

  await send("POST", "/api/v1/erasures", { user_id: "ana", about: "Zqmagnetxv" });
  await send("DELETE", "/api/v1/memories/bob/all");
  // V8 keeps the last text that a pattern was tried on, and Node the last body: others take their place.
  await use("cid", "Zqharbourxv");
  const after = await heapsWith(["Zqmagnetxv", "Zqpiratexv", "Zqharbourxv"]);
  expect(after.found.filter((one) => !one.startsWith("Zqharbourxv"))).toEqual([]);
  expect(after.found.length).toBeGreaterThan(0);
});
