import { expect, it } from "vitest";
import { editsBetween } from "./edits.ts";
import { readSettings, SETTINGS } from "./settings.ts";

it("has a default for everything that is needed", () => {
  expect(readSettings({})).toEqual({ path: "keepsake.db", host: "127.0.0.1", port: 7420 });
});

it("takes an empty value for none", () => {
  expect(readSettings({ KEEPSAKE_PORT: "", MEMORY_DB_URL: "" })).toEqual(readSettings({}));
});

it("takes the names people know", () => {
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

it("stops at a misspelt name, and says which was meant, or which there are", () => {
  const misspelt = (name: string) => () => readSettings({ [name]: "1" });
  expect(misspelt("KEEPSAKE_PROT")).toThrow("KEEPSAKE_PROT is no setting. Did you mean KEEPSAKE_PORT?");
  expect(misspelt("KEEPSAKE_COLOUR")).toThrow(/KEEPSAKE_COLOUR is no setting\. Known: .*KEEPSAKE_PORT/);
  expect(misspelt("MEMORY_RETREIVAL_TOP_K")).toThrow(/Did you mean MEMORY_RETRIEVAL_TOP_K/);
  expect(misspelt("MAX_CONTEXT_TOKEN")).toThrow(/Did you mean MAX_CONTEXT_TOKENS/);
});

it("leaves the names of other programs alone", () => {
  for (const name of ["PATH", "MEMORY_LIMIT", "MAX_TOKENS", "DB_URL", "OPENAI_API_KEY"]) {
    expect(readSettings({ [name]: "x" })).toEqual(readSettings({}));
  }
});

it("stops at an impossible value, with its name, the value and what is allowed", () => {
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

it("never shows the value of a secret", () => {
  for (const [name, value] of [
    ["KEEPSAKE_SECRET", "tooshort"],
    ["KEEPSAKE_API_KEY", "with space in it"],
  ] as const) {
    expect(() => readSettings({ [name]: value })).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.not.stringContaining(value) }),
    );
  }
});

it("says that another database is not supported, without its password", () => {
  expect(() => readSettings({ MEMORY_DB_URL: "postgresql://ana:geheim@db/x" })).toThrow(
    expect.objectContaining({
      code: "unsupported",
      message: "MEMORY_DB_URL: postgresql is not supported by this version. Use sqlite:///FILE.",
    }),
  );
});

it("counts swapped neighbours as one edit", () => {
  expect(editsBetween("PROT", "PORT")).toBe(1);
  expect(editsBetween("PORTS", "PORT")).toBe(1);
  expect(editsBetween("HOST", "PORT")).toBe(2);
  expect(editsBetween("", "PORT")).toBeGreaterThan(2);
});
