import { expect, it } from "vitest";
import { readSettings } from "./settings.ts";

it("has a default for everything", () => {
  expect(readSettings({})).toEqual({ path: "keepsake.db", host: "127.0.0.1", port: 7420 });
});

it("takes the names people know", () => {
  expect(readSettings({ MEMORY_DB_URL: "sqlite:///memory.db" }).path).toBe("memory.db");
  expect(readSettings({ MEMORY_DB_URL: "sqlite:////var/lib/memory.db" }).path).toBe("/var/lib/memory.db");
  expect(readSettings({ KEEPSAKE_DB: "a.db", MEMORY_DB_URL: "sqlite:///b.db" }).path).toBe("a.db");
});

it("stops at a misspelt name, and says which there are", () => {
  expect(() => readSettings({ KEEPSAKE_PROT: "1" })).toThrow(/KEEPSAKE_PROT is no setting.*KEEPSAKE_PORT/);
});

it("stops at an impossible value, with its name, the value and what is allowed", () => {
  expect(() => readSettings({ KEEPSAKE_PORT: "70000" })).toThrow(
    'KEEPSAKE_PORT: "70000" is not allowed. Allowed: a number from 0 to 65535.',
  );
});

it("never shows the value of a secret", () => {
  expect(() => readSettings({ KEEPSAKE_SECRET: "short" })).toThrow(expect.not.stringContaining("short "));
  expect(() => readSettings({ KEEPSAKE_API_KEY: "with space" })).toThrow(/its value is not allowed/);
});

it("says that another database is not supported", () => {
  expect(() => readSettings({ MEMORY_DB_URL: "postgresql://ana:geheim@db/x" })).toThrow(
    expect.objectContaining({ code: "unsupported", message: expect.not.stringContaining("geheim") }),
  );
});
