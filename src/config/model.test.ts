import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeExtractor, openModel } from "./memory-from-settings.ts";
import { readSettings } from "./settings.ts";

describe("the model settings", () => {
  const model = (environment: { readonly [name: string]: string }) => readSettings(environment).model;
  const server = { OPENAI_BASE_URL: "http://localhost:11434/v1", OPENAI_MODEL: "qwen2.5:7b" };

  it("switch the model on with a key, or with a server and a model, and with nothing less", () => {
    expect(model({})).toBeUndefined();
    expect(model({ OPENAI_MODEL: "gpt-4o" })).toBeUndefined();
    expect(model({ OPENAI_BASE_URL: "http://localhost:11434/v1" })).toBeUndefined();
    expect(model({ OPENAI_API_KEY: "sk-1" })).toEqual({
      extractor: "both",
      model: "gpt-4o-mini",
      apiKey: "sk-1",
    });
    expect(model(server)).toEqual({
      extractor: "both",
      model: "qwen2.5:7b",
      baseUrl: "http://localhost:11434/v1",
    });
  });

  it("switch the model off with the extractor rules, and on with a named one", () => {
    expect(model({ ...server, KEEPSAKE_EXTRACTOR: "rules" })).toBeUndefined();
    expect(model({ ...server, KEEPSAKE_EXTRACTOR: "model" })).toMatchObject({ extractor: "model" });
    expect(() => model({ KEEPSAKE_EXTRACTOR: "both" })).toThrow(
      'KEEPSAKE_EXTRACTOR: "both" needs OPENAI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL.',
    );
    expect(() => model({ KEEPSAKE_EXTRACTOR: "gpt" })).toThrow("Allowed: rules, model or both.");
    expect(() => model({ KEEPSAKE_EXTRACTR: "rules" })).toThrow("Did you mean KEEPSAKE_EXTRACTOR?");
  });

  it("accept Azure's versions and times, and refuse invalid values", () => {
    const azure = {
      OPENAI_BASE_URL: "https://ana.openai.azure.com",
      OPENAI_API_KEY: "k",
      OPENAI_MODEL: "mine",
    };
    expect(
      model({
        ...azure,
        OPENAI_API_VERSION: "2024-10-21",
        KEEPSAKE_MODEL_TIMEOUT_MS: "9000",
        KEEPSAKE_UNDERSTAND_AFTER_MS: "0",
      }),
    ).toMatchObject({ apiVersion: "2024-10-21", timeoutMs: 9000, lingerMs: 0 });
    for (const [name, value] of [
      ["OPENAI_MODEL", "two words"],
      ["OPENAI_API_VERSION", "a b"],
      ["KEEPSAKE_MODEL_TIMEOUT_MS", "99"],
      ["KEEPSAKE_UNDERSTAND_AFTER_MS", "soon"],
    ] as const) {
      expect(() => model({ [name]: value })).toThrow(`${name}: ${JSON.stringify(value)} is not allowed.`);
    }
  });

  it("name separate models for extraction and answers", () => {
    const both = { KEEPSAKE_EXTRACTION_MODEL: "gpt-4o-mini", KEEPSAKE_ANSWER_MODEL: "gpt-4o" };
    const named = model({ OPENAI_API_KEY: "sk-1", ...both });
    expect(named).toMatchObject({ extractionModel: "gpt-4o-mini", answerModel: "gpt-4o" });
    expect(describeExtractor(named)).toMatch(
      /by rules and gpt-4o-mini at .* Answers are written by gpt-4o\./,
    );
    expect(model({ OPENAI_BASE_URL: "http://localhost:1/v1", ...both })).toBeDefined();
    expect(model({ OPENAI_BASE_URL: "http://localhost:1/v1", KEEPSAKE_ANSWER_MODEL: "m" })).toBeUndefined();
  });

  it("create the model with its hooks, and report errors by the names of settings", async () => {
    expect(
      await openModel({ extractor: "both", model: "m", baseUrl: "http://localhost:1/v1" }),
    ).toMatchObject({
      name: "m",
      host: "localhost:1",
    });
    await expect(openModel({ extractor: "both", model: "m" })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/^OPENAI_API_KEY: /),
    });
  });

  it("describe where messages are sent", () => {
    expect(describeExtractor(undefined)).toBe("Memories are extracted by rules, on this machine.");
    expect(describeExtractor(model({ OPENAI_API_KEY: "sk-1" }))).toBe(
      "Memories are extracted by rules and gpt-4o-mini at api.openai.com. KEEPSAKE_EXTRACTOR=rules keeps messages on this machine.",
    );
    expect(describeExtractor(model({ ...server, KEEPSAKE_EXTRACTOR: "model" }))).toBe(
      "Memories are extracted by qwen2.5:7b at localhost:11434. KEEPSAKE_EXTRACTOR=rules keeps messages on this machine.",
    );
  });
});

describe("the settings file", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "keepsake-settings-"));
    path = join(folder, "keepsake.yaml");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const settings = (yaml: string, environment: { readonly [name: string]: string } = {}) => {
    writeFileSync(path, yaml);
    return readSettings({ ...environment, KEEPSAKE_CONFIG: path });
  };

  it("accepts names in upper and lower case, without the prefix and in groups", () => {
    const wanted = readSettings({
      KEEPSAKE_DB: "a.db",
      KEEPSAKE_PORT: "7421",
      OPENAI_MODEL: "m",
      OPENAI_BASE_URL: "http://localhost:1/v1",
      KEEPSAKE_REDACT: "off",
    });
    const openai = "OPENAI_MODEL: m\nOPENAI_BASE_URL: http://localhost:1/v1\n";
    expect(settings(`KEEPSAKE_DB: a.db\nKEEPSAKE_PORT: 7421\n${openai}KEEPSAKE_REDACT: 'off'\n`)).toEqual(
      wanted,
    );
    expect(
      settings(
        "db: a.db\nport: 7421 # the other one\nredact: false\nopenai:\n  model: m\n  base-url: http://localhost:1/v1\n",
      ),
    ).toEqual(wanted);
    expect(settings("")).toEqual(readSettings({}));
  });

  it("is overridden by the environment", () => {
    expect(settings("port: 1\nhost: localhost\n", { KEEPSAKE_PORT: "2" })).toMatchObject({
      port: 2,
      host: "localhost",
    });
  });

  it.each([
    ["prot: 1", /: prot is not a setting\. Did you mean KEEPSAKE_PORT\?$/],
    ["openai:\n  modell: x", /: openai\.modell is not a setting\. Did you mean OPENAI_MODEL\?$/],
    ["colour: red", /: colour is not a setting\. See docs\/reference\/settings\.md for a list\.$/],
    ["port: eighty", /KEEPSAKE_PORT: "eighty" is not allowed\. Allowed: a number from 0 to 65535\.$/],
    ["port: 1\nKEEPSAKE_PORT: 2", /KEEPSAKE_PORT is set twice/],
    ["port: 1\nport: 2", /line 2: invalid YAML/],
    ["- port", /"name: value"|is not a setting/],
    ["just words", /write settings as "name: value"/],
    ['db: "unclosed', /line \d: invalid YAML/],
    ["a: &a [x]\nb: *a", /aliases are not supported/],
  ])("stops the start at %j", (yaml, message) => {
    expect(() => settings(yaml)).toThrow(message);
  });

  it("shows no value that may be a key, and reports a missing file", () => {
    for (const yaml of ["openai:\n  api_key: sk geheim", "openai: { api_key: 'geheim", "geheim"]) {
      expect(() => settings(yaml)).toThrow(
        expect.objectContaining({ code: "invalid_input", message: expect.not.stringContaining("geheim") }),
      );
    }
    expect(() => readSettings({ KEEPSAKE_CONFIG: join(folder, "none.yaml") })).toThrow("cannot be read");
  });
});
