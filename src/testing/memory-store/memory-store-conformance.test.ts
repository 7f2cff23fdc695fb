import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { ChangeSet } from "../../domain/change-set.ts";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Delta, MemoryStore } from "../../ports/memory-store.ts";
import { MEMORY_STORE_CASES } from "./memory-store-conformance.ts";

type Fault = (record: MemoryStore) => Partial<MemoryStore>;

const ANN: Scope = { project: "default", user: "ann" };

/** Faults that records in the field have had: each alone must be seen. */
const FAULTS: { readonly [what: string]: Fault } = {
  "reads the versions of everybody": (record) => ({
    versions: async ({ project }, id) => {
      const all = await Promise.all(
        (await record.users(project)).map((user) => record.versions({ project, user }, id)),
      );
      return all.flat();
    },
  }),
  "finds another user's receipt": (record) => ({
    receipt: async (scope, key) => (await record.receipt(scope, key)) ?? record.receipt(ANN, key),
  }),
  "gives units outside a space of everybody": (record) => ({
    unitsWithStaleEmbeddings: (_scope, space, limit) => record.unitsWithStaleEmbeddings(ANN, space, limit),
  }),
  "gives everybody's erasures": (record) => ({ erasures: () => record.erasures() }),
  "gives everybody's traces": (record) => ({ traces: () => record.traces() }),
  "puts project and user together with a colon": (record) => inScope(record, joined),
  "folds the case of user names": (record) =>
    inScope(record, ({ project, user }) => ({ project, user: user.toLowerCase() })),
  "forgets the project": (record) => inScope(record, ({ user }) => ({ project: "default", user })),
  "lists the users of every project": (record) => ({
    users: async () => [...(await record.users("p")), ...(await record.users("q"))],
  }),
  "accepts a stale base": (record) =>
    committing(record, async (scope, changes) => ({ ...changes, base: await record.revision(scope) })),
  "skips the removal of units": (record) =>
    committing(record, async (_scope, { dropUnits: _dropped, ...changes }) => changes),
  "skips the lifting of tombstones": (record) =>
    committing(record, async (_scope, { liftTombstones: _lifted, ...changes }) => changes),
  "skips links": (record) => committing(record, async (_scope, { links: _links, ...changes }) => changes),
  "skips the redaction of messages": (record) => erasing(record, { messages: [] }),
  "skips the erasure of memories": (record) => erasing(record, { memories: [] }),
  "skips rewrites": (record) => erasing(record, { rewrites: [] }),
  "passes over a message that is there already": (record) =>
    committing(record, async (scope, changes) => {
      const held = new Set((await record.since(scope, 0)).messages.map(({ id }) => id));
      return { ...changes, messages: changes.messages?.filter(({ id }) => !held.has(id)) ?? [] };
    }),
  "numbers versions by itself": (record) =>
    committing(record, async (scope, changes) => {
      const held = await record.versions(scope);
      const next = (id: string): number => held.filter((version) => version.id === id).length + 1;
      const memories = changes.memories?.map((memory) => ({ ...memory, version: next(memory.id) }));
      return { ...changes, memories: memories ?? [] };
    }),
  "keeps the messages of a change-set that it refuses": (record) => ({
    async commit(scope, changes) {
      try {
        return await record.commit(scope, changes);
      } catch (error) {
        const { base, at, cause, messages = [] } = changes;
        await record.commit(scope, { base, at, cause, messages }).catch(() => undefined);
        throw error;
      }
    },
  }),
  "says nothing of what is gone": (record) =>
    reading(record, (delta) => ({ ...delta, gone: { units: [], memories: [] } })),
  "gives everything that ever changed": (record) => ({ since: (scope) => record.since(scope, 0) }),
  "gives messages by id": (record) =>
    reading(record, (delta) => ({
      ...delta,
      messages: [...delta.messages].sort((one, other) => (one.id < other.id ? -1 : 1)),
    })),
  "counts turns from 0": (record) =>
    reading(record, (delta) => ({
      ...delta,
      messages: delta.messages.map((message) => ({ ...message, turn: message.turn - 1 })),
    })),
  "rounds vectors to halves": (record) =>
    reading(record, (delta) => ({
      ...delta,
      units: delta.units.map((unit) => ({ ...unit, vector: unit.vector.map((part) => Math.round(part)) })),
    })),
  "hands out what it keeps": (record) => {
    const given = new Map<string, Promise<Delta>>();
    return {
      since(scope, revision) {
        const key = JSON.stringify([scope, revision]);
        const held = given.get(key) ?? record.since(scope, revision);
        given.set(key, held);
        return held;
      },
    };
  },
  "finds units outside a space by their first vector alone": (record) => ({
    unitsWithStaleEmbeddings: async (scope, space, limit) => ({
      ...(await record.unitsWithStaleEmbeddings(scope, space, limit)),
      ...(space === "test/3" ? { units: [] } : {}),
    }),
    usersWithStaleEmbeddings: async (space, limit) =>
      (await record.usersWithStaleEmbeddings(space, limit)).slice(0, 1),
  }),
  "gives the log oldest first": (record) => ({
    log: async (scope, options) => (await record.log(scope, options)).reverse(),
  }),
  "forgets what a log entry erased": (record) => ({
    log: async (scope, options) =>
      (await record.log(scope, options)).map((entry) => ({ ...entry, erased: [] })),
  }),
  "gives erasures by id": (record) => ({
    erasures: async (scope) =>
      (await record.erasures(scope)).sort((one, other) => (one.id < other.id ? -1 : 1)),
  }),
  "gives traces by id": (record) => ({
    traces: async (scope) =>
      (await record.traces(scope)).sort((one, other) => (one.receipt < other.receipt ? -1 : 1)),
  }),
  "marks every erasure as verified": (record) => ({
    erasureSummaries: async () =>
      (await record.erasureSummaries()).map((mark) => ({ ...mark, isVerified: true })),
  }),
  "keeps no trace": (record) =>
    committing(record, async (_scope, changes) => {
      if (!changes.erase) return changes;
      const { trace: _trace, ...erase } = changes.erase;
      return { ...changes, erase };
    }),
  "counts what hangs on memories of somebody else": (record) => ({
    countDependents: (_scope, memories) => record.countDependents(ANN, memories),
  }),
  "counts a receipt for each memory it names": (record) => ({
    countDependents: async (scope, memories) => {
      const each = await Promise.all(memories.map((one) => record.countDependents(scope, [one])));
      const sum = each.reduce((all, { answers }) => all + answers, 0);
      return { ...(await record.countDependents(scope, memories)), answers: sum };
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
  "forgets the copies that were made": () => ({ saveBackupNote: async () => undefined }),
  "notes a copy twice": (record) => {
    const noted: Awaited<ReturnType<MemoryStore["backups"]>> = [];
    return {
      saveBackupNote: async (note) => {
        noted.push(note);
        await record.saveBackupNote(note);
      },
      backups: async () => noted,
    };
  },
  "does not seal": () => ({ seal: async () => undefined }),
  "replaces a complete receipt": (record) => {
    const last = new Map<string, ErasureReceipt>();
    return {
      async seal(scope, receipt) {
        await record.seal(scope, receipt);
        last.set(receipt.id, receipt);
      },
      erasures: async (scope) => (await record.erasures(scope)).map((one) => last.get(one.id) ?? one),
    };
  },
  "finds nothing, wherever it looks": (record) => ({
    scrub: async (scope, texts) =>
      (await record.scrub(scope, texts)).map((place) => ({ ...place, found: 0 })),
  }),
  "gives a lease to everybody": () => ({ takeLease: async () => ({ token: "one" }) }),
  "lets no lease run out": (record) => ({
    takeLease: (name, options) => record.takeLease(name, { ...options, forMs: 60_000 }),
  }),
  "lets no lease rest": (record) => ({ releaseLease: (name, token) => record.releaseLease(name, token) }),
  "forgets what broke off": () => ({ failedProgress: async () => [] }),
  "answers after it was closed": () => ({ close: async () => undefined }),
};

describe("the conformance suite of records", () => {
  it("finds nothing wrong with the reference record", async () => {
    expect(await failing(createInMemoryStore)).toEqual([]);
  });

  it.each(Object.keys(FAULTS))("sees a record that %s", async (what) => {
    const faulty = (): MemoryStore => {
      const record = createInMemoryStore();
      return { ...record, ...FAULTS[what]?.(record) };
    };
    expect(await failing(faulty)).not.toEqual([]);
  });
});

/** The titles of the cases that a record fails. */
async function failing(open: () => MemoryStore): Promise<string[]> {
  // At once, for some wait until something has run out.
  const failed = Object.entries(MEMORY_STORE_CASES).map(async ([title, run]) => {
    const has = await run(open()).then(
      () => false,
      () => true,
    );
    return has ? [title] : [];
  });
  return (await Promise.all(failed)).flat();
}

function committing(
  record: MemoryStore,
  change: (scope: Scope, changes: ChangeSet) => Promise<ChangeSet>,
): Partial<MemoryStore> {
  return { commit: async (scope, changes) => record.commit(scope, await change(scope, changes)) };
}

function erasing(record: MemoryStore, part: Partial<NonNullable<ChangeSet["erase"]>>): Partial<MemoryStore> {
  return committing(record, async (_scope, changes) =>
    changes.erase ? { ...changes, erase: { ...changes.erase, ...part } } : changes,
  );
}

function reading(record: MemoryStore, change: (delta: Delta) => Delta): Partial<MemoryStore> {
  return { since: async (scope, revision) => change(await record.since(scope, revision)) };
}

function joined({ project, user }: Scope): Scope {
  return { project: "", user: `${project}:${user}` };
}

/** The record, with each scope taken for another. */
function inScope(record: MemoryStore, other: (scope: Scope) => Scope): Partial<MemoryStore> {
  return {
    revision: (scope) => record.revision(other(scope)),
    commit: (scope, changes) => record.commit(other(scope), changes),
    since: (scope, revision) => record.since(other(scope), revision),
    versions: (scope, id) => record.versions(other(scope), id),
    log: (scope, options) => record.log(other(scope), options),
    receipt: (scope, key) => record.receipt(other(scope), key),
    erasures: (scope) => record.erasures(scope && other(scope)),
  };
}
