import { expect } from "vitest";
import type { ChangeSet } from "../domain/change-set.ts";
import type { Scope } from "../domain/scope.ts";
import type { MemoryStore } from "../ports/record.ts";
import { makeChangeSet } from "./change-sets.ts";
import { ANN, BOB, readContents } from "./record-dump.ts";
import { fitChanges, type HistoryStep } from "./record-steps.ts";

/** Takes a step on both, and compares what they answer and all that can be read then. */
export async function expectAgreement(
  ours: MemoryStore,
  reference: MemoryStore,
  step: HistoryStep,
): Promise<void> {
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
