import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type OpenaiServer, openaiServer } from "../../src/testing/index.ts";
import { callServer, endLeftovers, startInFolder, writeEnvFile } from "./folder-server.ts";
import { keepsakeWith, place } from "./shell.ts";

/** A person comes from a system with these settings, files and calls. What needs a server is in test/backends. */

const KEY = "a-key-for-this-test-only-1";

let model: OpenaiServer;
beforeAll(async () => {
  model = await openaiServer();
  model.reply = ({ turns }) => {
    const last = turns.at(-1)?.text ?? "";
    if (last.includes("\nTurns:")) return '{"items":[]}';
    const number = /"n":(\d+)[^\n]*Shram/.exec(last)?.[1];
    return number === undefined ? "Good to know." : `You use Shram [${number}].`;
  };
});
afterAll(() => model.close());
afterEach(endLeftovers);

describe("a person who starts with the settings of", { timeout: 120_000 }, () => {
  it("a program with a vector folder, an SQLite file and GPT is told which setting is another one, and gets there", async () => {
    const familiar = {
      EMBEDDING_MODEL: "static-minilm-1",
      GPT_MODEL: "gpt-4-turbo",
      DB_PATH: "memory_db",
      SQL_PATH: "memories.db",
      OPENAI_API_KEY: "sk-1",
      OPENAI_API_BASE: model.url,
    };
    const refused = await keepsakeWith({ env: familiar }, "serve", "--port", "0");
    expect(refused.status).toBe(2);
    expect(refused.err).toMatch(/DB_PATH is not a setting: .*KEEPSAKE_DB .*CHROMA_URL/);
    expect(existsSync(join(place, "memories.db"))).toBe(false);

    const { DB_PATH: _other, ...env } = familiar;
    const run = (...words: string[]) => keepsakeWith({ env }, ...words, "--user", "user_123");
    expect((await run("remember", "I use Shram and Magnet as productivity tools")).status).toBe(0);
    expect((await run("remember", "I don't use Magnet anymore")).status).toBe(0);
    expect((await run("answer", "What productivity tools do I use?")).out).toBe("You use Shram.\n");
    expect(existsSync(join(place, "memories.db"))).toBe(true);
    const models = new Set(model.received.map(({ body }) => (body as { readonly model?: string }).model));
    expect(models).toContain("gpt-4-turbo");
  });

  it("a service with a general S3 bucket is told which bucket stores vectors, and which one backups", async () => {
    writeEnvFile(place, {
      OPENAI_API_KEY: "sk-1",
      AWS_S3_BUCKET: "memories",
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "id",
      AWS_SECRET_ACCESS_KEY: "secret",
    });
    const refused = await keepsakeWith({ env: {} }, "serve", "--port", "0");
    expect(refused.status).toBe(2);
    expect(refused.err).toMatch(/AWS_S3_BUCKET is not a setting: .*S3_VECTORS_BUCKET .*KEEPSAKE_BACKUP_TO/);

    // Without a bucket of vectors, the database has them.
    writeEnvFile(place, { OPENAI_API_KEY: "sk-1", KEEPSAKE_API_KEY: KEY, KEEPSAKE_EXTRACTOR: "rules" });
    const server = await startInFolder(place, { OPENAI_API_BASE: model.url });
    const say = async (path: string, message: string): Promise<string> =>
      (await callServer(server, KEY, ["POST", path], { userId: "u1", message })).json.reply;
    await say("/message", "I use Shram and Magnet as productivity tools.");
    expect(await say("/forget", "Forget that I use Magnet.")).toMatch(/^Forgotten: /);
    expect(await say("/message", "What productivity tools do I use?")).toBe("You use Shram.");
    expect(await server.end()).toBe(0);
  });
});
