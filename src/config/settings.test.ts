import { expect, it } from "vitest";
import { countEdits } from "../domain/text/count-edits.ts";
import { readSettings, SETTINGS } from "./settings.ts";

it("has a default for every required setting", () => {
  expect(readSettings({})).toEqual({ path: "keepsake.db", host: "127.0.0.1", port: 7420 });
});

it("treats an empty value as not set", () => {
  expect(readSettings({ KEEPSAKE_PORT: "", MEMORY_DB_URL: "" })).toEqual(readSettings({}));
});

it("accepts common names of settings", () => {
  expect(readSettings({ MEMORY_DB_URL: "sqlite:///memory.db" }).path).toBe("memory.db");
  expect(readSettings({ MEMORY_DB_URL: "sqlite:////var/lib/memory.db" }).path).toBe("/var/lib/memory.db");
  expect(readSettings({ KEEPSAKE_DB: "a.db", MEMORY_DB_URL: "sqlite:///b.db" }).path).toBe("a.db");
  const known = {
    MEMORY_RETRIEVAL_TOP_K: "5",
    MAX_CONTEXT_TOKENS: "800",
    MEMORY_CONFIDENCE_THRESHOLD: "0.7",
  };
  expect(readSettings(known)).toMatchObject({ topK: 5, maxContextTokens: 800, confidenceThreshold: 0.7 });
});

it("refuses a misspelt name and suggests the right one, or lists all", () => {
  const misspelt = (name: string) => () => readSettings({ [name]: "1" });
  expect(misspelt("KEEPSAKE_PROT")).toThrow("KEEPSAKE_PROT is not a setting. Did you mean KEEPSAKE_PORT?");
  expect(misspelt("KEEPSAKE_COLOUR")).toThrow(/KEEPSAKE_COLOUR is not a setting\. Known: .*KEEPSAKE_PORT/);
  expect(misspelt("MEMORY_RETREIVAL_TOP_K")).toThrow(/Did you mean MEMORY_RETRIEVAL_TOP_K/);
  expect(misspelt("MAX_CONTEXT_TOKEN")).toThrow(/Did you mean MAX_CONTEXT_TOKENS/);
});

it("says that Kubernetes has set a variable for a Service, and how to prevent that", () => {
  const remedy = /Kubernetes has set it for a Service .*enableServiceLinks: false/;
  for (const [name, value] of [
    ["KEEPSAKE_SERVICE_HOST", "10.0.0.7"],
    ["KEEPSAKE_SERVICE_PORT_HTTP", "7420"],
    ["KEEPSAKE_PORT", "tcp://10.0.0.7:7420"],
    ["KEEPSAKE_PORT_7420_TCP_ADDR", "10.0.0.7"],
    ["KEEPSAKE_GRAFANA_SERVICE_HOST", "10.0.0.8"],
    ["KEEPSAKE_GRAFANA_PORT", "tcp://10.0.0.8:3000"],
  ] as const) {
    expect(() => readSettings({ [name]: value }), name).toThrow(remedy);
  }
  expect(readSettings({ KEEPSAKE_PORT: "7421" }).port).toBe(7421);
  expect(() => readSettings({ KEEPSAKE_PORT: "eighty" })).toThrow("Allowed: a number from 0 to 65535");
});

it("ignores the settings of other programs", () => {
  for (const name of ["PATH", "MEMORY_LIMIT", "MAX_TOKENS", "DB_URL", "OPENAI_ORG_ID"]) {
    expect(readSettings({ [name]: "x" })).toEqual(readSettings({}));
  }
});

it("refuses an invalid value and shows the name, the value and the allowed ones", () => {
  expect(() => readSettings({ KEEPSAKE_PORT: "70000" })).toThrow(
    'KEEPSAKE_PORT: "70000" is not allowed. Allowed: a number from 0 to 65535.',
  );
  const impossible: { readonly [name: string]: readonly string[] } = {
    KEEPSAKE_PORT: ["-1", "80.5", "0x50", "1e3", "eighty", " 80"],
    KEEPSAKE_HOST: ["my host"],
    KEEPSAKE_DB: ["a\0b"],
    MEMORY_DB_URL: ["sqlite://memory.db", "sqlite:///", "memory.db"],
    MEMORY_RETRIEVAL_TOP_K: ["0", "1001", "ten"],
    MAX_CONTEXT_TOKENS: ["0", "-4000"],
    KEEPSAKE_EMBEDDER: ["gpt", "Static"],
    EMBEDDING_MODEL: ["a model"],
    KEEPSAKE_EMBEDDING_DIMENSIONS: ["0", "5000"],
    KEEPSAKE_CACHE_MB: ["0", "256MB"],
    BATCH_EMBEDDING_SIZE: ["0", "many"],
    RETRIEVAL_TIMEOUT_MS: ["-1", "1s"],
    MEMORY_CONFIDENCE_THRESHOLD: ["70", "1.5", "-0.1", "high"],
  };
  for (const [name, values] of Object.entries(impossible)) {
    for (const value of values) {
      expect(() => readSettings({ [name]: value })).toThrow(
        `${name}: ${JSON.stringify(value)} is not allowed. Allowed: ${SETTINGS[name]?.allowed}.`,
      );
    }
  }
});

it("uses another embedder if it or its model is named, and never for a key alone", () => {
  const embedder = (environment: { readonly [name: string]: string }) => readSettings(environment).embedder;
  const key = { OPENAI_API_KEY: "sk-1" };
  expect(embedder({})).toBeUndefined();
  expect(embedder({ ...key, OPENAI_BASE_URL: "http://localhost:11434/v1" })).toBeUndefined();
  expect(embedder({ ...key, KEEPSAKE_EMBEDDER: "static", EMBEDDING_MODEL: "bge-m3" })).toBeUndefined();
  expect(embedder({ EMBEDDING_MODEL: "static-minilm-1" })).toBeUndefined();
  expect(embedder({ ...key, KEEPSAKE_EMBEDDER: "openai" })).toEqual({ name: "openai", apiKey: "sk-1" });
  expect(embedder({ ...key, EMBEDDING_MODEL: "text-embedding-3-large" })).toEqual({
    name: "openai",
    apiKey: "sk-1",
    model: "text-embedding-3-large",
  });
  expect(
    embedder({
      EMBEDDING_MODEL: "bge-m3",
      OPENAI_BASE_URL: "http://localhost:11434/v1",
      KEEPSAKE_EMBEDDING_DIMENSIONS: "1024",
      BATCH_EMBEDDING_SIZE: "32",
      RETRIEVAL_TIMEOUT_MS: "500",
    }),
  ).toEqual({
    name: "openai",
    model: "bge-m3",
    baseUrl: "http://localhost:11434/v1",
    dimensions: 1024,
    batchSize: 32,
    patienceMs: 500,
  });
  expect(embedder({ EMBEDDING_MODEL: "all-MiniLM-L6-v2" })).toEqual({ name: "minilm" });
  expect(embedder({ KEEPSAKE_EMBEDDER: "minilm", KEEPSAKE_MODEL_PATH: "/models/minilm" })).toEqual({
    name: "minilm",
    modelPath: "/models/minilm",
  });
  expect(embedder({ EMBEDDING_MODEL: "mine/all-MiniLM-L6-v2" })).toEqual({
    name: "minilm",
    model: "mine/all-MiniLM-L6-v2",
  });
  expect(() => embedder({ KEEPSAKE_EMBEDDER: "minilm", EMBEDDING_MODEL: "bge-m3" })).toThrow(
    /EMBEDDING_MODEL/,
  );
});

it("ignores settings of the tests", () => {
  const read = { KEEPSAKE_TEST_MODELS: "x", KEEPSAKE_SERVICES_DIR: "/tmp/services" };
  expect(readSettings(read)).toEqual(readSettings({}));
});

it("accepts origins only in the form that browsers send", () => {
  const { origins } = readSettings({ KEEPSAKE_ORIGINS: "https://app.example.com, http://localhost:5173" });
  expect(origins).toEqual(["https://app.example.com", "http://localhost:5173"]);
  expect(readSettings({}).origins).toBeUndefined();
  for (const value of [
    "*",
    "null",
    "app.example.com",
    "https://app.example.com/",
    "https://app.example.com:443",
    "https://*.example.com",
    "https://APP.example.com",
    "https://me@app.example.com",
    "ftp://app.example.com",
    "https://app.example.com,",
  ]) {
    expect(() => readSettings({ KEEPSAKE_ORIGINS: value })).toThrow(
      /origins such as https:\/\/app\.example\.com/,
    );
  }
});

it("refuses a server key shorter than 24 characters and says what is allowed", () => {
  expect(readSettings({ KEEPSAKE_API_KEY: "k".repeat(24) }).apiKey).toBe("k".repeat(24));
  expect(() => readSettings({ KEEPSAKE_API_KEY: "k".repeat(23) })).toThrow(
    /KEEPSAKE_API_KEY: its value is not allowed.*24 to 512 visible ASCII characters/,
  );
});

it("gives each provider the key and the address of its own settings", () => {
  const openai = { OPENAI_API_KEY: "sk-1", KEEPSAKE_EXTRACTOR: "rules" };
  const anthropic = { ANTHROPIC_API_KEY: "sk-ant-1" };
  const upstreamOf = (environment: object) => {
    const { proxy } = readSettings({ ...environment });
    return [proxy?.upstream, proxy?.anthropic];
  };
  const ofOpenai = { baseUrl: "https://api.openai.com/v1", apiKey: "sk-1" };
  const ofAnthropic = { baseUrl: "https://api.anthropic.com", apiKey: "sk-ant-1" };
  expect(upstreamOf(openai)).toEqual([ofOpenai, undefined]);
  expect(upstreamOf(anthropic)).toEqual([undefined, ofAnthropic]);
  expect(upstreamOf({ ...openai, ...anthropic })).toEqual([ofOpenai, ofAnthropic]);
  expect(upstreamOf({ ANTHROPIC_BASE_URL: "http://localhost:1" })).toEqual([
    undefined,
    { baseUrl: "http://localhost:1" },
  ]);
});

it("never shows the value of a secret", () => {
  for (const [name, value] of [
    ["KEEPSAKE_SECRET", "tooshort"],
    ["KEEPSAKE_API_KEY", "with space in it"],
    ["OPENAI_API_KEY", "sk-with space"],
    ["OPENAI_BASE_URL", "https://me:geheim@example.com/v1"],
    ["ANTHROPIC_API_KEY", `ks_${"0".repeat(12)}_${"A".repeat(43)}`],
    ["ANTHROPIC_BASE_URL", "https://me:geheim@example.com"],
  ] as const) {
    expect(() => readSettings({ [name]: value })).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.not.stringContaining(value) }),
    );
  }
});

it("reports an unsupported database without its password", () => {
  expect(() => readSettings({ MEMORY_DB_URL: "mongodb://ana:geheim@db/x" })).toThrow(
    expect.objectContaining({
      code: "unsupported",
      message:
        "MEMORY_DB_URL: mongodb is not supported. Use sqlite:///FILE, postgresql://USER:PASSWORD@HOST/DATABASE or mysql://USER:PASSWORD@HOST/DATABASE.",
    }),
  );
});

it("counts swapped neighbours as one edit", () => {
  expect(countEdits("PROT", "PORT")).toBe(1);
  expect(countEdits("PORTS", "PORT")).toBe(1);
  expect(countEdits("HOST", "PORT")).toBe(2);
  expect(countEdits("", "PORT")).toBeGreaterThan(2);
  expect(countEdits("KEEPSAKE_DB", "KEEPSAKE_BD", 1)).toBe(1);
  expect(countEdits("HOST", "PORT", 1)).toBeGreaterThan(1);
});

it("reads how recalls rank; weights turn the classic ranking on", () => {
  const weights = "similarity=0.5,access=2";
  expect(readSettings({ KEEPSAKE_RANKING: "classic" }).ranking).toEqual({ profile: "classic" });
  for (const profile of [{}, { KEEPSAKE_RANKING: "classic" }]) {
    expect(readSettings({ KEEPSAKE_RANKING_WEIGHTS: weights, ...profile }).ranking).toEqual({
      profile: "classic",
      weights: { similarity: 0.5, access: 2 },
    });
  }
  expect(() => readSettings({ KEEPSAKE_RANKING_WEIGHTS: weights, KEEPSAKE_RANKING: "default" })).toThrow(
    "Remove one of the two",
  );
  for (const wrong of ["likeness=1", "access=-1", "access=0", "access=1,access=2", "access", "access=1,"]) {
    expect(() => readSettings({ KEEPSAKE_RANKING_WEIGHTS: wrong })).toThrow(/KEEPSAKE_RANKING_WEIGHTS/);
  }
});

it("uses a reranker if its address or folder is set, or if it is named", () => {
  const reranker = (environment: { readonly [name: string]: string }) => readSettings(environment).reranker;
  expect(reranker({})).toBeUndefined();
  expect(reranker({ KEEPSAKE_RERANKER_API_KEY: "k", KEEPSAKE_RERANKER_TIMEOUT_MS: "900" })).toBeUndefined();
  expect(
    reranker({
      KEEPSAKE_RERANKER_URL: "https://api.jina.ai/v1",
      KEEPSAKE_RERANKER_MODEL: "jina-reranker-v2",
      KEEPSAKE_RERANKER_API_KEY: "k",
      KEEPSAKE_RERANKER_CANDIDATES: "50",
      KEEPSAKE_RERANKER_TIMEOUT_MS: "900",
    }),
  ).toEqual({
    kind: "server",
    url: "https://api.jina.ai/v1",
    model: "jina-reranker-v2",
    apiKey: "k",
    reranking: { candidates: 50, timeoutMs: 900 },
  });
  expect(reranker({ KEEPSAKE_RERANKER: "cross-encoder" })).toEqual({ kind: "cross-encoder", reranking: {} });
  expect(reranker({ KEEPSAKE_RERANKER_MODEL_PATH: "/models/x" })).toEqual({
    kind: "cross-encoder",
    modelPath: "/models/x",
    reranking: {},
  });
  expect(reranker({ KEEPSAKE_RERANKER: "off", KEEPSAKE_RERANKER_URL: "http://x" })).toBeUndefined();
  expect(() => reranker({ KEEPSAKE_RERANKER: "server" })).toThrow(/KEEPSAKE_RERANKER_URL/);
  expect(() =>
    reranker({ KEEPSAKE_RERANKER_URL: "http://x", KEEPSAKE_RERANKER_MODEL_PATH: "/models/x" }),
  ).toThrow(/KEEPSAKE_RERANKER_MODEL_PATH/);
});
