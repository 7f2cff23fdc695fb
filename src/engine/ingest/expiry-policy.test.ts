import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { parseExpiryList } from "../../domain/memories/expiry-policy.ts";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

const expiry = parseExpiryList("context=7,episodic=90,acme/context=1,acme/commitment=0") ?? {};
let memory: Keepsake;
let ann: ScopedMemory;
let now: Date;

beforeEach(async () => {
  now = new Date("2026-03-01T10:00:00Z");
  memory = await createMemory({ record: createInMemoryStore(), clock: () => now, expiry });
  ann = memory.scope({ user: "ann" });
});
afterEach(() => memory.close());

const setDay = (day: number): void => {
  now = new Date(Date.UTC(2026, 2, day, 10));
};
const texts = async (scope = ann): Promise<string[]> =>
  (await scope.list()).items.map(({ text }) => text).sort();
async function add(text: string, fields: object, scope = ann) {
  const { memories } = await scope.add({ text, ...fields });
  return scope.get(memories[0]?.id ?? "");
}

describe("a policy of expiry", () => {
  it("sets the expiry of new memories by kind and group, and leaves other kinds and a given expiry alone", async () => {
    expect((await add("The user is in a meeting.", { kind: "context" })).expiresAt).toBe(
      "2026-03-08T10:00:00.000Z",
    );
    expect((await add("The user will call Ana.", { kind: "commitment" })).expiresAt).toBe(
      "2026-05-30T10:00:00.000Z",
    );
    expect((await add("The user uses Shram.", { kind: "fact" })).expiresAt).toBeUndefined();
    const own = "2026-03-02T00:00:00.000Z";
    expect((await add("The user is on a train.", { kind: "context", expiresAt: own })).expiresAt).toBe(own);
  });

  it("of a project precedes the general one, and may turn it off", async () => {
    const acme = memory.scope({ project: "acme", user: "ann" });
    const day = await add("The user is in a meeting.", { kind: "context" }, acme);
    expect(day.expiresAt).toBe("2026-03-02T10:00:00.000Z");
    expect((await add("The user will call Ana.", { kind: "commitment" }, acme)).expiresAt).toBeUndefined();
    expect((await add("The user met Ana.", { kind: "event" }, acme)).expiresAt).toBe(
      "2026-05-30T10:00:00.000Z",
    );
  });

  it("also holds for what is extracted from messages", async () => {
    await ann.remember("I have to call the bank tomorrow.");
    const [commitment] = (await ann.list()).items;
    expect([commitment?.kind, commitment?.expiresAt]).toEqual(["commitment", "2026-05-30T10:00:00.000Z"]);
  });

  it("begins anew when a memory is said again, but not when it is reworded or restored", async () => {
    const { id } = await add("The user is in a meeting.", { kind: "context" });
    setDay(4);
    await ann.add({ text: "The user is in a meeting.", kind: "context" });
    expect((await ann.get(id)).expiresAt).toBe("2026-03-11T10:00:00.000Z");
    setDay(5);
    await ann.update(id, { text: "The user is in a long meeting." });
    expect((await ann.get(id)).expiresAt).toBe("2026-03-11T10:00:00.000Z");
    await ann.undo(await ann.revision());
    expect((await ann.get(id)).expiresAt).toBe("2026-03-11T10:00:00.000Z");
  });

  it("hides a memory while the clock is ahead, and shows it again when the clock is set right", async () => {
    await add("The user is in a meeting.", { kind: "context" });
    setDay(20);
    expect(await texts()).toEqual([]);
    setDay(2);
    expect(await texts()).toEqual(["The user is in a meeting."]);
    setDay(9);
    expect(await texts()).toEqual([]);
  });

  it("lets undo restore what the expiry job ended by a clock that was ahead", async () => {
    const { id } = await add("The user is in a meeting.", { kind: "context" });
    setDay(20);
    const { jobs } = await ann.optimize();
    setDay(2);
    await ann.undo(jobs[0]?.revisions?.[0] ?? 0);
    expect((await ann.get(id)).status).toBe("current");
  });

  it("gives a memory no time in the past when the clock ran backwards", async () => {
    await add("The user uses Shram.", {});
    setDay(-400);
    const late = await add("The user is in a meeting.", { kind: "context" });
    expect(late.expiresAt).toBe("2026-03-08T10:00:00.000Z");
  });

  it("is refused if it names no kind, or no number of days", async () => {
    const wrong = [{ days: { moods: 3 } }, { days: { fact: -1 } }, { projects: { acme: { fact: 1.5 } } }];
    for (const policy of wrong)
      await expect(
        createMemory({ record: createInMemoryStore(), expiry: policy as never }),
      ).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("the list of a setting", () => {
  it("names kinds and groups, alone or with a project", () => {
    expect(parseExpiryList("context=7, acme/team/procedural=0")).toEqual({
      days: { context: 7 },
      projects: { "acme/team": { procedural: 0 } },
    });
  });

  it.each([
    "",
    "context",
    "context=x",
    "moods=3",
    "context=7,context=8",
    "context=99999",
    "context=7;fact=3",
  ])("is refused if it is %j", (list) => {
    expect(parseExpiryList(list)).toBeUndefined();
  });
});
