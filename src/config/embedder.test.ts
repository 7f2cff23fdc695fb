import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isMemoryError } from "../errors.ts";
import { openEmbedder } from "./memory-from-settings.ts";
import { readSettings } from "./settings.ts";

it("creates the named embedder", async () => {
  const openai = await openEmbedder({ name: "openai", apiKey: "sk-1", dimensions: 256, patienceMs: 700 });
  expect(openai).toMatchObject({
    fingerprint: "openai/text-embedding-3-small/256",
    patienceMs: 700,
    local: false,
  });
  const other = {
    name: "openai",
    baseUrl: "http://localhost:11434/v1",
    model: "bge-m3",
    dimensions: 1024,
  } as const;
  expect(await openEmbedder(other)).toMatchObject({ fingerprint: "openai/bge-m3/1024" });
  expect(await openEmbedder({ name: "minilm" })).toMatchObject({
    fingerprint: "all-minilm-l6-v2-q8/384",
    local: true,
  });
});

it("supports Azure's older API", () => {
  const azure = { OPENAI_BASE_URL: "https://ana.openai.azure.com", OPENAI_API_VERSION: "2024-10-21" };
  expect(readSettings({ ...azure, KEEPSAKE_EMBEDDER: "openai", OPENAI_API_KEY: "k" }).embedder).toMatchObject(
    { apiVersion: "2024-10-21" },
  );
});

it("says of an embedder whose package is not installed which setting wants it, and what to install", async () => {
  const model = { name: "sentence-transformers", model: "Xenova/all-mpnet-base-v2" } as const;
  await expect(openEmbedder(model)).rejects.toMatchObject({
    code: "unsupported",
    message:
      "EMBEDDING_MODEL cannot be used: an embedder of sentence-transformers needs the package @huggingface/transformers: npm install @huggingface/transformers",
  });
});

it("names a missing or invalid setting", async () => {
  await expect(openEmbedder({ name: "openai" })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(/^OPENAI_API_KEY: /),
  });
  await expect(openEmbedder({ name: "openai", apiKey: "sk-1", model: "bge-m3" })).rejects.toMatchObject({
    message: expect.stringMatching(/^KEEPSAKE_EMBEDDING_DIMENSIONS: /),
  });
});

describe("embedders by name", () => {
  const OTHER = {
    kind: "openai",
    model: "bge-m3",
    base_url: "http://localhost:11434/v1",
    dimensions: 1024,
    key_variable: "OTHER_KEY",
  };
  const read = (named: object | string, environment: { readonly [name: string]: string } = {}) =>
    readSettings({
      ...environment,
      KEEPSAKE_EMBEDDERS: typeof named === "string" ? named : JSON.stringify(named),
    }).embedders;
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "keepsake-named-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("are read from JSON, with the key of the variable that an entry names", () => {
    const named = { other: OTHER, plain: { kind: "static" }, here: { kind: "minilm", path: "/models/x" } };
    expect(read(named, { OTHER_KEY: "k-1", OPENAI_API_KEY: "sk-1", RETRIEVAL_TIMEOUT_MS: "900" })).toEqual({
      other: {
        name: "openai",
        model: "bge-m3",
        baseUrl: "http://localhost:11434/v1",
        apiKey: "k-1",
        dimensions: 1024,
        patienceMs: 900,
      },
      plain: { name: "static" },
      here: { name: "minilm", modelPath: "/models/x" },
    });
    expect(readSettings({}).embedders).toBeUndefined();
  });

  it("send the key of OPENAI_API_KEY to the server of OPENAI_BASE_URL only", () => {
    const settings = { OPENAI_API_KEY: "sk-1", OPENAI_BASE_URL: "http://localhost:1/v1" };
    const { key_variable: _variable, ...elsewhere } = OTHER;
    const named = read({ elsewhere, here: { kind: "openai" } }, settings);
    expect(named?.elsewhere).not.toHaveProperty("apiKey");
    expect(named?.here).toMatchObject({ apiKey: "sk-1", baseUrl: "http://localhost:1/v1" });
  });

  it("are a group of the settings file, with keys from .env", () => {
    const config = join(folder, "keepsake.yaml");
    const lines = Object.entries(OTHER).map(([field, value]) => `    ${field}: ${value}`);
    writeFileSync(config, ["embedders:", "  other:", ...lines, "  plain: { kind: static }"].join("\n"));
    writeFileSync(join(folder, ".env"), "OTHER_KEY=k-2\n", { mode: 0o600 });
    expect(readSettings({ KEEPSAKE_CONFIG: config }).embedders).toMatchObject({
      other: { name: "openai", model: "bge-m3", dimensions: 1024, apiKey: "k-2" },
      plain: { name: "static" },
    });
  });

  it("are refused with the place of a mistake, and never with a value", () => {
    const refusal = (named: object | string, environment = {}) => {
      try {
        return read(named, environment);
      } catch (error) {
        return isMemoryError(error) ? `${error.code} ${error.message}` : error;
      }
    };
    expect(refusal("sk-secret")).toMatch(/^invalid_input KEEPSAKE_EMBEDDERS: its value is not allowed/);
    expect(refusal({ default: { kind: "static" } })).toMatch(/^invalid_input KEEPSAKE_EMBEDDERS: a name has/);
    expect(refusal({ a: { kind: "bert" } })).toBe(
      "invalid_input KEEPSAKE_EMBEDDERS: a.kind is missing or not allowed. Allowed: static, minilm, openai or sentence-transformers.",
    );
    expect(refusal({ a: { kind: "static", model: "secret" } })).toBe(
      "invalid_input KEEPSAKE_EMBEDDERS: a: an embedder of the kind static has no field model. Remove it.",
    );
    expect(refusal({ a: { kind: "openai", dimensions: "secret" } })).toBe(
      "invalid_input KEEPSAKE_EMBEDDERS: a.dimensions is missing or not allowed. Allowed: a number from 1 to 4096.",
    );
    expect(refusal({ a: { ...OTHER, base_url: "http://me:secret@x/v1" } })).toMatch(
      /a\.base_url .*Allowed: an address/,
    );
    expect(refusal({ a: "secret" })).toMatch(/KEEPSAKE_EMBEDDERS: a needs fields/);
    expect(refusal({ a: OTHER })).toBe(
      "invalid_input KEEPSAKE_EMBEDDERS: a needs the variable OTHER_KEY, which is not set.",
    );
    expect(refusal({ a: { ...OTHER, key_variable: "KEEPSAKE_X" } })).toMatch(/a\.key_variable/);
  });

  it("name the field that an adapter refuses", async () => {
    await expect(
      openEmbedder({ name: "openai", apiKey: "k", model: "bge-m3" }, {}, "other"),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/^KEEPSAKE_EMBEDDERS: other\.dimensions: /),
    });
    expect(await openEmbedder({ name: "static" })).toMatchObject({ local: true });
  });
});
