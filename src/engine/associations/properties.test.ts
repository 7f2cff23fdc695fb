import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { openSqliteStore } from "../../adapters/sqlite/index.ts";
import {
  ASSOCIATION_TYPES,
  type AssociationType,
  type MemoryLink,
  toLinkKey,
} from "../../domain/change-set.ts";
import { isMemoryError } from "../../errors.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { hashEmbedder } from "../../testing/index.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";
import { copyStore } from "../transfer/copy-store.ts";

const STORES: readonly (readonly [string, number, () => Promise<MemoryStore>])[] = [
  ["memory", 150, async () => createInMemoryStore()],
  ["sqlite", 30, () => openSqliteStore({ path: ":memory:" })],
];
const COUNT = 5;

interface Step {
  readonly what: "link" | "unlink" | "forget" | "undo" | "remove";
  readonly from: number;
  readonly to: number;
  readonly type: number;
  readonly strength: number;
}

const place = fc.nat({ max: COUNT - 1 });
const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom("link", "link", "link", "link", "unlink", "undo", "undo", "forget", "remove"),
  from: place,
  to: place,
  type: fc.nat({ max: ASSOCIATION_TYPES.length - 1 }),
  strength: fc.constantFrom(0, 0.25, 0.5, 1),
});

/** What the associations must be: a state for each revision, from the words of the documentation alone. */
class Model {
  links = new Map<string, MemoryLink>();
  readonly gone = new Set<string>();
  /** What each revision changed: the association before and after. */
  readonly changes = new Map<number, [string, MemoryLink | undefined, MemoryLink | undefined][]>();

  set(revision: number, key: string, after: MemoryLink | undefined): void {
    const before = this.links.get(key);
    this.changes.set(revision, [...(this.changes.get(revision) ?? []), [key, before, after]]);
    if (after) this.links.set(key, after);
    else this.links.delete(key);
  }

  forget(id: string): void {
    this.gone.add(id);
    for (const [key, { from, to }] of this.links) if (from === id || to === id) this.links.delete(key);
  }

  /** Whether an undo of a revision is possible; if so, it happens as another one. */
  undo(undone: number, revision: number): boolean {
    const changes = (this.changes.get(undone) ?? []).filter(([, before, after]) =>
      [before, after].every((link) => !link || !(this.gone.has(link.from) || this.gone.has(link.to))),
    );
    if (changes.some(([key, , after]) => this.links.get(key)?.strength !== after?.strength)) return false;
    for (const [key, before] of changes) this.set(revision, key, before);
    return true;
  }
}

const codeOf = (error: unknown): string => (isMemoryError(error) ? error.code : String(error));

interface Taking {
  readonly memory: ScopedMemory;
  readonly model: Model;
  readonly link: MemoryLink;
  /** The user's revision before. */
  readonly before: number;
  /** Whether both ends have not been erased. */
  readonly isThere: boolean;
  /** Which of the newest revisions an undo takes. */
  readonly back: number;
}

const ACTIONS: { readonly [what in Step["what"]]: (taking: Taking) => Promise<void> } = {
  async link({ memory, model, link, before, isThere }) {
    const { from, to, type, strength } = link;
    const result = await memory.link(from, to, { type: type as AssociationType, strength }).catch(codeOf);
    const isSame = model.links.get(toLinkKey(link))?.strength === strength;
    if (from === to) expect(result).toBe("invalid_input");
    else if (!isThere) expect(result).toBe("not_found");
    else if (isSame) expect(result).toMatchObject({ revision: before });
    else model.set(before + 1, toLinkKey(link), link);
  },
  async unlink({ memory, model, link, before, isThere }) {
    const { from, to, type } = link;
    const result = await memory.unlink(from, to, { type: type as AssociationType }).catch(codeOf);
    if (from === to) expect(result).toBe("invalid_input");
    else if (!isThere || !model.links.has(toLinkKey(link))) expect(result).toBe("not_found");
    else model.set(before + 1, toLinkKey(link), undefined);
  },
  async forget({ memory, model, link: { from }, isThere }) {
    if (!isThere) return;
    await memory.forget({ ids: [from] });
    model.forget(from);
  },
  async remove({ memory, link: { from }, isThere }) {
    if (isThere) await memory.remove(from);
  },
  async undo({ memory, model, before, back }) {
    const undone = (await memory.history(undefined, { limit: 1 + back })).at(-1);
    const isOfLinks = undone?.cause === "link" || undone?.cause === "undo";
    if (!undone || !isOfLinks || undone.memories.length > 0) return;
    const result = await memory.undo(undone.revision).catch(codeOf);
    if (!model.undo(undone.revision, before + 1)) expect(result).toBe("conflict");
    else expect(result).toMatchObject({ revision: before + 1 });
  },
};

async function take(memory: ScopedMemory, model: Model, ids: readonly string[], one: Step): Promise<void> {
  const [from = "", to = ""] = [ids[one.from], ids[one.to]];
  const type = ASSOCIATION_TYPES[one.type] ?? "related_to";
  await ACTIONS[one.what]({
    memory,
    model,
    link: { from, type, to, strength: one.strength },
    before: await memory.revision(),
    isThere: !model.gone.has(from) && !model.gone.has(to),
    back: one.from,
  });
}

describe.each(STORES)(
  "on a store of %s, whatever was associated, removed, erased and undone",
  (_name, numRuns, open) => {
    it("the associations are those of the model, no id of an erased memory is shown, and a copy has the same digest", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
          const store = await open();
          const keepsake = await createMemory({ record: store, embedder: hashEmbedder(8) });
          const memory = keepsake.scope({ user: "ana" });
          const ids: string[] = [];
          for (let i = 0; i < COUNT; i += 1)
            ids.push((await memory.add({ text: `Statement number ${i}.` })).memories[0]?.id ?? "");
          const model = new Model();
          for (const one of steps) {
            await take(memory, model, ids, one);
            const { items, total } = await memory.links({ limit: 1000 });
            expect(total).toBe(model.links.size);
            expect(new Map(items.map((link) => [toLinkKey(link), link]))).toEqual(model.links);
          }
          for (const id of ids.filter((one) => !model.gone.has(one))) {
            const { items } = await memory.related(id, { depth: 5, status: "all", inferred: false });
            const shown = JSON.stringify(items.map(({ path, memory: { id: found } }) => [path, found]));
            expect([...model.gone].filter((gone) => shown.includes(gone))).toEqual([]);
          }
          expect(await keepsake.check()).toEqual([]);
          expect((await keepsake.audit()).broken).toEqual([]);
          await keepsake.close();
          const copy = await openSqliteStore({ path: ":memory:" });
          const back = createInMemoryStore();
          const there = await copyStore(store, copy);
          expect((await copyStore(copy, back)).digest).toBe(there.digest);
          expect((await back.since({ project: "default", user: "ana" }, 0)).links.length).toBe(
            model.links.size,
          );
          await store.close();
          await copy.close();
        }),
        { numRuns },
      );
    }, 180_000);
  },
);
