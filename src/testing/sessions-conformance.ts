import { afterEach, beforeEach, describe, it } from "vitest";
import type { Clock } from "../ports/clock.ts";
import type { Sessions } from "../ports/sessions.ts";
import { SESSIONS_CASES } from "./sessions-cases.ts";

export interface SessionsHarness {
  /** Shown in the test output: "memory", "redis". */
  readonly name: string;
  /** Why the suite cannot run here, and how it can; absent where it can. */
  readonly missing?: string | undefined;
  /** Empty ones, which go by a clock that the case moves. */
  open(clock: Clock): Promise<Sessions>;
}

const CLOCK_START = Date.parse("2026-11-21T12:00:00.000Z");

/** Runs the whole contract of `ports/sessions.ts` against one adapter. Call it at the top level of a test file. */
export function sessionsConformance(harness: SessionsHarness): void {
  const title = `Sessions: ${harness.name}${harness.missing ? ` (${harness.missing})` : ""}`;
  describe.skipIf(harness.missing)(title, () => {
    let now = CLOCK_START;
    let sessions: Sessions;
    beforeEach(async () => {
      now = CLOCK_START;
      sessions = await harness.open(() => new Date(now));
    });
    afterEach(() => sessions.close());
    const pass = (ms: number): void => {
      now += ms;
    };
    for (const [title, run] of Object.entries(SESSIONS_CASES)) it(title, () => run({ sessions, pass }));
  });
}
