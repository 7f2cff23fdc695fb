import fc from "fast-check";
import type { ChangeSet } from "../../domain/change-set.ts";
import type { Message } from "../../domain/message.ts";
import type { Delta } from "../../ports/memory-store.ts";
import {
  BASE_TIME,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeTrace,
  makeUnit,
  SAMPLE_IDS,
} from "./change-sets.ts";

/** One step of a random history: a change-set with the right base, or off by `stale`. */
export interface HistoryStep {
  readonly user: string;
  readonly stale: number;
  /** Whether the change-set is adapted to the existing data, so that only its base may be wrong. */
  readonly isFitted: boolean;
  /** Whether the store is closed and reopened first, if it supports that. */
  readonly reopens: boolean;
  readonly changes: Omit<ChangeSet, "base" | "at" | "cause">;
}

const id = fc.constantFrom(...SAMPLE_IDS);
const text = fc.string({ unit: "grapheme", maxLength: 12 });
const some = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> => fc.array(value, { maxLength: 3 });
/** In a third of the steps, because an erasure removes most of so small a history. */
const seldom = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
const version = fc.integer({ min: 1, max: 3 });
const link = fc.record({
  from: id,
  type: fc.constantFrom("extends" as const, "depends_on" as const),
  to: id,
  strength: fc.constantFrom(0, 0.5, 1),
});

/**
 * Random steps over few ids, so that they collide: most valid, some stale, some with duplicate ids or wrong
 * versions.
 */
export const historySteps: fc.Arbitrary<HistoryStep[]> = fc.array(
  fc.record({
    user: fc.constantFrom("ann", "bob"),
    stale: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, -1, 1),
    isFitted: fc.constantFrom(true, true, true, true, true, false),
    reopens: fc.constantFrom(false, false, false, true),
    changes: fc.record(
      {
        messages: some(fc.tuple(id, text).map(([one, content]) => makeMessage(one, { content }))),
        digests: some(
          fc.record({ id, digest: fc.constantFrom("done" as const, "never" as const), undone: fc.boolean() }),
        ),
        memories: some(
          fc
            .tuple(id, version, text)
            .map(([one, version, words]) => makeMemory(one, version, { text: words })),
        ),
        links: some(link),
        dropLinks: some(link),
        units: some(
          fc.oneof(
            fc.tuple(id, text).map(([one, terms]) => makeUnit(one, "memory", one, terms)),
            id.map((one) => makeUnit(`${one}#0`, "passage", one)),
            id.map((one) => ({ ...makeUnit(one, "memory", one), space: "", vector: new Float32Array(0) })),
          ),
        ),
        dropUnits: some(
          fc.oneof(
            id,
            id.map((one) => `${one}#0`),
          ),
        ),
        tombstones: some(id.map((one) => ({ hash: one, of: "words" as const, at: BASE_TIME }))),
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
              fc
                .tuple(id, version)
                .map(([one, version]) => makeMemory(one, version, { text: "Written again." })),
            ),
            receipt: fc.uuid().map((one) => makeErasureReceipt(one)),
            trace: id.map((one) => makeTrace(one)),
          }),
        ),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<HistoryStep["changes"]>,
  }),
  { minLength: 4, maxLength: 16 },
);

/** Removes from a random change-set what the user's state would reject, and numbers its versions. */
export function fitChanges(drawn: HistoryStep["changes"], current: Delta): HistoryStep["changes"] {
  const messages = dropTaken(drawn.messages ?? [], new Set(current.messages.map(({ id: known }) => known)));
  const there = new Set([...current.messages, ...messages].map(({ id: known }) => known));
  const isThere = (one: { readonly id: string }): boolean => there.has(one.id);
  const newest = new Map(current.memories.map((one) => [one.id, one.version]));
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

function dropTaken(messages: readonly Message[], taken: Set<string>): Message[] {
  return messages.filter(({ id: one }) => !taken.has(one) && taken.add(one));
}
