import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type EmbeddingsServer, startEmbeddingsServer } from "../../src/testing/openai/openai-server.ts";

/** The program with an embedder on a server, as its settings make it: a server of OpenAI's protocol on this machine. */

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const KEY = "sk-e2e-0123456789-never-shown";
const OWN_KEY = "a-key-for-this-test-only-0123456789";

let server: EmbeddingsServer;
let folder: string;
beforeAll(async () => {
  server = await startEmbeddingsServer({ apiKey: KEY });
});
afterAll(() => server.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-embedders-"));
  server.always = undefined;
  server.received.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
  readonly ms: number;
}

/** An embedder on a server, and nothing else there: what understands and answers stays here. */
const remote = (): { [name: string]: string } => ({
  KEEPSAKE_EMBEDDER: "openai",
  KEEPSAKE_EXTRACTOR: "rules",
  OPENAI_API_KEY: KEY,
  OPENAI_BASE_URL: server.url,
  KEEPSAKE_EMBEDDING_DIMENSIONS: "256",
  RETRIEVAL_TIMEOUT_MS: "2000",
});

function start(env: { [name: string]: string }, words: readonly string[]) {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [MAIN, ...words], { cwd: folder, env: { PATH, ...env } });
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said.err += text;
  });
  const begun = performance.now();
  const ended = new Promise<Ran>((resolve) => {
    child.once("close", (status) => resolve({ status, ...said, ms: performance.now() - begun }));
  });
  return { child, said, ended };
}

const keepsake = (env: { [name: string]: string }, ...words: readonly string[]): Promise<Ran> =>
  start(env, words).ended;

/** What stands on stdout, as a script reads it. */
// biome-ignore lint/suspicious/noExplicitAny: results are looked into as a script would.
const json = ({ out }: Ran): any => JSON.parse(out);

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + 15_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error("it never came to that");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("the command line with an embedder on a server", { timeout: 60_000 }, () => {
  it("takes in while the server is down, embeds when it is there, and shows the key nowhere", async () => {
    const down = { ...remote(), OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
    const taken = await keepsake(down, "remember", "I use Shram as a productivity tool.", "--json");
    expect([taken.status, json(taken).memories.length]).toEqual([0, 1]);
    const found = await keepsake(down, "recall", "productivity tool", "--json");
    expect(json(found).items.length).toBeGreaterThan(0);
    const waiting = await keepsake(down, "doctor", "--json");
    const embedding = { space: "openai/text-embedding-3-small/256", left: 2 };
    expect(json(waiting)).toMatchObject({ healthy: true, faults: [], embedding });

    const embedded = await keepsake(remote(), "reindex", "--json");
    expect([embedded.status, json(embedded)]).toEqual([
      0,
      { space: "openai/text-embedding-3-small/256", embedded: 2, left: 0 },
    ]);
    const after = json(await keepsake(remote(), "doctor", "--json"));
    expect(after).toMatchObject({ healthy: true, faults: [] });
    expect(after).not.toHaveProperty("embedding");
    const again = await keepsake(remote(), "reindex");
    expect(again.out).toContain("0 texts embedded");

    for (const { out, err } of [taken, found, waiting, embedded, again]) expect(out + err).not.toContain(KEY);
    for (const file of readdirSync(folder)) {
      expect(readFileSync(join(folder, file)).includes(KEY), file).toBe(false);
    }
  });

  it("answers and ends soon where the server hangs", async () => {
    await keepsake({}, "remember", "I use Shram as a productivity tool.");
    server.always = "hangs";
    const { status, out, ms } = await keepsake(
      { ...remote(), RETRIEVAL_TIMEOUT_MS: "50" },
      "answer",
      "What productivity tools do I use?",
    );
    expect([status, out.trim()]).toEqual([0, "You use Shram."]);
    expect(ms).toBeLessThan(4000);
  });

  it("says in its own words why it cannot embed", async () => {
    await keepsake({}, "remember", "I use Shram as a productivity tool.");
    const wrong = await keepsake({ ...remote(), OPENAI_API_KEY: "sk-wrong" }, "reindex");
    expect(wrong.status).toBe(1);
    expect(wrong.err).toMatch(/rejects the key\. Check OPENAI_API_KEY\./);
    expect(wrong.err).not.toMatch(/sk-|Shram/);
  });

  it.each([
    ["OPENAI_API_KEY", { KEEPSAKE_EMBEDDER: "openai" }],
    ["OPENAI_API_KEY", { EMBEDDING_MODEL: "text-embedding-3-large" }],
    ["KEEPSAKE_EMBEDDING_DIMENSIONS", { EMBEDDING_MODEL: "bge-m3", OPENAI_API_KEY: KEY }],
    ["KEEPSAKE_EMBEDDING_DIMENSIONS", { KEEPSAKE_EMBEDDING_DIMENSIONS: "many" }],
    ["KEEPSAKE_EMBEDER", { KEEPSAKE_EMBEDER: "openai" }],
    ["RETRIEVAL_TIMEOUT_MS", { RETRIEVAL_TIMEOUT_MS: "1s" }],
  ])("does not start where %s is missing or wrong: %j", async (name, env) => {
    const { status, err } = await keepsake(env as { [name: string]: string }, "recall", "anything");
    expect(status).not.toBe(0);
    expect(err).toContain(name);
    expect(err).not.toContain(KEY);
  });

  it("says how to install what MiniLM needs", async () => {
    const { status, err } = await keepsake({ KEEPSAKE_EMBEDDER: "minilm" }, "remember", "I use Shram.");
    expect(status).toBe(1);
    expect(err).toContain("npm install @huggingface/transformers");
  });
});

describe("the server with an embedder on another", { timeout: 60_000 }, () => {
  it("embeds in the background, finds by the new vectors, and stays quick while the other hangs", async () => {
    await keepsake({}, "remember", "I use Shram as a productivity tool.", "--user", "ana");
    const { child, said, ended } = start({ ...remote(), KEEPSAKE_API_KEY: OWN_KEY }, [
      "serve",
      "--port",
      "0",
      "--json",
    ]);
    try {
      await until(() => said.out.trim() !== "");
      const { url } = JSON.parse(said.out) as { url: string };
      const recall = async (query: string): Promise<{ texts: string[]; ms: number }> => {
        const begun = performance.now();
        const response = await fetch(`${url}/api/v1/memories/ana/search`, {
          method: "POST",
          headers: { authorization: `Bearer ${OWN_KEY}`, "content-type": "application/json" },
          body: JSON.stringify({ query }),
        });
        expect(response.status).toBe(200);
        const { items } = (await response.json()) as { items: { text: string }[] };
        return { texts: items.map(({ text }) => text), ms: performance.now() - begun };
      };
      await until(() =>
        server.received.some(({ body }) => String(body.input).includes("The user uses Shram")),
      );
      const { texts } = await recall("Which productivity tool?");
      expect(texts.join()).toContain("Shram");
      expect(server.received.some(({ body }) => String(body.input) === "Which productivity tool?")).toBe(
        true,
      );
      server.always = "hangs";
      const hung = await recall("a productivity tool, please");
      expect(hung.texts.join()).toContain("Shram");
      expect(hung.ms).toBeLessThan(4000);
    } finally {
      child.kill("SIGTERM");
    }
    const { status, err } = await ended;
    expect(status).toBe(0);
    expect(err).not.toContain(KEY);
  });
});
