import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { type OpenaiServer, openaiServer } from "../../src/testing/index.ts";

/** The command line with a model, as its settings make it. */

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");

let server: OpenaiServer;
let folder: string;
beforeAll(async () => {
  server = await openaiServer();
});
afterAll(() => server.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-model-"));
  server.reset();
  server.reply = ({ turns }) => {
    const last = turns.at(-1)?.text ?? "";
    if (last.includes("\nTurns:")) return '{"items":[]}';
    const number = /"n":(\d+)[^\n]*Utrecht/.exec(last)?.[1];
    return number === undefined ? "A fine town!" : `Utrecht is your town [${number}]. You like it there.`;
  };
});
afterEach(() => {
  settings = {};
  rmSync(folder, { recursive: true });
});

let settings: { readonly [name: string]: string } = {};

function keepsake(input: string, ...words: readonly string[]): Promise<{ out: string; err: string }> {
  const env = {
    PATH: process.env.PATH ?? "",
    OPENAI_BASE_URL: server.url,
    OPENAI_API_KEY: "sk-e2e",
    ...settings,
  };
  const child = spawn(process.execPath, [MAIN, ...words], { cwd: folder, env });
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said.err += text;
  });
  child.stdin.end(input);
  return new Promise((resolve) => child.once("close", () => resolve(said)));
}

it("a chat is held by the model, and what was learnt is shown beside it", { timeout: 30_000 }, async () => {
  const { out } = await keepsake("I live in Utrecht.\nWhere do I live?\n", "chat");
  expect(out).toContain("A fine town!\n");
  expect(out).toContain("+ The user lives in Utrecht.");
  // The second sentence names nothing that is known.
  expect(out).toContain("Utrecht is your town.\n");
  expect(out).not.toContain("You like it there");
});

it("an answer is the model's, or memory's own where the model is down, which is said", {
  timeout: 30_000,
}, async () => {
  await keepsake("", "remember", "I live in Utrecht.");
  expect((await keepsake("", "answer", "Where do I live?")).out).toBe("Utrecht is your town.\n");
  server.always = { status: 503, headers: { "retry-after-ms": "1" } };
  const { out, err } = await keepsake("", "answer", "Where do I live?");
  expect(out).toBe("You live in Utrecht.\n");
  expect(err).toContain("The model cannot be reached, so this is from memory alone.");
});

it("one model extracts and another answers, if the settings name two", { timeout: 60_000 }, async () => {
  settings = {
    KEEPSAKE_EXTRACTION_MODEL: "small",
    KEEPSAKE_ANSWER_MODEL: "large",
    KEEPSAKE_UNDERSTAND_AFTER_MS: "0",
  };
  await keepsake("", "remember", "I live in Utrecht.");
  await keepsake("", "answer", "Where do I live?");
  const models = (isExtraction: boolean) =>
    server.received
      .filter(({ turns }) => (turns.at(-1)?.text ?? "").includes("\nTurns:") === isExtraction)
      .map(({ body }) => (body as { readonly model: string }).model);
  expect(new Set(models(true))).toEqual(new Set(["small"]));
  expect(new Set(models(false))).toEqual(new Set(["large"]));
});
