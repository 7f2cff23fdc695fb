import fc from "fast-check";
import type { ChangeSet, Unit } from "../domain/change-set.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { ErasureReceipt } from "../domain/receipt.ts";

/** Values for tests of records: whole, valid, and told apart by their ids. */

export const AT = "2026-01-01T00:00:00.000Z";

export function message(id: string, fields: Partial<Message> = {}): Message {
  return {
    id,
    turn: 0,
    role: "user",
    content: `Words of ${id}.`,
    origin: "user_message",
    at: AT,
    storedAt: AT,
    digest: "done",
    ...fields,
  };
}

export function memory(id: string, version = 1, fields: Partial<Memory> = {}): Memory {
  return {
    id,
    version,
    text: `Memory ${id}, version ${version}.`,
    kind: "fact",
    status: "current",
    confidence: 0.9,
    importance: 0.5,
    evidence: 1,
    origin: "user_message",
    at: AT,
    sources: [],
    revision: 0,
    storedAt: AT,
    action: version === 1 ? "added" : "updated",
    ...fields,
  };
}

export function unit(id: string, type: Unit["type"], owner: string, terms = `terms of ${id}`): Unit {
  const vector = Float32Array.from([0.5, -0.25, id.length / 64]);
  return { id, type, owner, start: 0, end: 5, terms, space: "test/3", vector };
}

export function erasure(id: string, fields: Partial<ErasureReceipt> = {}): ErasureReceipt {
  const erased = {
    memories: 0,
    versions: 0,
    messages: 0,
    emptied: 0,
    passages: 0,
    vectors: 0,
    tombstones: 0,
  };
  return {
    id,
    at: AT,
    project: "default",
    user: "ann",
    revision: 1,
    erased,
    ids: [],
    verified: [],
    complete: false,
    previous: "",
    hash: "h",
    signature: "s",
    ...fields,
  };
}

/** A change-set with everything filled in but its revision. */
export function changes(fields: Partial<ChangeSet> = {}): ChangeSet {
  return { base: 0, at: AT, cause: "remember", ...fields };
}

/** One step of a random history: a change-set whose base is right, or off by `stale`. */
export interface Step {
  readonly user: string;
  readonly stale: number;
  readonly changes: Omit<ChangeSet, "base" | "at" | "cause">;
}

const id = fc.constantFrom("a", "b", "c", "ä", "x".repeat(60));
const text = fc.string({ unit: "grapheme", maxLength: 12 });
const some = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> => fc.array(value, { maxLength: 3 });

/** Random steps over few ids, so that they meet: valid ones, stale ones, doubled ids, wrong versions. */
export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    user: fc.constantFrom("ann", "bob"),
    stale: fc.constantFrom(0, 0, 0, 0, -1, 1),
    changes: fc.record(
      {
        messages: some(fc.tuple(id, text).map(([one, content]) => message(one, { content }))),
        digests: some(
          fc.record({ id, digest: fc.constantFrom("done" as const, "never" as const), undone: fc.boolean() }),
        ),
        memories: some(
          fc
            .tuple(id, fc.integer({ min: 1, max: 3 }), text)
            .map(([one, version, words]) => memory(one, version, { text: words })),
        ),
        links: some(
          fc.tuple(id, id).map(([from, to]) => ({ from, type: "extends" as const, to, strength: 0.5 })),
        ),
        units: some(
          fc.oneof(
            fc.tuple(id, text).map(([one, terms]) => unit(one, "memory", one, terms)),
            id.map((one) => unit(`${one}#0`, "passage", one)),
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
        erase: fc.record({
          messages: some(
            fc
              .tuple(id, text, fc.boolean())
              .map(([one, content, keepMetadata]) => ({ id: one, content, keepMetadata })),
          ),
          memories: some(id),
          rewrites: some(
            fc
              .tuple(id, fc.integer({ min: 1, max: 3 }))
              .map(([one, version]) => memory(one, version, { text: "Written again." })),
          ),
          receipt: fc.uuid().map((one) => erasure(one)),
        }),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<Step["changes"]>,
  }),
  { maxLength: 14 },
);
