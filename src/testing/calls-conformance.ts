import { beforeEach, describe, expect, it } from "vitest";
import type { Calls } from "../ports/calls.ts";
import { CALLS_CASES, makeModelCall } from "./calls-cases.ts";

export interface CallsHarness {
  /** Shown in the test output: "memory", "sqlite". */
  readonly name: string;
  /** An empty ledger. */
  open(): Promise<Calls>;
  /** Closes a ledger and opens it again, where it keeps what was noted. */
  reopen?(calls: Calls): Promise<Calls>;
}

/** Runs the whole contract of `ports/calls.ts` against one adapter. Call it at the top level of a test file. */
export function callsConformance(harness: CallsHarness): void {
  describe(`Calls: ${harness.name}`, () => {
    let calls: Calls;
    beforeEach(async () => {
      calls = await harness.open();
    });
    for (const [title, run] of Object.entries(CALLS_CASES)) it(title, () => run(calls));

    if (harness.reopen) {
      it("still has after a restart what was noted before", async () => {
        await calls.note(
          [makeModelCall({ id: "1" })],
          [{ project: "p", user: "ana", day: "2026-11-21", turns: 2 }],
        );
        const again = await harness.reopen?.(calls);
        expect(await again?.list({ limit: 10 })).toEqual([makeModelCall({ id: "1" })]);
        expect(await again?.turns({})).toBe(2);
      });
    }
  });
}
