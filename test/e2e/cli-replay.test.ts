import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { keepsakeWith, place } from "./shell.ts";

const keepsake = (...words: readonly string[]) => keepsakeWith({ env: { NO_COLOR: "1" } }, ...words);

it("replay compares the stored memories with the stored messages, and leaves the file as it is", async () => {
  await keepsake("remember", "I live in Oulu.", "--at", "2026-01-01T10:00:00Z");
  await keepsake("remember", "I moved to Pori.", "--at", "2026-02-01T10:00:00Z");
  const file = join(place, "keepsake.db");
  const before = readFileSync(file);
  const { status, out } = await keepsake("replay");
  expect(status).toBe(0);
  expect(out).toMatch(/^Messages read +2$/m);
  expect(out).toMatch(/^Same facts +2$/m);
  expect(readFileSync(file).equals(before)).toBe(true);
  const { json } = await keepsake("replay", "--json");
  expect(json).toMatchObject({ is_equal: true, counts: { messages: 2, same: 2, not_from_messages: 0 } });
  expect(json.digests.left).toBe(json.digests.right);
});

it("replay takes what an erased sentence had ended from the log, and has no erased word", async () => {
  await keepsake("remember", "I live in Oulu.", "--at", "2026-01-01T10:00:00Z");
  await keepsake("remember", "I moved to Pori.", "--at", "2026-02-01T10:00:00Z");
  await keepsake("forget", "Pori", "--yes");
  const { status, out } = await keepsake("replay");
  expect(status).toBe(0);
  expect(out).toMatch(/^Same facts +1$/m);
  expect(out).toMatch(/^Taken from the log +1$/m);
  expect(out).not.toContain("Pori");
});

it("replay of a user without messages finds nothing, and of a missing file fails", async () => {
  await keepsake("remember", "I live in Oulu.");
  expect((await keepsake("replay", "--user", "ben")).status).toBe(3);
  expect((await keepsake("replay", "--db", "none.db", "--json")).json.error.code).toBe("unavailable");
});

it("compare without a model says what to set", async () => {
  await keepsake("remember", "I live in Oulu.");
  const { status, json } = await keepsake("compare", "--json");
  expect(status).toBe(1);
  expect(json.error).toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("OPENAI_API_KEY"),
  });
});
