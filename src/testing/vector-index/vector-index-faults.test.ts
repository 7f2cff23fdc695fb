import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createInMemoryVectorIndex } from "../../adapters/memory/index.ts";
import { isMemoryError } from "../../errors.ts";
import type { VectorIndex, VectorIndexUser } from "../../ports/vector-index.ts";
import { INDEX_ANN, makeEntry, NORTH, readIds, SPACE } from "./index-fixtures.ts";
import { VECTOR_INDEX_CASES } from "./vector-index-conformance.ts";

type Fault = (index: VectorIndex) => Partial<VectorIndex>;

/** An index that stores the entries of a user under another user. */
const changingUsers =
  (change: (user: VectorIndexUser) => VectorIndexUser): Fault =>
  (index) => ({
    put: (of, ...rest) => index.put(change(of), ...rest),
    drop: (of, ...rest) => index.drop(change(of), ...rest),
    dropUser: (of, ...rest) => index.dropUser(change(of), ...rest),
    nearest: (of, ...rest) => index.nearest(change(of), ...rest),
    held: (of, ...rest) => index.held(change(of), ...rest),
    entries: (of, ...rest) => index.entries(change(of), ...rest),
  });

/** An index that stores entries under other ids. */
const changingIds =
  (change: (id: string) => string): Fault =>
  (index) => ({
    put: (of, entries, options) =>
      index.put(
        of,
        entries.map((entry) => ({ ...entry, id: change(entry.id) })),
        options,
      ),
    drop: (of, ids, options) => index.drop(of, ids.map(change), options),
    held: async (of, ids, options) => {
      const held = new Set(await index.held(of, ids.map(change), options));
      return ids.filter((id) => held.has(change(id)));
    },
  });

/** By the case that must detect it, what is wrong with an index. */
const FAULTS: { readonly [title: string]: { readonly [what: string]: Fault } } = {
  "keeps users apart whatever their names": {
    "puts project and user together with a colon": changingUsers(({ project, user }) => ({
      project: "",
      user: `${project}:${user}`,
    })),
    "folds the case of users": changingUsers(({ project, user }) => ({
      project,
      user: user.toLowerCase(),
    })),
    "cuts long names of users": changingUsers(({ project, user }) => ({
      project,
      user: user.slice(0, 511),
    })),
    "trims names of users": changingUsers(({ project, user }) => ({ project, user: user.trim() })),
    "has one space for all users": changingUsers(() => INDEX_ANN),
  },
  "returns every id unchanged": {
    "folds the case of ids": changingIds((id) => id.toLowerCase()),
    "cuts long ids": changingIds((id) => id.slice(0, 499)),
    "reads ids as parts of an address": changingIds((id) => id.replaceAll("%41", "A")),
  },
  "stores, finds and drops more entries than fit into one request": {
    "stores the first thousand of a call": (index) => ({
      put: (of, entries, options) => index.put(of, entries.slice(0, 1000), options),
    }),
    "drops the first thousand of a call": (index) => ({
      drop: (of, ids, options) => index.drop(of, ids.slice(0, 1000), options),
    }),
    "lists the first page": (index) => ({
      async *entries(of, options) {
        for await (const page of index.entries(of, options)) {
          yield page;
          return;
        }
      },
    }),
  },
  "finds nine in ten of the exact nearest": {
    "misses every third entry": (index) => ({
      async nearest(of, vector, { limit, ...options }) {
        const hits = await index.nearest(of, vector, { ...options, limit: 2 * limit });
        return hits.filter((_hit, i) => i % 3 !== 2).slice(0, limit);
      },
    }),
  },
  "filters by metadata, or throws unsupported": {
    "ignores filters": (index) => ({
      nearest: (of, vector, { where: _where, ...options }) => index.nearest(of, vector, options),
    }),
    "filters what it has found": (index) => ({
      async nearest(of, vector, { where, ...options }) {
        const wanted = await index.nearest(of, vector, { ...options, ...(where ? { where } : {}) });
        const found = await index.nearest(of, vector, { ...options, limit: 2 });
        return found.filter(({ id }) => wanted.some((one) => one.id === id));
      },
    }),
  },
  "is empty at first": {
    "holds an entry from the beginning": (index) => ({
      async nearest(of, vector, options) {
        if (vector.length === SPACE.dimensions && (await readIds(index, of)).length === 0)
          await index.put(of, [makeEntry("sample", NORTH)]);
        return index.nearest(of, vector, options);
      },
    }),
  },
  "returns the nearest first, with the cosine as the score": {
    "returns the farthest first": (index) => ({
      nearest: async (...given) => (await index.nearest(...given)).reverse(),
    }),
    "returns a distance for a score": (index) => ({
      nearest: async (...given) =>
        (await index.nearest(...given)).map(({ id, score }) => ({ id, score: 1 - score })),
    }),
  },
  "returns at most the requested number": {
    "returns ten, whatever is requested": (index) => ({
      nearest: (of, vector, options) => index.nearest(of, vector, { ...options, limit: 10 }),
    }),
  },
  "replaces an entry with the same id": {
    "keeps the first entry of an id": (index) => ({
      async put(of, entries, options) {
        const held = new Set(
          await index.held(
            of,
            entries.map(({ id }) => id),
          ),
        );
        await index.put(
          of,
          entries.filter(({ id }) => !held.has(id)),
          options,
        );
      },
    }),
  },
  "keeps the last of two entries with the same id in one call": {
    "keeps the first of two entries in one call": (index) => ({
      put: (of, entries, options) => index.put(of, [...entries].reverse(), options),
    }),
  },
  "does nothing for empty calls": {
    "refuses a call without ids": (index) => ({
      drop: (of, ids, options) =>
        ids.length === 0 ? Promise.reject(new Error("no ids")) : index.drop(of, ids, options),
    }),
  },
  "drops the given entries and no others": {
    "drops nothing": () => ({ drop: async () => undefined }),
    "drops all entries of a user": (index) => ({
      drop: (of, _ids, options) => index.dropUser(of, options),
    }),
  },
  "drops all entries of a user and no one else's": {
    "keeps the entries of a user": () => ({ dropUser: async () => undefined }),
    "drops the entries of every user": (index) => ({ dropUser: (_of, options) => index.clear(options) }),
  },
  "stores an entry again after it was dropped": {
    "keeps a dropped id out for ever": (index) => {
      const dropped = new Set<string>();
      return {
        drop(of, ids, options) {
          for (const id of ids) dropped.add(id);
          return index.drop(of, ids, options);
        },
        put: (of, entries, options) =>
          index.put(
            of,
            entries.filter(({ id }) => !dropped.has(id)),
            options,
          ),
      };
    },
  },
  "rejects vectors of another length": {
    "fills short vectors with zeros": (index) => ({
      put: (of, entries, options) =>
        index.put(
          of,
          entries.map((entry) => {
            const vector = new Float32Array(SPACE.dimensions);
            vector.set(entry.vector.slice(0, SPACE.dimensions));
            return { ...entry, vector };
          }),
          options,
        ),
    }),
  },
  "keeps its entries when it is prepared again": {
    "starts anew whenever it is prepared": (index) => ({
      async prepare(space, options) {
        await index.clear();
        await index.prepare(space, options);
      },
    }),
  },
  "deletes entries of another space": {
    "knows a space by its dimensions alone": (index) => ({
      prepare: ({ dimensions }, options) => index.prepare({ fingerprint: "any", dimensions }, options),
    }),
  },
  "clears all entries of all users, and stores new ones": {
    "clears one user": (index) => ({ clear: (options) => index.dropUser(INDEX_ANN, options) }),
  },
  "stores entries of several users at once": {
    "loses what arrives while it stores": (index) => {
      let isBusy = false;
      return {
        async put(...given) {
          if (isBusy) return;
          isBusy = true;
          await Promise.resolve();
          await index.put(...given);
          isBusy = false;
        },
      };
    },
  },
  "keeps a copy of its input": {
    "reads its input later": (index) => {
      const given: Parameters<VectorIndex["put"]>[] = [];
      return {
        async put(of, entries, options) {
          await index.put(of, entries, options);
          given.push([of, entries]);
        },
        async nearest(...asked) {
          for (const one of given) await index.put(...one);
          return index.nearest(...asked);
        },
      };
    },
  },
  "rejects with the reason of an aborted signal": {
    "ignores an aborted signal": (index) => ({ put: (of, entries) => index.put(of, entries) }),
    "throws an error of its own for an aborted signal": (index) => ({
      held: (of, ids, options) =>
        index.held(of, ids, options).catch((error: unknown) => {
          throw isMemoryError(error) ? error : new Error("aborted");
        }),
    }),
  },
  "is unavailable after it was closed": {
    "stays open": () => ({ close: async () => undefined }),
  },
};

/** Runs a case on a new index, with a fault or without. Gives whether it passed. */
async function isPassed(title: string, fault: Fault): Promise<boolean> {
  const reference = createInMemoryVectorIndex();
  const index = { ...reference, ...fault(reference) };
  await index.prepare(SPACE);
  const run = VECTOR_INDEX_CASES[title];
  if (!run) throw new Error(`there is no case "${title}".`);
  return run(index).then(
    () => true,
    () => false,
  );
}

describe("the suite of vector indexes", () => {
  // A case asks a server again for ten seconds before it fails. This index changes at once: it is asked twice.
  beforeEach(() => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => {
      now += 6000;
      return now;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each(Object.keys(VECTOR_INDEX_CASES))("finds no fault in the reference where it %s", async (title) => {
    expect(await isPassed(title, () => ({}))).toBe(true);
  });

  it("has a fault for each case", () => {
    expect(Object.keys(FAULTS).sort()).toEqual(Object.keys(VECTOR_INDEX_CASES).sort());
  });

  const planted = Object.entries(FAULTS).flatMap(([title, faults]) =>
    Object.entries(faults).map(([what, fault]) => ({ title, what, fault })),
  );
  it.each(planted)("detects one that $what", async ({ title, fault }) => {
    expect(await isPassed(title, fault)).toBe(false);
  });
});
