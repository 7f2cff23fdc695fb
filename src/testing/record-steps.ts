import fc from "fast-check";
import type { ChangeSet } from "../domain/change-set.ts";
import type { Message } from "../domain/message.ts";
import type { Delta } from "../ports/record.ts";
import { AT, erasure, IDS, memory, message, trace, unit } from "./change-sets.ts";

/** One step of a random history: a change-set whose base is right, or off by `stale`. */
export interface Step {
  readonly user: string;
  readonly stale: number;
  /** Whether the change-set is fitted to what is there, so that it is valid but for its base. */
  readonly isFitted: boolean;
  /** Whether the record is closed and opened again first, where it can be. */
  readonly reopens: boolean;
  readonly changes: Omit<ChangeSet, "base" | "at" | "cause">;
}

const id = fc.constantFrom(...IDS);
const text = fc.string({ unit: "grapheme", maxLength: 12 });
const some = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> => fc.array(value, { maxLength: 3 });
/** In a third of the steps: an erasure takes most of what so small a history holds. */
const seldom = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
const version = fc.integer({ min: 1, max: 3 });

/** Random steps over few ids, so that they meet: most valid, some stale, some with doubled ids or wrong versions. */
export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    user: fc.constantFrom("ann", "bob"),
    stale: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, -1, 1),
    isFitted: fc.constantFrom(true, true, true, true, true, false),
    reopens: fc.constantFrom(false, false, false, true),
    changes: fc.record(
      {
        messages: some(fc.tuple(id, text).map(([one, content]) => message(one, { content }))),
        digests: some(
          fc.record({ id, digest: fc.constantFrom("done" as const, "never" as const), undone: fc.boolean() }),
        ),
        memories: some(
          fc.tuple(id, version, text).map(([one, version, words]) => memory(one, version, { text: words })),
        ),
        links: some(
          fc.tuple(id, id).map(([from, to]) => ({ from, type: "extends" as const, to, strength: 0.5 })),
        ),
        units: some(
          fc.oneof(
            fc.tuple(id, text).map(([one, terms]) => unit(one, "memory", one, terms)),
            id.map((one) => unit(`${one}#0`, "passage", one)),
            id.map((one) => ({ ...unit(one, "memory", one), space: "", vector: new Float32Array(0) })),
          ),
        ),
        dropUnits: some(
          fc.oneof(
            id,
            id.map((one) => `${one}#0`),
          ),
        ),
        tombstones: some(id.map((one) => ({ hash: one, of: "words" as const, at: AT }))),
        liftTombstones: some(id),
        receipt: id.map((key) => ({ key, body: "b", messages: [], memories: [], pending: 0 })),
        erase: seldom(
          fc.record({
            messages: some(
              fc
                .tuple(id, text, fc.boolean())
                .map(([one, content, keepMetadata]) => ({ id: one, content, keepMetadata })),
            ),
            memories: some(id),
            rewrites: some(
              fc.tuple(id, version).map(([one, version]) => memory(one, version, { text: "Written again." })),
            ),
            receipt: fc.uuid().map((one) => erasure(one)),
            trace: id.map((one) => trace(one)),
          }),
        ),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<Step["changes"]>,
  }),
  { minLength: 4, maxLength: 16 },
);

/** Leaves out of a drawn change-set what the user's state would refuse, and numbers its versions. */
export function fitted(drawn: Step["changes"], held: Delta): Step["changes"] {
  const messages = distinct(drawn.messages ?? [], new Set(held.messages.map(({ id: known }) => known)));
  const there = new Set([...held.messages, ...messages].map(({ id: known }) => known));
  const isThere = (one: { readonly id: string }): boolean => there.has(one.id);
  const newest = new Map(held.memories.map((one) => [one.id, one.version]));
  const memories = (drawn.memories ?? []).map((one) => {
    const next = (newest.get(one.id) ?? 0) + 1;
    newest.set(one.id, next);
    return { ...one, version: next };
  });
  return {
    ...drawn,
    messages,
    memories,
    digests: (drawn.digests ?? []).filter(isThere),
    links: (drawn.links ?? []).filter(({ from, to }) => newest.has(from) && newest.has(to)),
    ...(drawn.erase ? { erase: { ...drawn.erase, messages: drawn.erase.messages.filter(isThere) } } : {}),
  };
}

function distinct(messages: readonly Message[], taken: Set<string>): Message[] {
  return messages.filter(({ id: one }) => !taken.has(one) && taken.add(one));
}
