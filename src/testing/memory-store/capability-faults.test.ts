import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import type { MemoryStore, StorageCondition, StorageMaintenance } from "../../ports/memory-store.ts";
import type { MemoryUse } from "../../ports/stores/usage-store.ts";
import { MEMORY_STORE_CASES_BY_CAPABILITY, type TestedCapability } from "./memory-store-conformance.ts";
import { ANN, requireCapability } from "./store-contents.ts";

type Fault = (store: MemoryStore) => Partial<MemoryStore>;

/** Faults of real stores, in what a store may lack. The cases of the capability must detect each of them alone. */
const FAULTS: { readonly [capability in TestedCapability]?: { readonly [what: string]: Fault } } = {
  usage: {
    "counts one use only": (store) => readingUses(store, (uses) => uses.map((use) => ({ ...use, count: 1 }))),
    "gives the time of the first use": (store) =>
      readingUses(store, (uses) => uses.map((use) => ({ ...use, lastAt: "2024-01-01T00:00:00.000Z" }))),
    "gives all uses, whatever ids are named": (store) => {
      const usage = requireCapability(store, "usage");
      return { usage: { ...usage, read: (scope) => usage.read(scope) } };
    },
    "gives the uses of another user": (store) => {
      const usage = requireCapability(store, "usage");
      return { usage: { ...usage, read: (_scope, ids) => usage.read(ANN, ids) } };
    },
    "keeps uses beyond an erasure": (store) => {
      const seen = new Map<string, Map<string, MemoryUse>>();
      return readingUses(store, (uses, scope) => {
        const kept = seen.get(toScopeKey(scope)) ?? new Map<string, MemoryUse>();
        for (const use of uses) kept.set(use.id, use);
        seen.set(toScopeKey(scope), kept);
        return [...kept.values()];
      });
    },
  },
  sharing: {
    "gives grants to everybody": (store) => {
      const sharing = requireCapability(store, "sharing");
      return { sharing: { ...sharing, read: ({ project }) => sharing.read({ project, user: "ann" }) } };
    },
    "gives grants in the order of their storage": (store) => {
      const sharing = requireCapability(store, "sharing");
      return {
        sharing: { ...sharing, read: async (scope) => (await sharing.read(scope)).toReversed() },
      };
    },
    "accepts any version": (store) => {
      const sharing = requireCapability(store, "sharing");
      return {
        sharing: {
          ...sharing,
          apply: (project, changes) => sharing.apply(project, changes).catch(() => undefined),
        },
      };
    },
    "applies a part of refused changes": (store) => {
      const sharing = requireCapability(store, "sharing");
      return {
        sharing: {
          ...sharing,
          async apply(project, { put = [], drop = [] }) {
            await sharing.apply(project, { drop });
            for (const share of put) await sharing.apply(project, { put: [share] });
          },
        },
      };
    },
    "drops nothing": (store) => {
      const sharing = requireCapability(store, "sharing");
      return { sharing: { ...sharing, apply: (project, { put = [] }) => sharing.apply(project, { put }) } };
    },
    "drops shares of every project": (store) => {
      const sharing = requireCapability(store, "sharing");
      return {
        sharing: {
          ...sharing,
          async apply(project, changes) {
            await sharing.apply(project, changes);
            for (const other of ["default", "other"])
              await sharing.apply(other, { drop: changes.drop ?? [] });
          },
        },
      };
    },
    "cuts long names": (store) => {
      const sharing = requireCapability(store, "sharing");
      const cut = (scope: Scope): Scope => ({ ...scope, user: scope.user.slice(0, 255) });
      return { sharing: { ...sharing, read: (scope) => sharing.read(cut(scope)) } };
    },
  },
  attachments: {
    "lists the attachments of another user": (store) => {
      const attachments = requireCapability(store, "attachments");
      return { attachments: { ...attachments, list: () => attachments.list(ANN) } };
    },
    "reads the attachments of another user": (store) => {
      const attachments = requireCapability(store, "attachments");
      return { attachments: { ...attachments, read: (_scope, digest) => attachments.read(ANN, digest) } };
    },
    "lists attachments out of order": (store) => {
      const attachments = requireCapability(store, "attachments");
      return {
        attachments: {
          ...attachments,
          list: async (scope) => (await attachments.list(scope)).toReversed(),
        },
      };
    },
    "cuts bytes at a megabyte": (store) => {
      const attachments = requireCapability(store, "attachments");
      return {
        attachments: {
          ...attachments,
          async read(scope, digest) {
            const found = await attachments.read(scope, digest);
            return found && { ...found, bytes: found.bytes.subarray(0, 1_000_000) };
          },
        },
      };
    },
    "keeps attachments beyond an erasure": (store) => ({
      async commit(scope, changes) {
        if (!changes.erase) return store.commit(scope, changes);
        const { attachments: _attachments, ...erase } = changes.erase;
        return store.commit(scope, { ...changes, erase });
      },
    }),
    "stores the attachments of a refused change-set": (store) => ({
      async commit(scope, changes) {
        try {
          return await store.commit(scope, changes);
        } catch (error) {
          const { at, cause, attachments = [] } = changes;
          await store.commit(scope, { at, cause, attachments, base: await store.revision(scope) });
          throw error;
        }
      },
    }),
    "does not compare bytes with their digest": (store) => checking(store, "whose bytes"),
    "does not look for attachments that messages name": (store) => checking(store, "missing"),
  },
  webhooks: {
    "lists webhooks in the order of their storage": (store) => {
      const webhooks = requireCapability(store, "webhooks");
      return {
        webhooks: { ...webhooks, list: async (project) => (await webhooks.list(project)).toReversed() },
      };
    },
    "lists the webhooks of every project": (store) => {
      const webhooks = requireCapability(store, "webhooks");
      return { webhooks: { ...webhooks, list: () => webhooks.list() } };
    },
    "accepts any version of a webhook": (store) => {
      const webhooks = requireCapability(store, "webhooks");
      return {
        webhooks: { ...webhooks, save: (webhook) => webhooks.save(webhook).catch(() => undefined) },
      };
    },
    "forgets what is known of deliveries": (store) => {
      const webhooks = requireCapability(store, "webhooks");
      return { webhooks: { ...webhooks, saveHealth: async () => undefined } };
    },
    "forgets cursors": (store) => {
      const webhooks = requireCapability(store, "webhooks");
      return { webhooks: { ...webhooks, saveCursors: async () => undefined } };
    },
    "forgets the failure of the next event": (store) => {
      const webhooks = requireCapability(store, "webhooks");
      return {
        webhooks: {
          ...webhooks,
          findChanged: async (webhook, range) =>
            (await webhooks.findChanged(webhook, range)).map(({ failure: _failure, ...one }) => one),
        },
      };
    },
    "finds changed users of every page": (store) => {
      const webhooks = requireCapability(store, "webhooks");
      const all = { after: 0, upTo: 1_000_000 };
      return {
        webhooks: { ...webhooks, findChanged: (webhook) => webhooks.findChanged(webhook, all) },
      };
    },
    "sums pages of another size": (store) => {
      const webhooks = requireCapability(store, "webhooks");
      return {
        webhooks: { ...webhooks, readPageSums: ({ from }) => webhooks.readPageSums({ from, size: 3 }) },
      };
    },
    "keeps a webhook that was removed": (store) => {
      const webhooks = requireCapability(store, "webhooks");
      return { webhooks: { ...webhooks, remove: async () => true } };
    },
  },
  embedders: {
    "ignores the project's choice": (store) => {
      const embedders = requireCapability(store, "embedders");
      return {
        embedders: {
          ...embedders,
          read: async ({ project, user }) =>
            (await embedders.list(project)).find((choice) => choice.user === user)?.embedder,
        },
      };
    },
    "prefers the project's choice": (store) => {
      const embedders = requireCapability(store, "embedders");
      return {
        embedders: {
          ...embedders,
          async read(scope) {
            const ofProject = (await embedders.list(scope.project)).find(({ user }) => user === undefined);
            return ofProject?.embedder ?? embedders.read(scope);
          },
        },
      };
    },
    "lists choices out of order": (store) => {
      const embedders = requireCapability(store, "embedders");
      return {
        embedders: {
          ...embedders,
          list: async (project) => (await embedders.list(project)).toReversed(),
        },
      };
    },
    "removes no choice": (store) => ({
      embedders: { ...requireCapability(store, "embedders"), remove: async () => undefined },
    }),
    "ignores choices where it looks for stale vectors": (store) => ({
      staleEmbeddings: {
        ...store.staleEmbeddings,
        users: (space, limit) => store.staleEmbeddings.users(space, limit),
      },
    }),
  },
  maintenance: {
    "counts every erasure as verified": (store) =>
      withMaintenance(store, async (condition) => ({ ...condition, unverified: 0 })),
    "names no setting that reduces durability": (store) =>
      withMaintenance(store, async (condition) => ({ ...condition, durability: "reduced" })),
  },
};

/** The capabilities that a store may lack: their names are those of optional properties. */
const LACKABLE: readonly TestedCapability[] = [
  "dump",
  "maintenance",
  "usage",
  "sharing",
  "attachments",
  "webhooks",
  "embedders",
];

const PLANTED = Object.entries(FAULTS).flatMap(([capability, faults]) =>
  Object.entries(faults).map(([what, fault]) => ({
    capability: capability as TestedCapability,
    what,
    fault,
  })),
);

/** The reference store, with a sound maintenance, so that no capability is lacking. */
const openSound = (): MemoryStore => {
  const store = createInMemoryStore();
  return { ...store, ...withMaintenance(store) };
};

describe("memoryStoreConformance", () => {
  it("finds no fault in a store with every capability", async () => {
    const failed = await Promise.all(LACKABLE.map((capability) => listFailing(openSound, capability)));
    expect(failed.flat()).toEqual([]);
  });

  it("has a planted fault for every capability that a store may lack, but the dump", () => {
    expect(Object.keys(FAULTS).sort()).toEqual(LACKABLE.filter((one) => one !== "dump").toSorted());
  });

  it.each(PLANTED)("detects a store whose $capability $what", async ({ capability, fault }) => {
    const faulty = (): MemoryStore => {
      const store = openSound();
      return { ...store, ...fault(store) };
    };
    expect(await listFailing(faulty, capability)).not.toEqual([]);
  });
});

/** The titles of the cases of a capability that a store fails. */
async function listFailing(open: () => MemoryStore, capability: TestedCapability): Promise<string[]> {
  const failed: string[] = [];
  for (const [title, run] of Object.entries(MEMORY_STORE_CASES_BY_CAPABILITY[capability]))
    await run(open()).catch(() => failed.push(title));
  return failed;
}

function readingUses(
  store: MemoryStore,
  change: (uses: readonly MemoryUse[], scope: Scope) => MemoryUse[],
): Partial<MemoryStore> {
  const usage = requireCapability(store, "usage");
  return {
    usage: { ...usage, read: async (scope, ids) => change(await usage.read(scope, ids), scope) },
  };
}

/** A check that leaves out the faults whose problem begins with some words. */
function checking(store: MemoryStore, words: string): Partial<MemoryStore> {
  return {
    check: async () => (await store.check()).filter(({ problem }) => !problem.startsWith(words)),
  };
}

/** A maintenance of a store in memory, whose condition may be changed. */
function withMaintenance(
  store: MemoryStore,
  change = async (condition: StorageCondition): Promise<StorageCondition> => condition,
): { readonly maintenance: StorageMaintenance } {
  return {
    maintenance: {
      remains: async () => [],
      tidy: async () => 0,
      compact: async () => ({ before: 0, after: 0 }),
      condition: async () =>
        change({
          durability: "none",
          reducedBy: [],
          format: 1,
          olderCopies: 0,
          erasing: 0,
          unverified: (await store.erasures.summaries()).filter(({ isComplete }) => !isComplete).length,
          isReadOnly: false,
        }),
    },
  };
}
