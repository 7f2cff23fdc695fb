import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";
import type { ExportLine } from "../api/transfer-types.ts";

let now = Date.parse("2026-03-09T12:00:00Z");
let memory: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  now = Date.parse("2026-03-09T12:00:00Z");
  memory = await createMemory({ path: ":memory:", clock: () => new Date(now) });
  ana = memory.scope({ user: "ana" });
});
afterEach(() => memory.close());

const STATE = { topic: "Ferries to Faro", context: { step: 2 }, preferences: { tone: "short" } };

describe("the state of a session", () => {
  it("is created, read, changed field by field, and ended", async () => {
    const started = await ana.startSession({ id: "trip", ...STATE });
    expect(started).toEqual({
      id: "trip",
      ...STATE,
      startedAt: "2026-03-09T12:00:00.000Z",
      lastAt: "2026-03-09T12:00:00.000Z",
      expiresAt: "2026-03-10T12:00:00.000Z",
    });
    expect(await ana.sessionState("trip")).toEqual(started);
    now += 60_000;
    const changed = await ana.updateSession("trip", { topic: "Trains", preferences: null });
    expect(changed).toMatchObject({
      topic: "Trains",
      context: { step: 2 },
      lastAt: "2026-03-09T12:01:00.000Z",
    });
    expect(changed).not.toHaveProperty("preferences");
    await ana.endSession("trip");
    await expect(ana.sessionState("trip")).rejects.toMatchObject({ code: "not_found" });
    await expect(ana.updateSession("trip", { topic: "a" })).rejects.toMatchObject({ code: "not_found" });
  });

  it("gets a name of its own, or that of the scope", async () => {
    const { id } = await ana.startSession();
    expect((await ana.sessionState(id)).id).toBe(id);
    const talk = memory.scope({ user: "ana", session: "talk" });
    expect((await talk.startSession({ topic: "a" })).id).toBe("talk");
    await expect(talk.startSession({ topic: "b" })).rejects.toMatchObject({ code: "conflict" });
  });

  it("expires a day after the last change or message", async () => {
    await ana.startSession({ id: "trip", topic: "a" });
    now += 80_000_000;
    await ana.remember("The sea was cold.", { session: "trip" });
    await expect.poll(async () => (await ana.sessionState("trip")).lastAt).toBe(new Date(now).toISOString());
    now += 80_000_000;
    expect((await ana.sessionState("trip")).topic).toBe("a");
    now += 6_400_000;
    await expect(ana.sessionState("trip")).rejects.toMatchObject({ code: "not_found" });
  });

  it("belongs to one user of one project", async () => {
    await ana.startSession({ id: "trip", topic: "a" });
    for (const other of [memory.scope({ user: "eva" }), memory.scope({ user: "ana", project: "q" })]) {
      await expect(other.sessionState("trip")).rejects.toMatchObject({ code: "not_found" });
      await other.endSession("trip");
    }
    expect((await ana.sessionState("trip")).topic).toBe("a");
  });

  it("is exported with the user's data", async () => {
    await ana.startSession({ id: "trip", ...STATE });
    const lines: ExportLine[] = [];
    for await (const line of ana.export()) lines.push(line);
    expect(lines.at(-1)).toMatchObject({ type: "session", session: { id: "trip", ...STATE } });
  });

  it.each([
    { everything: true as const },
    { session: "trip" },
    "Magnet",
    { whereText: { $contains: "Magnet" } },
  ])("is gone after the erasure %j, whether it found something or not", async (what) => {
    for (const content of [undefined, "I use Magnet."]) {
      if (content !== undefined) await ana.remember(content, { session: "trip" });
      await ana.startSession({ id: "trip", topic: "Magnet" });
      await ana.forget(what);
      await expect(ana.sessionState("trip")).rejects.toMatchObject({ code: "not_found" });
    }
  });

  it.each([
    { topic: "" },
    { topic: "x".repeat(501) },
    { topic: 5 },
    { context: [] },
    { context: { big: "x".repeat(9000) } },
    { context: JSON.parse(`${'{"a":'.repeat(12)}1${"}".repeat(12)}`) as object },
    { preferences: { n: Number.NaN } },
    { preferences: { d: new Date() } },
    { preferences: { f: () => 1 } },
  ])("refuses the wrong fields of case %#", async (state) => {
    await expect(ana.startSession({ id: "trip", ...(state as object) })).rejects.toMatchObject({
      code: "invalid_input",
    });
    await expect(ana.sessionState("trip")).rejects.toMatchObject({ code: "not_found" });
  });
});
