import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let memory: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  memory = await createMemory({ path: ":memory:", clock: () => new Date("2026-03-09T12:00:00Z") });
  ana = memory.scope({ user: "ana" });
  const say = (session: string, content: string, at: string) =>
    ana.remember([{ role: "user", content, at }], { session });
  await say("trip", "I went to Faro.", "2026-03-01T10:00:00Z");
  await say("work", "I like my desk.", "2026-03-02T10:00:00+02:00");
  await say("trip", "The sea was cold.", "2026-03-03T10:00:00Z");
  await ana.remember("No session has this.");
});
afterEach(() => memory.close());

describe("sessions", () => {
  it("are listed most recently used first, in pages", async () => {
    const first = await ana.sessions({ limit: 1 });
    expect(first).toMatchObject({
      total: 2,
      items: [{ id: "trip", messages: 2, from: "2026-03-01T10:00:00.000Z", to: "2026-03-03T10:00:00.000Z" }],
    });
    const { items, cursor } = await ana.sessions({ limit: 1, cursor: first.cursor ?? "" });
    expect([items.map(({ id }) => id), cursor]).toEqual([["work"], undefined]);
  });

  it("give their messages in order, in pages", async () => {
    const first = await ana.session("trip", { limit: 1 });
    expect(first).toMatchObject({
      id: "trip",
      total: 2,
      items: [{ role: "user", content: "I went to Faro." }],
    });
    const second = await ana.session("trip", { limit: 1, cursor: first.cursor ?? "" });
    expect(second.items.map(({ content }) => content)).toEqual(["The sea was cold."]);
    expect(second.cursor).toBeUndefined();
    expect((await ana.session("work")).items[0]?.at).toBe("2026-03-02T10:00:00.000+02:00");
  });

  it("give their newest messages first if asked to, in pages that go back", async () => {
    await ana.remember([{ role: "user", content: "We came home.", at: "2026-03-04T10:00:00Z" }], {
      session: "trip",
    });
    const first = await ana.session("trip", { sort: "newest", limit: 2 });
    expect(first.items.map(({ content }) => content)).toEqual(["We came home.", "The sea was cold."]);
    expect(first.total).toBe(3);
    const second = await ana.session("trip", { sort: "newest", limit: 2, cursor: first.cursor ?? "" });
    expect(second.items.map(({ content }) => content)).toEqual(["I went to Faro."]);
    expect(second.cursor).toBeUndefined();
  });

  it("begin with a message that is named, in either order, or are not found without it", async () => {
    await ana.remember([{ role: "user", content: "We came home.", at: "2026-03-04T10:00:00Z" }], {
      session: "trip",
    });
    const { items } = await ana.session("trip");
    const startAt = items[1]?.id ?? "";
    const said = async (sort: "oldest" | "newest") =>
      (await ana.session("trip", { sort, startAt })).items.map(({ content }) => content);
    expect(await said("oldest")).toEqual(["The sea was cold.", "We came home."]);
    expect(await said("newest")).toEqual(["The sea was cold.", "I went to Faro."]);
    await expect(ana.session("work", { startAt })).rejects.toMatchObject({ code: "not_found" });
    await expect(ana.session("trip", { startAt, cursor: "1" })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });

  it("are not found when they do not exist or belong to another user", async () => {
    await expect(ana.session("nothing")).rejects.toMatchObject({ code: "not_found" });
    const eva = memory.scope({ user: "eva" });
    await expect(eva.session("trip")).rejects.toMatchObject({ code: "not_found" });
    expect(await eva.sessions()).toEqual({ items: [], total: 0 });
  });

  it("omit undone and erased messages", async () => {
    await ana.forget({ session: "trip" });
    await expect(ana.session("trip")).rejects.toMatchObject({ code: "not_found" });
    expect((await ana.sessions()).items.map(({ id }) => id)).toEqual(["work"]);
    await ana.undo(2);
    expect((await ana.sessions()).items).toEqual([]);
  });

  it("omit nothing else from a search by the end of ids", async () => {
    const add = (id: string, user = "ana") =>
      memory
        .scope({ user })
        .remember([{ id, role: "assistant", content: `I am ${id}.` }], { session: "trip" });
    for (const id of ["a.1.x", "b.x", "x", "a.x.1", "ax", "x.y"]) await add(id);
    await add("c.x", "eva");
    const find = async (...endings: string[]): Promise<string[]> =>
      (await ana.findMessages(endings)).map(({ id }) => id);
    expect(await find("x", "nothing")).toEqual(["a.1.x", "b.x", "x"]);
    expect(await find("y", "1", "x.y")).toEqual(["a.x.1", "x.y"]);
    expect(await find()).toEqual([]);
    const [found] = await ana.findMessages(["x"]);
    expect(found).toEqual(await ana.message("a.1.x"));
    await ana.forget({ ids: ["b.x"] });
    expect(await find("x")).toEqual(["a.1.x", "x"]);
    const many = Array.from({ length: 1001 }, (_, i) => `m${i}`);
    await expect(ana.findMessages(many)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(ana.findMessages([""])).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("accept only cursors that a listing returned", async () => {
    await expect(ana.sessions({ cursor: "x" })).rejects.toMatchObject({ code: "invalid_input" });
    await expect(ana.session("trip", { cursor: "x" })).rejects.toMatchObject({ code: "invalid_input" });
  });
});
