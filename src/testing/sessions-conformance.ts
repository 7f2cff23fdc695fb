import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SESSION_TTL_MS, type Sessions, type SessionTurn } from "../ports/sessions.ts";
import type { Clock } from "../ports/system.ts";

/** What the suite needs of a session store. */
export interface SessionsHarness {
  /** Shown in the test output: "memory", "redis". */
  readonly name: string;
  /** Why the suite cannot run here, and what it needs; absent if it can run. */
  readonly missing?: string | undefined;
  /** Opens empty sessions that use a clock controlled by the case. */
  open(clock: Clock): Promise<Sessions>;
}

const CLOCK_START = Date.parse("2026-11-21T12:00:00.000Z");

/** Runs the whole contract of `ports/sessions.ts` against one adapter. Call it at the top level of a test file. */
export function sessionsConformance(harness: SessionsHarness): void {
  const title = `Sessions: ${harness.name}${harness.missing ? ` (${harness.missing})` : ""}`;
  describe.skipIf(harness.missing)(title, () => {
    let now = CLOCK_START;
    let sessions: Sessions;
    beforeEach(async () => {
      now = CLOCK_START;
      sessions = await harness.open(() => new Date(now));
    });
    afterEach(() => sessions.close());
    const pass = (ms: number): void => {
      now += ms;
    };
    for (const [title, run] of Object.entries(SESSIONS_CASES)) it(title, () => run({ sessions, pass }));
  });
}

/** The input of a case: empty sessions, and a way to advance time. */
export interface SessionsUnderTest {
  /** The session store. */
  readonly sessions: Sessions;
  /** Lets this many ms pass on the store's clock. */
  pass(ms: number): void;
}

const ANA = { project: "p", user: "ana" };
const TALK = { ...ANA, session: "talk" };
const NOON = Date.parse("2026-11-21T12:00:00.000Z");

const makeTurn = (id: string, more: Partial<SessionTurn> = {}): SessionTurn => ({
  id,
  role: "user",
  content: `words of ${id}`,
  at: "2026-11-21T11:59:00.000Z",
  ...more,
});
const makeTurns = (from: number, to: number): SessionTurn[] =>
  Array.from({ length: to - from }, (_one, i) => makeTurn(`m${from + i}`));
const listIds = (found: readonly SessionTurn[]): string[] => found.map(({ id }) => id);
const readLast = async (sessions: Sessions, session = "talk", limit = 100): Promise<string[]> =>
  listIds(await sessions.recent({ ...ANA, session }, { limit }));

/** The contract of `ports/sessions.ts`, one rule per case. Time starts at noon on 21 November 2026. */
export const SESSIONS_CASES: Readonly<Record<string, (given: SessionsUnderTest) => Promise<void>>> = {
  "know nothing of an unused session": async ({ sessions }) => {
    expect(await sessions.recent(TALK, { limit: 10 })).toEqual([]);
    expect(await sessions.active(ANA)).toEqual([]);
    expect(await sessions.erase(ANA, "everything")).toBe(0);
    expect(await sessions.cleanUp()).toBe(0);
    await sessions.end(TALK);
    await sessions.append(TALK, []);
    expect(await sessions.active(ANA)).toEqual([]);
  },

  "return the newest messages, oldest first": async ({ sessions }) => {
    await sessions.append(TALK, makeTurns(0, 3));
    await sessions.append(TALK, makeTurns(3, 5));
    expect(await readLast(sessions)).toEqual(["m0", "m1", "m2", "m3", "m4"]);
    expect(await readLast(sessions, "talk", 2)).toEqual(["m3", "m4"]);
  },

  "return messages unchanged": async ({ sessions }) => {
    const said = [
      makeTurn("a:{b}*", {
        name: 'Zoë "Z"',
        role: "assistant",
        content: 'Łódź\n\t"quoted" \\ {x} 😀 日本語',
      }),
      makeTurn("b", { role: "tool", content: "" }),
      makeTurn("c", { role: "system", content: "x".repeat(200_000) }),
      makeTurn("d", { content: "null" }),
    ];
    await sessions.append(TALK, said);
    expect(await sessions.recent(TALK, { limit: 10 })).toEqual(said);
  },

  "keep the newest hundred messages, and count all": async ({ sessions }) => {
    for (let from = 0; from < 250; from += 50) await sessions.append(TALK, makeTurns(from, from + 50));
    expect(await readLast(sessions, "talk", 1000)).toEqual(listIds(makeTurns(150, 250)));
    expect((await sessions.active(ANA)).map(({ messages }) => messages)).toEqual([250]);
    await sessions.append({ ...ANA, session: "long" }, makeTurns(1000, 1300));
    expect(await readLast(sessions, "long", 1000)).toEqual(listIds(makeTurns(1200, 1300)));
  },

  "replace a message with the same id": async ({ sessions }) => {
    await sessions.append(TALK, makeTurns(0, 3));
    await sessions.append(TALK, [makeTurn("m1", { content: "other words" })]);
    expect((await sessions.recent(TALK, { limit: 10 })).map(({ content }) => content)).toEqual([
      "words of m0",
      "other words",
      "words of m2",
    ]);
    expect((await sessions.active(ANA))[0]?.messages).toBe(3);
  },

  "expire a day after the last message, and can start again": async ({ sessions, pass }) => {
    await sessions.append(TALK, makeTurns(0, 2));
    pass(SESSION_TTL_MS - 1000);
    expect(await readLast(sessions)).toEqual(["m0", "m1"]);
    pass(1000);
    expect(await readLast(sessions)).toEqual([]);
    expect(await sessions.active(ANA)).toEqual([]);
    await sessions.append(TALK, makeTurns(2, 3));
    expect(await readLast(sessions)).toEqual(["m2"]);
    const at = new Date(NOON + SESSION_TTL_MS).toISOString();
    expect(await sessions.active(ANA)).toEqual([{ session: "talk", startedAt: at, lastAt: at, messages: 1 }]);
  },

  "restart the day with each message, but not with a read": async ({ sessions, pass }) => {
    await sessions.append(TALK, makeTurns(0, 1));
    pass(SESSION_TTL_MS / 2);
    await sessions.append(TALK, makeTurns(1, 2));
    pass(SESSION_TTL_MS / 2 + 1000);
    expect(await readLast(sessions)).toEqual(["m0", "m1"]);
    pass(SESSION_TTL_MS / 2);
    expect(await readLast(sessions)).toEqual([]);
  },

  "list active sessions, the most recently used first": async ({ sessions, pass }) => {
    for (const [i, session] of ["one", "two", "three"].entries()) {
      await sessions.append({ ...ANA, session }, makeTurns(i * 10, i * 10 + 1));
      pass(60_000);
    }
    await sessions.append({ ...ANA, session: "one" }, makeTurns(100, 102));
    const active = await sessions.active(ANA);
    expect(active.map(({ session }) => session)).toEqual(["one", "three", "two"]);
    expect(active[0]).toEqual({
      session: "one",
      startedAt: new Date(NOON).toISOString(),
      lastAt: new Date(NOON + 180_000).toISOString(),
      messages: 3,
    });
  },

  "end on request": async ({ sessions }) => {
    await sessions.append(TALK, makeTurns(0, 2));
    await sessions.append({ ...ANA, session: "other" }, makeTurns(5, 6));
    await sessions.end(TALK);
    expect(await readLast(sessions)).toEqual([]);
    expect((await sessions.active(ANA)).map(({ session }) => session)).toEqual(["other"]);
    expect(await sessions.erase(ANA, "everything")).toBe(1);
  },

  "keep projects, users and sessions apart, whatever their names": async ({ sessions }) => {
    const names: [string, string, string][] = [
      ["p", "ana", "talk"],
      ["p", "ana", "talk:1"],
      ["p", "ana:talk", "1"],
      ["p:ana", "talk", "1"],
      ["q", "ana", "talk"],
      ["p", "*", "*"],
      ["p", "{ana}", "[talk]"],
    ];
    for (const [i, [project, user, session]] of names.entries()) {
      await sessions.append({ project, user, session }, [makeTurn(`m${i}`, { content: `words ${i}` })]);
    }
    for (const [i, [project, user, session]] of names.entries()) {
      const found = await sessions.recent({ project, user, session }, { limit: 10 });
      expect(found.map(({ content }) => content)).toEqual([`words ${i}`]);
    }
  },

  "erase everything of a user, and nothing of another": async ({ sessions }) => {
    await sessions.append(TALK, makeTurns(0, 3));
    await sessions.append({ ...ANA, session: "other" }, makeTurns(3, 5));
    await sessions.append({ project: "p", user: "ben", session: "talk" }, makeTurns(0, 1));
    await sessions.append({ project: "q", user: "ana", session: "talk" }, makeTurns(0, 1));
    expect(await sessions.erase(ANA, "everything")).toBe(5);
    expect(await sessions.active(ANA)).toEqual([]);
    expect(await readLast(sessions)).toEqual([]);
    expect(await sessions.erase(ANA, "everything")).toBe(0);
    expect(await sessions.active({ project: "p", user: "ben" })).toHaveLength(1);
    expect(await sessions.active({ project: "q", user: "ana" })).toHaveLength(1);
  },

  "erase some messages in all sessions": async ({ sessions }) => {
    await sessions.append(TALK, makeTurns(0, 3));
    await sessions.append({ ...ANA, session: "other" }, makeTurns(3, 5));
    await sessions.append({ ...ANA, session: "third" }, makeTurns(7, 8));
    expect(await sessions.erase(ANA, { messages: ["m1", "m4", "m7", "none"] })).toBe(3);
    expect(await readLast(sessions)).toEqual(["m0", "m2"]);
    expect(await readLast(sessions, "other")).toEqual(["m3"]);
    // Nothing of the third session is left.
    expect((await sessions.active(ANA)).map(({ session }) => session)).toEqual(["other", "talk"]);
    expect(await sessions.erase(ANA, { messages: ["m1"] })).toBe(0);
  },

  "store nothing that was written before an erasure and arrives after it": async ({ sessions }) => {
    await sessions.append(TALK, makeTurns(0, 1), { revision: 5 });
    await sessions.erase(ANA, { messages: ["m0"] }, { revision: 7 });
    await sessions.append(TALK, makeTurns(0, 2), { revision: 6 });
    expect(await readLast(sessions)).toEqual([]);
    await sessions.append({ project: "p", user: "ben", session: "talk" }, makeTurns(0, 1), { revision: 1 });
    expect(await sessions.active({ project: "p", user: "ben" })).toHaveLength(1);
    await sessions.append(TALK, makeTurns(2, 3), { revision: 7 });
    expect(await readLast(sessions)).toEqual(["m2"]);
    // A late erasure with an older revision removes no bar.
    await sessions.erase(ANA, "everything", { revision: 3 });
    await sessions.append(TALK, makeTurns(3, 4), { revision: 6 });
    expect(await readLast(sessions)).toEqual([]);
  },

  "are cleaned up after they expire": async ({ sessions, pass }) => {
    await sessions.append(TALK, makeTurns(0, 1));
    await sessions.append({ project: "q", user: "ben", session: "talk" }, makeTurns(0, 1));
    pass(SESSION_TTL_MS / 2);
    await sessions.append({ ...ANA, session: "later" }, makeTurns(1, 2));
    expect(await sessions.cleanUp()).toBe(0);
    pass(SESSION_TTL_MS / 2);
    expect(await sessions.cleanUp()).toBe(2);
    expect(await sessions.cleanUp()).toBe(0);
    expect(await readLast(sessions, "later")).toEqual(["m1"]);
  },

  "keep every message of many simultaneous ones": async ({ sessions }) => {
    await Promise.all(makeTurns(0, 60).map((one) => sessions.append(TALK, [one])));
    expect((await readLast(sessions)).sort()).toEqual(listIds(makeTurns(0, 60)).sort());
    expect((await sessions.active(ANA))[0]?.messages).toBe(60);
  },

  "return data that the caller may keep": async ({ sessions }) => {
    const said = [{ ...makeTurn("m0") }];
    await sessions.append(TALK, said);
    Object.assign(said[0] ?? {}, { content: "changed" });
    const [found] = await sessions.recent(TALK, { limit: 1 });
    Object.assign(found ?? {}, { content: "changed, too" });
    expect((await sessions.recent(TALK, { limit: 1 }))[0]?.content).toBe("words of m0");
  },

  "keep the state of a session, and change single fields of it": async ({ sessions, pass }) => {
    expect(await sessions.states.read(TALK)).toBeUndefined();
    expect(await sessions.states.change(TALK, { topic: "Ferries" }, { mode: "update" })).toBeUndefined();
    const state = { topic: 'Łódź "trip" 😀', context: { step: 2, list: [], none: {}, deep: [{ a: null }] } };
    const at = new Date(NOON).toISOString();
    const started = { state, startedAt: at, lastAt: at };
    expect(await sessions.states.change(TALK, state, { mode: "create" })).toEqual(started);
    expect(await sessions.states.change(TALK, { topic: "Other" }, { mode: "create" })).toBeUndefined();
    expect(await sessions.states.read(TALK)).toEqual(started);
    pass(60_000);
    const changes = { topic: null, preferences: { tone: "short" } };
    const lastAt = new Date(NOON + 60_000).toISOString();
    const changed = { context: state.context, preferences: { tone: "short" } };
    expect(await sessions.states.change(TALK, changes, { mode: "update" })).toEqual({
      state: changed,
      startedAt: at,
      lastAt,
    });
    expect(await sessions.states.list(ANA)).toEqual([
      { session: "talk", state: changed, startedAt: at, lastAt },
    ]);
    expect(await sessions.active(ANA)).toEqual([]);
  },

  "keep a state for a day after its last change or message": async ({ sessions, pass }) => {
    await sessions.states.change(TALK, { topic: "a" }, { mode: "create" });
    await sessions.states.change({ ...ANA, session: "quiet" }, {}, { mode: "create" });
    pass(SESSION_TTL_MS / 2);
    await sessions.append(TALK, makeTurns(0, 1));
    expect((await sessions.states.read({ ...ANA, session: "quiet" }))?.state).toEqual({});
    pass(SESSION_TTL_MS / 2);
    expect(await sessions.states.read({ ...ANA, session: "quiet" })).toBeUndefined();
    expect((await sessions.states.read(TALK))?.state).toEqual({ topic: "a" });
    expect(await sessions.cleanUp()).toBe(1);
    pass(SESSION_TTL_MS / 2);
    expect(await sessions.states.list(ANA)).toEqual([]);
    // A new state begins without the fields of the old one.
    const again = await sessions.states.change(TALK, { preferences: { b: 1 } }, { mode: "create" });
    expect(again?.state).toEqual({ preferences: { b: 1 } });
  },

  "delete states with their session, their user, and with each erasure": async ({ sessions }) => {
    const start = (session: string, user = "ana") =>
      sessions.states.change({ project: "p", user, session }, { topic: "a" }, { mode: "create" });
    await start("talk");
    await start("other");
    await start("talk", "ben");
    await sessions.end(TALK);
    expect((await sessions.states.list(ANA)).map(({ session }) => session)).toEqual(["other"]);
    expect(await sessions.erase(ANA, { messages: ["none"] })).toBe(1);
    expect(await sessions.states.list(ANA)).toEqual([]);
    await start("third");
    await sessions.append(TALK, makeTurns(0, 2));
    expect(await sessions.erase(ANA, "everything")).toBe(3);
    expect(await sessions.erase(ANA, "everything")).toBe(0);
    expect(await sessions.states.list({ project: "p", user: "ben" })).toHaveLength(1);
  },

  "refuse a state that was written before an erasure and arrives after it": async ({ sessions }) => {
    await sessions.erase(ANA, "everything", { revision: 7 });
    const late = sessions.states.change(TALK, { topic: "a" }, { mode: "create", revision: 6 });
    await expect(late).rejects.toMatchObject({ code: "conflict" });
    expect(await sessions.states.read(TALK)).toBeUndefined();
    expect(await sessions.states.change(TALK, { topic: "a" }, { mode: "create", revision: 7 })).toBeDefined();
  },

  "lose no field of simultaneous changes": async ({ sessions }) => {
    await sessions.states.change(TALK, {}, { mode: "create" });
    await Promise.all([
      sessions.states.change(TALK, { topic: "a" }, { mode: "update" }),
      sessions.states.change(TALK, { context: { b: 1 } }, { mode: "update" }),
      sessions.states.change(TALK, { preferences: { c: 1 } }, { mode: "update" }),
    ]);
    expect((await sessions.states.read(TALK))?.state).toEqual({
      topic: "a",
      context: { b: 1 },
      preferences: { c: 1 },
    });
  },

  "keep the states of projects, users and sessions apart, whatever their names": async ({ sessions }) => {
    const names: [string, string, string][] = [
      ["p", "ana", "talk"],
      ["p", "ana", "talk:topic"],
      ["p", "ana:talk", "1"],
      ["p:ana", "talk", "1"],
      ["q", "ana", "talk"],
    ];
    for (const [i, [project, user, session]] of names.entries())
      await sessions.states.change({ project, user, session }, { topic: `topic ${i}` }, { mode: "create" });
    for (const [i, [project, user, session]] of names.entries())
      expect((await sessions.states.read({ project, user, session }))?.state.topic).toBe(`topic ${i}`);
  },

  "count the active sessions of all users": async ({ sessions, pass }) => {
    expect(await sessions.countActive()).toBe(0);
    await sessions.append(TALK, makeTurns(0, 2));
    await sessions.append({ ...TALK, session: "other" }, makeTurns(2, 3));
    pass(SESSION_TTL_MS / 2);
    await sessions.append({ project: "q", user: "bob", session: "talk" }, makeTurns(0, 1));
    expect(await sessions.countActive()).toBe(3);
    await sessions.end({ ...TALK, session: "other" });
    expect(await sessions.countActive()).toBe(2);
    pass(SESSION_TTL_MS / 2);
    expect(await sessions.countActive()).toBe(1);
    pass(SESSION_TTL_MS / 2);
    expect(await sessions.countActive()).toBe(0);
  },

  "report their size": async ({ sessions }) => {
    await sessions.append(TALK, [makeTurn("m0", { content: "x".repeat(10_000) })]);
    const { bytes, most } = await sessions.room();
    expect(bytes).toBeGreaterThanOrEqual(10_000);
    if (most !== undefined) expect(most).toBeGreaterThan(0);
  },

  "reject with the reason of an aborted signal": async ({ sessions }) => {
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    await expect(sessions.append(TALK, makeTurns(0, 1), { signal })).rejects.toBe(reason);
    await expect(sessions.recent(TALK, { limit: 1, signal })).rejects.toBe(reason);
    await expect(sessions.active(ANA, { signal })).rejects.toBe(reason);
    await expect(sessions.erase(ANA, "everything", { signal })).rejects.toBe(reason);
    expect(await readLast(sessions)).toEqual([]);
  },
};
