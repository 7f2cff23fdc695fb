import { expect, it } from "vitest";
import { passingSecret, uuidv7 } from "./index.ts";

it("gives ascending UUIDs of version 7 even if the clock stands still", () => {
  const ids = uuidv7(() => new Date("2026-01-01T00:00:00Z"));
  const made = Array.from({ length: 10_000 }, ids);
  expect(made[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect([...made].sort()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
});

it("gives ascending ids even if the clock goes back", () => {
  const times = [2000, 1000, 1500];
  const ids = uuidv7(() => new Date(times.shift() ?? 1500));
  const made = [ids(), ids(), ids()];
  expect([...made].sort()).toEqual(made);
});

it("gives the same signature for the same text, and another one for another secret", () => {
  const secret = passingSecret();
  expect(secret.sign("a")).toBe(secret.sign("a"));
  expect(secret.sign("a")).not.toBe(passingSecret().sign("a"));
});
