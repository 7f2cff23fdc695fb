import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { ChangeSet } from "../../domain/change-set.ts";
import type { Scope } from "../../domain/scope.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { ANSWER_CACHE_CASES } from "./answer-cache-cases.ts";
import { makeChangeSet, makeMemory, makeMessage } from "./change-sets.ts";
import { JOB_CASES, LEASE_CASES } from "./job-store-cases.ts";
import { fitChanges, type HistoryStep, historySteps } from "./random-histories.ts";
import { READ_CASES } from "./read-cases.ts";
import {
  ANN,
  BOB,
  type MemoryStoreCases,
  makeFullChangeSet,
  readAllRows,
  readContents,
  requireStoreDump,
} from "./store-contents.ts";
import { STORE_DUMP_CASES } from "./store-dump-cases.ts";
import { ERASURE_CASES, WRITE_CASES } from "./write-cases.ts";

export interface MemoryStoreHarness {
  /** Shown in the test output: "sqlite", "postgres". */
  readonly name: string;
  /** Starts what the record needs, once. */
  setup?(): Promise<void>;
  /** A new, empty record. Nothing may leak between two of them. */
  open(): Promise<MemoryStore>;
  /** Closes a record and opens what it kept; absent where a record keeps nothing. */
  reopen?(record: MemoryStore): Promise<MemoryStore>;
  /** A second handle on the same record, as another process would have; absent where there can be none. */
  second?(record: MemoryStore): Promise<MemoryStore>;
  /** Stops what `setup` started. */
  teardown?(): Promise<void>;
  /** How many random histories are compared with the reference record: 100; fewer where each write is slow. */
  readonly randomHistories?: number;
  /** Case title -> why. Each runs and must fail; one that passes again breaks the build. */
  readonly knownGaps?: { readonly [title: string]: string };
}

/** One sentence of the contract in `ports/memory-store.ts` per case. */
export const MEMORY_STORE_CASES: MemoryStoreCases = {
  ...WRITE_CASES,
  ...READ_CASES,
  ...ERASURE_CASES,
  ...JOB_CASES,
  ...LEASE_CASES,
  ...ANSWER_CACHE_CASES,
  ...STORE_DUMP_CASES,
};

const RANDOM_HISTORIES = 100;

/** Runs the whole contract against one adapter. Call it at the top level of a test file. */
export function memoryStoreConformance(harness: MemoryStoreHarness): void {
  const gaps = harness.knownGaps ?? {};
  describe(`Record: ${harness.name}`, () => {
    let record: MemoryStore;
    beforeAll(() => harness.setup?.());
    afterAll(() => harness.teardown?.());
    beforeEach(async () => {
      record = await harness.open();
    });
    afterEach(() => record.close());

    it("names only known gaps that exist", () => {
      expect(Object.keys(gaps).filter((title) => !(title in MEMORY_STORE_CASES))).toEqual([]);
    });

    for (const [title, run] of Object.entries(MEMORY_STORE_CASES)) {
      const test = title in gaps ? it.fails : it;
      test(title in gaps ? `${title} [known gap: ${gaps[title]}]` : title, () => run(record));
    }

    const { reopen, second } = harness;
    if (reopen) {
      it("keeps everything over a reopening", async () => {
        await record.commit(ANN, makeFullChangeSet("0"));
        await record.commit(ANN, makeChangeSet({ base: 1, memories: [makeMemory("memory-0", 2)] }));
        const before = await readContents(record, ANN);
        record = await reopen(record);
        expect(await readContents(record, ANN)).toEqual(before);
      });
    }
    if (second) {
      it("shows a commit to every handle at once, and refuses the slower of two writers", async () => {
        const other = await second(record);
        await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
        expect((await other.since(ANN, 0)).messages).toHaveLength(1);
        await other.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
        await expect(
          record.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m3")] })),
        ).rejects.toMatchObject({ code: "conflict" });
        expect((await record.since(ANN, 1)).messages.map(({ id }) => id)).toEqual(["m2"]);
        await other.close();
      });
    }

    if (second) {
      it("gives a lease to one of several handles", async () => {
        const other = await second(record);
        const handles = [record, other, record, other];
        const answers = await Promise.all(handles.map((one) => one.takeLease("decay", { forMs: 60_000 })));
        expect(answers.filter(({ token }) => token !== undefined)).toHaveLength(1);
        await other.close();
      });
    }

    it("agrees with the reference record on random histories", async () => {
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

/** Takes a step on both, and compares what they answer and all that can be read then. */
async function expectAgreement(ours: MemoryStore, reference: MemoryStore, step: HistoryStep): Promise<void> {
  const scope: Scope = { project: "default", user: step.user };
  const held = await reference.since(scope, 0);
  const drawn = step.isFitted ? fitChanges(step.changes, held) : step.changes;
  const whole = makeChangeSet({ ...drawn, base: held.revision + step.stale });
  expect(await applyChanges(ours, scope, whole)).toEqual(await applyChanges(reference, scope, whole));
  for (const each of [ANN, BOB]) {
    expect(await readContents(ours, each)).toEqual(await readContents(reference, each));
    expect(await ours.since(each, 1)).toEqual(await reference.since(each, 1));
  }
}

async function applyChanges(record: MemoryStore, scope: Scope, whole: ChangeSet): Promise<unknown> {
  try {
    return await record.commit(scope, whole);
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}
