import { expect, it } from "vitest";
import type { LogSettings } from "../config/settings.ts";
import { readSettings } from "../config/settings.ts";
import { MemoryError } from "../errors.ts";
import { createLog, type Log, withSpanLog } from "./log.ts";

function open(settings: Partial<LogSettings>): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const clock = () => new Date("2026-03-01T10:00:00Z");
  return { log: createLog(settings, { clock, write: (line) => lines.push(line) }), lines };
}

it("writes the events of its level and above, as lines for people or as JSON", () => {
  const people = open({ form: "text", level: "info" });
  people.log.write("info", "request", { route: "/api/v1/ready", status: 200, key: undefined, says: "a b" });
  people.log.write("debug", "span", {});
  expect(people.lines).toEqual([
    '2026-03-01T10:00:00.000Z INFO request route=/api/v1/ready status=200 says="a b"\n',
  ]);
  const json = open({ form: "json", level: "debug" });
  json.log.write("debug", "span", { ms: 1 });
  expect(json.lines.map((line) => JSON.parse(line))).toEqual([
    { at: "2026-03-01T10:00:00.000Z", level: "debug", event: "span", ms: 1 },
  ]);
});

it("writes a line per event, whatever a field contains", () => {
  const { log, lines } = open({ level: "info" });
  log.write("info", "request", { path: "/a\n2026 ERROR forged" });
  expect(lines.join("").trimEnd().split("\n")).toHaveLength(1);
});

it("writes faults only without settings", () => {
  const { log } = open({});
  expect([log.isOn("error"), log.isOn("warning"), log.isOn("info")]).toEqual([true, true, false]);
});

it("writes each step of the work at the level debug, with its time and the code of an error", async () => {
  const { log, lines } = open({ form: "json", level: "debug" });
  const tracer = withSpanLog(undefined, log);
  await tracer?.within({ name: "recall", attributes: { items: 1 } }, async (span) => span.set({ items: 2 }));
  const failing = tracer?.within({ name: "commit" }, async () => {
    throw new MemoryError("conflict", "ana's words");
  });
  await expect(failing).rejects.toMatchObject({ code: "conflict" });
  tracer?.over({ name: "chat m", ms: 12.34 });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { name: "recall", items: 2, ms: expect.any(Number) },
    { name: "commit", error: "conflict" },
    { name: "chat m", ms: 12.3 },
  ]);
  expect(lines.join("")).not.toContain("words");
});

it("leaves the tracer alone at other levels", () => {
  expect(withSpanLog(undefined, open({ level: "info" }).log)).toBeUndefined();
});

it.each([
  [{}, undefined],
  [{ KEEPSAKE_LOG: "json" }, { form: "json", level: "info" }],
  [{ LOG_LEVEL: "DEBUG" }, { form: "text", level: "debug" }],
  [
    { LOG_LEVEL: "warn", KEEPSAKE_LOG: "json" },
    { form: "json", level: "warning" },
  ],
  [{ LOG_LEVEL: "INFO", KEEPSAKE_LOG: "off" }, undefined],
  [
    { LOG_LEVEL: "info", KEEPSAKE_LOG_PATHS: "on" },
    { form: "text", level: "info", showsPaths: true },
  ],
] as const)("takes its form and level from the settings %j", (environment, log) => {
  expect(readSettings(environment).log).toEqual(log);
});
