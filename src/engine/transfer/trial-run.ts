import { type ChangeSet, type MemoryLink, type Tombstone, toLinkKey } from "../../domain/change-set.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Delta, MemoryStore } from "../../ports/memory-store.ts";
import type { Ports } from "../ports.ts";
import { createUserStates } from "../user-state/user-state.ts";

/**
 * Ports whose writes for one user stay in memory and are discarded, so that a dry run decides as the real run would.
 * Nothing is embedded, counted, or sent anywhere.
 */
export async function createTrialPorts(ports: Ports, scope: Scope): Promise<Ports> {
  const store = createTrialStore(ports.store, await ports.store.since(scope, 0));
  const {
    meter: _meter,
    costs: _costs,
    sessions: _sessions,
    indexSync: _sync,
    usage: _usage,
    ...others
  } = ports;
  const embedder = { ...ports.embedder, local: false };
  const { phrases } = ports.vocabulary;
  const states = createUserStates(store, embedder, { phrases, bytes: () => Number.POSITIVE_INFINITY });
  return { ...others, store, embedder, states };
}

/** Additions to one user's data on top of what the store has. */
function createTrialStore(store: MemoryStore, base: Delta): MemoryStore {
  const commits: ChangeSet[] = [];
  const tombstones = new Map<string, Tombstone>(base.tombstones.map((one) => [one.hash, one]));
  const links = new Map<string, MemoryLink>(base.links.map((one) => [toLinkKey(one), one]));
  let turn = base.messages.at(-1)?.turn ?? 0;
  const revisionNow = (): number => base.revision + commits.length;
  return {
    ...store,
    searchIndexes: { ...store.searchIndexes, read: async () => undefined, save: async () => {} },
    revision: async () => revisionNow(),
    log: async () => [],
    async commit(_scope, changes) {
      const revision = revisionNow() + 1;
      const messages = (changes.messages ?? []).map((message) => {
        turn += 1;
        return { ...message, turn };
      });
      const memories = (changes.memories ?? []).map((memory) => ({ ...memory, revision }));
      for (const hash of changes.liftTombstones ?? []) tombstones.delete(hash);
      for (const link of changes.links ?? []) links.set(toLinkKey(link), link);
      commits.push({ ...changes, messages, memories });
      return revision;
    },
    async since(_scope, revision, options) {
      const isAll = revision < base.revision;
      const added = commits.slice(Math.max(0, revision - base.revision));
      const newest = new Map(added.flatMap(({ memories = [] }) => memories.map((one) => [one.id, one])));
      const known = isAll ? base.units : [];
      const units = new Map(
        [...known, ...added.flatMap((one) => one.units ?? [])].map((one) => [one.id, one]),
      );
      return {
        revision: revisionNow(),
        messages: [...(isAll ? base.messages : []), ...added.flatMap(({ messages = [] }) => messages)],
        memories: [...(isAll ? base.memories.filter(({ id }) => !newest.has(id)) : []), ...newest.values()],
        units: options?.units === false ? [] : [...units.values()],
        gone: { units: [], memories: [] },
        tombstones: [...tombstones.values()],
        links: [...links.values()],
      };
    },
  };
}
