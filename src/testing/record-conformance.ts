import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { memoryRecord } from "../adapters/memory/index.ts";
import type { Record } from "../ports/record.ts";
import { changes, memory, message } from "./change-sets.ts";
import { ANSWER_CASES } from "./record-answer-cases.ts";
import { ANN, dump, full, type RecordCases } from "./record-dump.ts";
import { ERASURE_CASES } from "./record-erasure-cases.ts";
import { HOUSE_CASES } from "./record-house-cases.ts";
import { LEASE_CASES } from "./record-lease-cases.ts";
import { agree } from "./record-model.ts";
import { READ_CASES } from "./record-read-cases.ts";
import { steps } from "./record-steps.ts";
import { WHOLE_CASES } from "./record-whole-cases.ts";
import { WRITE_CASES } from "./record-write-cases.ts";
import { wholeOf, wholeRows } from "./whole-rows.ts";

export interface RecordHarness {
  /** Shown in the test output: "sqlite", "postgres". */
  readonly name: string;
  /** Starts what the record needs, once. */
  setup?(): Promise<void>;
  /** A new, empty record. Nothing may leak between two of them. */
  open(): Promise<Record>;
  /** Closes a record and opens what it kept; absent where a record keeps nothing. */
  reopen?(record: Record): Promise<Record>;
  /** A second handle on the same record, as another process would have; absent where there can be none. */
  second?(record: Record): Promise<Record>;
  /** Stops what `setup` started. */
  teardown?(): Promise<void>;
  /** How many random histories are compared with the reference record: 100; fewer where each write is slow. */
  readonly randomHistories?: number;
  /** Case title -> why. Each runs and must fail; one that passes again breaks the build. */
  readonly knownGaps?: { readonly [title: string]: string };
}

/** One sentence of the contract in `ports/record.ts` per case. */
export const RECORD_CASES: RecordCases = {
  ...WRITE_CASES,
  ...READ_CASES,
  ...ERASURE_CASES,
  ...HOUSE_CASES,
  ...LEASE_CASES,
  ...ANSWER_CASES,
  ...WHOLE_CASES,
};

const RANDOM_HISTORIES = 100;

/** Runs the whole contract against one adapter. Call it at the top level of a test file. */
export function recordConformance(harness: RecordHarness): void {
  const gaps = harness.knownGaps ?? {};
  describe(`Record: ${harness.name}`, () => {
    let record: Record;
    beforeAll(() => harness.setup?.());
    afterAll(() => harness.teardown?.());
    beforeEach(async () => {
      record = await harness.open();
    });
    afterEach(() => record.close());

    it("names only known gaps that exist", () => {
      expect(Object.keys(gaps).filter((title) => !(title in RECORD_CASES))).toEqual([]);
    });

    for (const [title, run] of Object.entries(RECORD_CASES)) {
      const test = title in gaps ? it.fails : it;
      test(title in gaps ? `${title} [known gap: ${gaps[title]}]` : title, () => run(record));
    }

    const { reopen, second } = harness;
    if (reopen) {
      it("keeps everything over a reopening", async () => {
        await record.commit(ANN, full("0"));
        await record.commit(ANN, changes({ base: 1, memories: [memory("memory-0", 2)] }));
        const before = await dump(record, ANN);
        record = await reopen(record);
        expect(await dump(record, ANN)).toEqual(before);
      });
    }
    if (second) {
      it("shows a commit to every handle at once, and refuses the slower of two writers", async () => {
        const other = await second(record);
        await record.commit(ANN, changes({ messages: [message("m1")] }));
        expect((await other.since(ANN, 0)).messages).toHaveLength(1);
        await other.commit(ANN, changes({ base: 1, messages: [message("m2")] }));
        await expect(
          record.commit(ANN, changes({ base: 1, messages: [message("m3")] })),
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
        fc.asyncProperty(steps, async (drawn) => {
          const reference = memoryRecord();
          let ours = await harness.open();
          try {
            for (const step of drawn) {
              if (step.reopens && reopen) ours = await reopen(ours);
              await agree(ours, reference, step);
            }
            if (ours.whole) expect(await wholeRows(ours.whole)).toEqual(await wholeRows(wholeOf(reference)));
          } finally {
            await ours.close();
          }
        }),
        { numRuns: harness.randomHistories ?? RANDOM_HISTORIES },
      );
    }, 120_000);
  });
}
