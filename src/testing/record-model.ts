import { expect } from "vitest";
import type { ChangeSet } from "../domain/change-set.ts";
import type { Scope } from "../domain/scope.ts";
import type { Record } from "../ports/record.ts";
import { changes } from "./change-sets.ts";
import { ANN, BOB, dump } from "./record-dump.ts";
import { fitted, type Step } from "./record-steps.ts";

/** Takes a step on both, and compares what they answer and all that can be read then. */
export async function agree(ours: Record, reference: Record, step: Step): Promise<void> {
  const scope: Scope = { project: "default", user: step.user };
  const held = await reference.since(scope, 0);
  const drawn = step.isFitted ? fitted(step.changes, held) : step.changes;
  const whole = changes({ ...drawn, base: held.revision + step.stale });
  expect(await outcome(ours, scope, whole)).toEqual(await outcome(reference, scope, whole));
  for (const each of [ANN, BOB]) {
    expect(await dump(ours, each)).toEqual(await dump(reference, each));
    expect(await ours.since(each, 1)).toEqual(await reference.since(each, 1));
  }
}

async function outcome(record: Record, scope: Scope, whole: ChangeSet): Promise<unknown> {
  try {
    return await record.commit(scope, whole);
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}
