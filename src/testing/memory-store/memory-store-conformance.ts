import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { ChangeSet } from "../../domain/change-set.ts";
import type { Scope } from "../../domain/scope.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { ANSWER_CACHE_CASES } from "./answer-cache-cases.ts";
import { ATTACHMENT_CASES } from "./attachment-cases.ts";
import {
  BACKUP_NOTE_CASES,
  MAINTENANCE_CASES,
  RECALL_RECEIPT_CASES,
  SEARCH_INDEX_CASES,
  STALE_EMBEDDING_CASES,
  USAGE_CASES,
} from "./capability-cases.ts";
import { makeChangeSet, makeMemory, makeMessage, makeRecallReceipt } from "./change-sets.ts";
import { EMBEDDER_CHOICE_CASES } from "./embedder-choice-cases.ts";
import { JOB_CASES, LEASE_CASES } from "./job-store-cases.ts";
import { fitChanges, type HistoryStep, historySteps } from "./random-histories.ts";
import { READ_CASES } from "./read-cases.ts";
import { SHARING_CASES } from "./sharing-cases.ts";
import {
  ANN,
  BOB,
  type MemoryStoreCases,
  makeFullChangeSet,
  readAllRows,
  readContents,
  requireStoreDump,
} from "./store-contents.ts";
import { readEverything, STORE_DUMP_CASES, writeHistory } from "./store-dump-cases.ts";
import { changeWebhooks, readWebhooks, WEBHOOK_CASES } from "./webhook-cases.ts";
import { ERASURE_CASES, WRITE_CASES } from "./write-cases.ts";

/** What the suite needs of a memory store. */
export interface MemoryStoreHarness {
  /** Shown in the test output: "sqlite", "postgres". */
  readonly name: string;
  /** Starts what the store needs, once. */
  setup?(): Promise<void>;
  /** Opens a new, empty store. Two stores must share nothing. */
  open(): Promise<MemoryStore>;
  /** Closes a store and opens its data again. Absent if it keeps nothing. */
  reopen?(store: MemoryStore): Promise<MemoryStore>;
  /** Opens a second handle on the same store, as another process would. Absent if there can be none. */
  second?(store: MemoryStore): Promise<MemoryStore>;
  /** Stops what `setup` started. */
  teardown?(): Promise<void>;
  /**
   * The number of random histories compared with the reference store (default 100); fewer if writes are slow.
   */
  readonly randomHistories?: number;
  /** The capabilities that the store lacks. Their cases do not run. */
  readonly lacks?: readonly LackableCapability[];
  /** Case title -> reason. Each case runs and must fail; a case that passes breaks the build. */
  readonly knownGaps?: { readonly [title: string]: string };
}

/** The capabilities that a store may lack and that have cases of their own. */
export type LackableCapability =
  | "dump"
  | "maintenance"
  | "usage"
  | "sharing"
  | "attachments"
  | "webhooks"
  | "embedders";

/** The core of a store, and the capabilities that have cases of their own. */
export type TestedCapability =
  | "core"
  | "erasures"
  | "searchIndexes"
  | "recallReceipts"
  | "staleEmbeddings"
  | "backups"
  | "jobs"
  | "answers"
  | LackableCapability;

/**
 * One rule of the contract in `ports/memory-store.ts` per case: those of the core, and those of each
 * capability by the name of its property.
 */
export const MEMORY_STORE_CASES_BY_CAPABILITY: {
  readonly [capability in TestedCapability]: MemoryStoreCases;
} = {
  core: { ...WRITE_CASES, ...READ_CASES },
  erasures: ERASURE_CASES,
  searchIndexes: SEARCH_INDEX_CASES,
  recallReceipts: RECALL_RECEIPT_CASES,
  staleEmbeddings: STALE_EMBEDDING_CASES,
  backups: BACKUP_NOTE_CASES,
  jobs: { ...JOB_CASES, ...LEASE_CASES },
  answers: ANSWER_CACHE_CASES,
  usage: USAGE_CASES,
  sharing: SHARING_CASES,
  attachments: ATTACHMENT_CASES,
  webhooks: WEBHOOK_CASES,
  embedders: EMBEDDER_CHOICE_CASES,
  dump: STORE_DUMP_CASES,
  maintenance: MAINTENANCE_CASES,
};

/** All cases of all capabilities. */
export const MEMORY_STORE_CASES: MemoryStoreCases = Object.assign(
  {},
  ...Object.values(MEMORY_STORE_CASES_BY_CAPABILITY),
);

const LACKABLE: readonly LackableCapability[] = [
  "dump",
  "maintenance",
  "usage",
  "sharing",
  "attachments",
  "webhooks",
  "embedders",
];
const RANDOM_HISTORIES = 100;

/** Runs the whole contract against one adapter. Call it at the top level of a test file. */
export function memoryStoreConformance(harness: MemoryStoreHarness): void {
  const gaps = harness.knownGaps ?? {};
  const lacks = LACKABLE.filter((one) => harness.lacks?.includes(one));
  describe(`Memory store: ${harness.name}`, () => {
    let store: MemoryStore;
    beforeAll(() => harness.setup?.());
    afterAll(() => harness.teardown?.());
    beforeEach(async () => {
      store = await harness.open();
    });
    afterEach(() => store.close());

    it("names only known gaps that exist", () => {
      expect(Object.keys(gaps).filter((title) => !(title in MEMORY_STORE_CASES))).toEqual([]);
    });

    it("lacks exactly the capabilities that are named", () => {
      expect(LACKABLE.filter((capability) => store[capability] === undefined)).toEqual(lacks);
    });

    for (const [capability, cases] of Object.entries(MEMORY_STORE_CASES_BY_CAPABILITY)) {
      if (lacks.some((one) => one === capability)) continue;
      describe(capability, () => {
        for (const [title, run] of Object.entries(cases)) {
          const test = title in gaps ? it.fails : it;
          test(title in gaps ? `${title} [known gap: ${gaps[title]}]` : title, () => run(store));
        }
      });
    }

    const { reopen, second } = harness;
    if (reopen) {
      it("keeps all data after a reopening", async () => {
        await store.commit(ANN, makeFullChangeSet("0"));
        await store.commit(ANN, makeChangeSet({ base: 1, memories: [makeMemory("memory-0", 2)] }));
        const before = await readContents(store, ANN);
        store = await reopen(store);
        expect(await readContents(store, ANN)).toEqual(before);
      });
    }
    // It reads everything by a dump.
    if (reopen && !lacks.includes("dump")) {
      it("keeps what its capabilities store after a reopening", async () => {
        await writeHistory(store);
        await changeCapabilities(store);
        const before = [await readEverything(store), await readWebhooks(store)];
        store = await reopen(store);
        expect([await readEverything(store), await readWebhooks(store)]).toEqual(before);
      });
    }
    if (second) {
      it("shows a commit to every handle at once, and rejects the slower of two writers", async () => {
        const other = await second(store);
        await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
        expect((await other.since(ANN, 0)).messages).toHaveLength(1);
        await other.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
        await expect(
          store.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m3")] })),
        ).rejects.toMatchObject({ code: "conflict" });
        expect((await store.since(ANN, 1)).messages.map(({ id }) => id)).toEqual(["m2"]);
        await other.close();
      });
    }

    if (second) {
      it("gives a lease to one of several handles", async () => {
        const other = await second(store);
        const handles = [store, other, store, other];
        const answers = await Promise.all(
          handles.map((one) => one.jobs.takeLease("decay", { forMs: 60_000 })),
        );
        expect(answers.filter(({ token }) => token !== undefined)).toHaveLength(1);
        await other.close();
      });
    }

    it("agrees with the reference store on random histories", async () => {
      await fc.assert(
        fc.asyncProperty(historySteps, async (drawn) => {
          const reference = createInMemoryStore();
          let ours = await harness.open();
          try {
            for (const step of drawn) {
              if (step.reopens && reopen) ours = await reopen(ours);
              await expectAgreement(ours, reference, step);
            }
            if (ours.dump)
              expect(await readAllRows(ours.dump)).toEqual(await readAllRows(requireStoreDump(reference)));
          } finally {
            await ours.close();
          }
        }),
        { numRuns: harness.randomHistories ?? RANDOM_HISTORIES },
      );
    }, 120_000);
  });
}

/** Changes of that history that are not change-sets: they replace and remove what capabilities store. */
async function changeCapabilities(store: MemoryStore): Promise<void> {
  await store.recallReceipts.save([{ scope: BOB, receipts: [makeRecallReceipt("r3")] }]);
  await store.recallReceipts.clear(BOB);
  await store.sharing?.apply("default", { drop: ["a"] });
  await store.embedders?.save({ ...ANN, embedder: "other" });
  await store.embedders?.remove({ project: "other" });
  await changeWebhooks(store);
}

/** Applies a step to both stores, then compares their results and all data that can be read. */
async function expectAgreement(ours: MemoryStore, reference: MemoryStore, step: HistoryStep): Promise<void> {
  const scope: Scope = { project: "default", user: step.user };
  const current = await reference.since(scope, 0);
  const drawn = step.isFitted ? fitChanges(step.changes, current) : step.changes;
  const changes = makeChangeSet({ ...drawn, base: current.revision + step.stale });
  expect(await applyChanges(ours, scope, changes)).toEqual(await applyChanges(reference, scope, changes));
  for (const each of [ANN, BOB]) {
    expect(await readContents(ours, each)).toEqual(await readContents(reference, each));
    expect(await ours.since(each, 1)).toEqual(await reference.since(each, 1));
  }
}

async function applyChanges(store: MemoryStore, scope: Scope, changes: ChangeSet): Promise<unknown> {
  try {
    return await store.commit(scope, changes);
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}
