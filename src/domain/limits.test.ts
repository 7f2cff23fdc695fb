import { expect, it } from "vitest";
import { checkMetadata, checkScope, checkText } from "./limits.ts";
import { toIsoTime } from "./time.ts";

it.each([
  ["empty", ""],
  ["only white space", " \n "],
  ["over 1 MB", "a".repeat(1_000_001)],
  ["over 1 MB in bytes", "ü".repeat(500_001)],
  ["half a surrogate pair", "a\ud800b"],
  ["NUL", "a\u0000b"],
  ["an escape sequence", "\u001b[31mred"],
])("rejects text that is %s", (_name, text) => {
  expect(() => checkText(text, "content")).toThrow(expect.objectContaining({ code: "invalid_input" }));
});

it("never repeats rejected text in the error", () => {
  expect(() => checkText("secret\u0000words", "content")).toThrow(expect.not.stringContaining("secret"));
});

it.each(["tab\tand\nline\r\nbreak", "emoji 👩‍👩‍👧 and مرحبا", "\uFEFFmark", "a".repeat(1_000_000)])(
  "accepts other text unchanged",
  (text) => {
    expect(checkText(text, "content")).toBe(text);
  },
);

it.each([
  "9999-01-01T00:00:00Z",
  "0001-01-01T00:00:00Z",
  "yesterday",
  "2026-13-01",
  "2026-01-31T18:00:00",
  "",
])("rejects %j as a time", (time) => {
  expect(() => toIsoTime(time, "at")).toThrow(expect.objectContaining({ code: "invalid_input" }));
});

it("converts times to UTC", () => {
  expect(toIsoTime("2026-01-31T18:00:00+02:00", "at")).toBe("2026-01-31T16:00:00.000Z");
  expect(toIsoTime("2026-01-31", "at")).toBe("2026-01-31T00:00:00.000Z");
  expect(toIsoTime(new Date(0), "at")).toBe("1970-01-01T00:00:00.000Z");
});

it("rejects a scope without a user, and metadata that is not flat", () => {
  expect(() => checkScope({ user: "" })).toThrow();
  expect(() => checkScope({ user: undefined })).toThrow();
  expect(checkScope({ user: "ana" })).toEqual({ project: "default", user: "ana" });
  expect(() => checkMetadata({ a: { b: 1 } }, "metadata")).toThrow();
  expect(() => checkMetadata({ a: Number.NaN }, "metadata")).toThrow();
  expect(checkMetadata({ a: [1, "b", null, true] }, "metadata")).toEqual({ a: [1, "b", null, true] });
});
