import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { ChangeSet } from "../../domain/change-set.ts";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import type { Delta, MemoryStore, StoredSearchIndex } from "../../ports/memory-store.ts";
import type { MemoryUse } from "../../ports/stores/usage-store.ts";
import { MEMORY_STORE_CASES_BY_CAPABILITY } from "./memory-store-conformance.ts";
import type { MemoryStoreCases } from "./store-contents.ts";

type Fault = (store: MemoryStore) => Partial<MemoryStore>;

const ANN: Scope = { project: "default", user: "ann" };

/** Faults of real memory stores. The suite must detect each of them alone. */
const FAULTS: { readonly [what: string]: Fault } = {
  "reads the versions of everybody": (store) => ({
    versions: async ({ project }, id) => {
      const all = await Promise.all(
        (await store.users(project)).map((user) => store.versions({ project, user }, id)),
      );
      return all.flat();
    },
  }),
  "finds another user's receipt": (store) => ({
    receipt: async (scope, key) => (await store.receipt(scope, key)) ?? store.receipt(ANN, key),
  }),
  "gives units outside a space of everybody": (store) => ({
    staleEmbeddings: {
      ...store.staleEmbeddings,
      units: (_scope, space, limit) => store.staleEmbeddings.units(ANN, space, limit),
    },
  }),
  "gives everybody's erasures": (store) => ({
    erasures: { ...store.erasures, list: () => store.erasures.list() },
  }),
  "gives everybody's traces": (store) => ({
    erasures: { ...store.erasures, traces: () => store.erasures.traces() },
  }),
  "puts project and user together with a colon": (store) => inScope(store, joined),
  "folds the case of user names": (store) =>
    inScope(store, ({ project, user }) => ({ project, user: user.toLowerCase() })),
  "forgets the project": (store) => inScope(store, ({ user }) => ({ project: "default", user })),
  "lists the users of every project": (store) => ({
    users: async () => [...(await store.users("p")), ...(await store.users("q"))],
  }),
  "accepts a stale base": (store) =>
    committing(store, async (scope, changes) => ({ ...changes, base: await store.revision(scope) })),
  "skips the removal of units": (store) =>
    committing(store, async (_scope, { dropUnits: _dropped, ...changes }) => changes),
  "skips the lifting of tombstones": (store) =>
    committing(store, async (_scope, { liftTombstones: _lifted, ...changes }) => changes),
  "skips the removal of links": (store) =>
    committing(store, async (_scope, { dropLinks: _dropped, ...changes }) => changes),
  "skips links": (store) => committing(store, async (_scope, { links: _links, ...changes }) => changes),
  "skips the redaction of messages": (store) => erasing(store, { messages: [] }),
  "skips the erasure of memories": (store) => erasing(store, { memories: [] }),
  "skips rewrites": (store) => erasing(store, { rewrites: [] }),
  "passes over a message that is there already": (store) =>
    committing(store, async (scope, changes) => {
      const existing = new Set((await store.since(scope, 0)).messages.map(({ id }) => id));
      return { ...changes, messages: changes.messages?.filter(({ id }) => !existing.has(id)) ?? [] };
    }),
  "numbers versions by itself": (store) =>
    committing(store, async (scope, changes) => {
      const versions = await store.versions(scope);
      const next = (id: string): number => versions.filter((version) => version.id === id).length + 1;
      const memories = changes.memories?.map((memory) => ({ ...memory, version: next(memory.id) }));
      return { ...changes, memories: memories ?? [] };
    }),
  "keeps the messages of a change-set that it refuses": (store) => ({
    async commit(scope, changes) {
      try {
        return await store.commit(scope, changes);
      } catch (error) {
        const { base, at, cause, messages = [] } = changes;
        await store.commit(scope, { base, at, cause, messages }).catch(() => undefined);
        throw error;
      }
    },
  }),
  "says nothing of what is gone": (store) =>
    reading(store, (delta) => ({ ...delta, gone: { units: [], memories: [] } })),
  "gives everything that ever changed": (store) => ({ since: (scope) => store.since(scope, 0) }),
  "gives messages by id": (store) =>
    reading(store, (delta) => ({
      ...delta,
      messages: [...delta.messages].sort((one, other) => (one.id < other.id ? -1 : 1)),
    })),
  "counts turns from 0": (store) =>
    reading(store, (delta) => ({
      ...delta,
      messages: delta.messages.map((message) => ({ ...message, turn: message.turn - 1 })),
    })),
  "rounds vectors to halves": (store) =>
    reading(store, (delta) => ({
      ...delta,
      units: delta.units.map((unit) => ({ ...unit, vector: unit.vector.map((part) => Math.round(part)) })),
    })),
  "hands out what it keeps": (store) => {
    const given = new Map<string, Promise<Delta>>();
    return {
      since(scope, revision) {
        const key = JSON.stringify([scope, revision]);
        const delta = given.get(key) ?? store.since(scope, revision);
        given.set(key, delta);
        return delta;
      },
    };
  },
  "finds units outside a space by their first vector alone": (store) => ({
    staleEmbeddings: {
      ...store.staleEmbeddings,
      units: async (scope, space, limit) => ({
        ...(await store.staleEmbeddings.units(scope, space, limit)),
        ...(space === "test/3" ? { units: [] } : {}),
      }),
      users: async (space, limit) => (await store.staleEmbeddings.users(space, limit)).slice(0, 1),
    },
  }),
  "gives the log oldest first": (store) => ({
    log: async (scope, options) => (await store.log(scope, options)).reverse(),
  }),
  "forgets what a log entry erased": (store) => ({
    log: async (scope, options) =>
      (await store.log(scope, options)).map((entry) => ({ ...entry, erased: [] })),
  }),
  "gives erasures by id": (store) => ({
    erasures: {
      ...store.erasures,
      list: async (scope) =>
        (await store.erasures.list(scope)).sort((one, other) => (one.id < other.id ? -1 : 1)),
    },
  }),
  "gives traces by id": (store) => ({
    erasures: {
      ...store.erasures,
      traces: async (scope) =>
        (await store.erasures.traces(scope)).sort((one, other) => (one.receipt < other.receipt ? -1 : 1)),
    },
  }),
  "marks every erasure as verified": (store) => ({
    erasures: {
      ...store.erasures,
      summaries: async () =>
        (await store.erasures.summaries()).map((mark) => ({ ...mark, isVerified: true })),
    },
  }),
  "keeps no trace": (store) =>
    committing(store, async (_scope, changes) => {
      if (!changes.erase) return changes;
      const { trace: _trace, ...erase } = changes.erase;
      return { ...changes, erase };
    }),
  "counts what hangs on memories of somebody else": (store) => ({
    erasures: {
      ...store.erasures,
      countDependents: (_scope, memories) => store.erasures.countDependents(ANN, memories),
    },
  }),
  "counts a receipt for each memory it names": (store) => ({
    erasures: {
      ...store.erasures,
      countDependents: async (scope, memories) => {
        const each = await Promise.all(memories.map((one) => store.erasures.countDependents(scope, [one])));
        const sum = each.reduce((all, { answers }) => all + answers, 0);
        return { ...(await store.erasures.countDependents(scope, memories)), answers: sum };
      },
    },
  }),
  "is named anew each time": () => {
    let named = 0;
    return {
      async identity() {
        named += 1;
        return String(named).padStart(32, "0");
      },
    };
  },
  "forgets the copies that were made": (store) => ({
    backups: { ...store.backups, save: async () => undefined },
  }),
  "notes a copy twice": (store) => {
    const noted: Awaited<ReturnType<MemoryStore["backups"]["list"]>> = [];
    return {
      backups: {
        ...store.backups,
        save: async (note) => {
          noted.push(note);
          await store.backups.save(note);
        },
        list: async () => noted,
      },
    };
  },
  "does not seal": (store) => ({ erasures: { ...store.erasures, seal: async () => undefined } }),
  "replaces a complete receipt": (store) => {
    const last = new Map<string, ErasureReceipt>();
    return {
      erasures: {
        ...store.erasures,
        async seal(scope, receipt) {
          await store.erasures.seal(scope, receipt);
          last.set(receipt.id, receipt);
        },
        list: async (scope) => (await store.erasures.list(scope)).map((one) => last.get(one.id) ?? one),
      },
    };
  },
  "finds nothing, wherever it looks": (store) => ({
    erasures: {
      ...store.erasures,
      scrub: async (scope, texts) =>
        (await store.erasures.scrub(scope, texts)).map((place) => ({ ...place, found: 0 })),
    },
  }),
  "gives a lease to everybody": (store) => ({
    jobs: { ...store.jobs, takeLease: async () => ({ token: "one" }) },
  }),
  "lets no lease run out": (store) => ({
    jobs: {
      ...store.jobs,
      takeLease: (name, options) => store.jobs.takeLease(name, { ...options, forMs: 60_000 }),
    },
  }),
  "lets no lease rest": (store) => ({
    jobs: { ...store.jobs, releaseLease: (name, token) => store.jobs.releaseLease(name, token) },
  }),
  "forgets what broke off": (store) => ({ jobs: { ...store.jobs, failedProgress: async () => [] } }),
  "answers after it was closed": () => ({ close: async () => undefined }),
  "keeps a search index beyond an erasure": (store) => {
    const saved = new Map<string, StoredSearchIndex>();
    return {
      searchIndexes: {
        async save(scope, index) {
          if (index.revision === (await store.revision(scope))) saved.set(toScopeKey(scope), index);
          await store.searchIndexes.save(scope, index);
        },
        read: async (scope) => saved.get(toScopeKey(scope)),
      },
    };
  },
  "keeps receipts of recalls that were cleared": (store) => ({
    recallReceipts: { ...store.recallReceipts, clear: async () => undefined },
  }),
  "gives receipts of recalls oldest first": (store) => ({
    recallReceipts: {
      ...store.recallReceipts,
      list: async (scope, options) => (await store.recallReceipts.list(scope, options)).reverse(),
    },
  }),
  "keeps the answer of a request that was released": (store) => ({
    answers: { ...store.answers, releaseAnswer: async () => undefined },
  }),
  "counts rows of a dump that it does not have": (store) => {
    const { dump } = store;
    if (!dump) return {};
    return { dump: { ...dump, counts: async () => ({ ...(await dump.counts()), users: 7 }) } };
  },
  "counts uses of memories that do not exist": (store) => {
    const { usage } = store;
    const uses: MemoryUse[] = [];
    if (!usage) return {};
    return {
      usage: {
        add: async (added) => void uses.push(...added.flatMap((one) => one.uses)),
        read: async (_scope, ids) => uses.filter(({ id }) => ids?.includes(id) ?? true),
      },
    };
  },
  "says of no user that embeddings are stale": (store) => ({
    staleEmbeddings: { ...store.staleEmbeddings, users: async () => [] },
  }),
};

describe("memoryStoreConformance", () => {
  it("finds no fault in the reference store", async () => {
    const { maintenance: _lacking, ...groups } = MEMORY_STORE_CASES_BY_CAPABILITY;
    const failed = Object.values(groups).map((cases) => failing(createInMemoryStore, cases));
    expect((await Promise.all(failed)).flat()).toEqual([]);
  });

  it.each(Object.keys(FAULTS))("detects a store that %s, by the cases of its capability", async (what) => {
    const faulty = (): MemoryStore => {
      const store = createInMemoryStore();
      return { ...store, ...FAULTS[what]?.(store) };
    };
    const planted = Object.keys(FAULTS[what]?.(createInMemoryStore()) ?? {});
    const detected = await Promise.all(planted.map((property) => failing(faulty, findCases(property))));
    expect(detected.flat()).not.toEqual([]);
  });
});

/** The cases that must detect a fault in a property of a store. An erasure is part of a commit. */
function findCases(property: string): MemoryStoreCases {
  const { core, erasures, ...others } = MEMORY_STORE_CASES_BY_CAPABILITY;
  if (property === "erasures") return erasures;
  return Object.entries(others).find(([name]) => name === property)?.[1] ?? { ...core, ...erasures };
}

/** The titles of the cases that a store fails. */
async function failing(open: () => MemoryStore, cases: MemoryStoreCases): Promise<string[]> {
  // In parallel, because some cases wait for an expiry.
  const failed = Object.entries(cases).map(async ([title, run]) => {
    const has = await run(open()).then(
      () => false,
      () => true,
    );
    return has ? [title] : [];
  });
  return (await Promise.all(failed)).flat();
}

function committing(
  store: MemoryStore,
  change: (scope: Scope, changes: ChangeSet) => Promise<ChangeSet>,
): Partial<MemoryStore> {
  return { commit: async (scope, changes) => store.commit(scope, await change(scope, changes)) };
}

function erasing(store: MemoryStore, part: Partial<NonNullable<ChangeSet["erase"]>>): Partial<MemoryStore> {
  return committing(store, async (_scope, changes) =>
    changes.erase ? { ...changes, erase: { ...changes.erase, ...part } } : changes,
  );
}

function reading(store: MemoryStore, change: (delta: Delta) => Delta): Partial<MemoryStore> {
  return { since: async (scope, revision) => change(await store.since(scope, revision)) };
}

function joined({ project, user }: Scope): Scope {
  return { project: "", user: `${project}:${user}` };
}

/** The store, with each scope replaced by another. */
function inScope(store: MemoryStore, other: (scope: Scope) => Scope): Partial<MemoryStore> {
  return {
    revision: (scope) => store.revision(other(scope)),
    commit: (scope, changes) => store.commit(other(scope), changes),
    since: (scope, revision) => store.since(other(scope), revision),
    versions: (scope, id) => store.versions(other(scope), id),
    log: (scope, options) => store.log(other(scope), options),
    receipt: (scope, key) => store.receipt(other(scope), key),
    erasures: { ...store.erasures, list: (scope) => store.erasures.list(scope && other(scope)) },
  };
}
