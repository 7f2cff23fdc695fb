import type { Memory, SourceSpan } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { commitChange } from "../change.ts";
import { createMemoryDraft, type MemoryDraft } from "../memory-draft.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state.ts";
import type { MaintenanceEdit } from "./task.ts";

/** So many edits make one change-set, which is undone as one. */
export const MAX_EDITS = 200;

/** What was carried out, and the revision that did it: that which `undo` takes back. */
export interface AppliedEdits {
  readonly edits: readonly MaintenanceEdit[];
  /** Absent where nothing was left to do. */
  readonly revision?: number;
}

/**
 * Carries out the first edits (at most `MOST_EDITS`) in one change-set, which `undo` takes back whole. An edit of a memory
 * that has changed since it was thought out is dropped, and so is one of a memory that others lean on.
 */
export async function applyEdits(
  ports: Ports,
  scope: Scope,
  edits: readonly MaintenanceEdit[],
): Promise<AppliedEdits> {
  const some = edits.filter(({ action: deed }) => deed !== "faded").slice(0, MAX_EDITS);
  if (some.length === 0) return { edits: [] };
  const { result, revision } = await commitChange(ports, scope, async (state, at) => {
    const draft = createMemoryDraft(state, at);
    const done = some.filter((edit) => applyEdit(state, draft, edit));
    if (done.length === 0) return { result: done };
    return {
      draft: { cause: "optimize", memories: draft.versions, dropUnits: done.map(({ id }) => id) },
      result: done,
    };
  });
  return { edits: result, ...(result.length === 0 ? {} : { revision }) };
}

/** Puts an edit into the draft, where it still fits. */
function applyEdit(state: UserState, draft: MemoryDraft, edit: MaintenanceEdit): boolean {
  const held = state.memories.get(edit.id);
  if (!held || held.version !== edit.version || held.status !== "current") return false;
  const { why } = edit;
  if (edit.action === "expired") {
    const validTo = held.validTo ?? held.expiresAt ?? held.at;
    draft.put({ ...held, status: "superseded", action: "superseded", validTo, why });
    return true;
  }
  if (state.links.some(({ from, to }) => from === edit.id || to === edit.id)) return false;
  if (edit.action === "archived") {
    draft.put({ ...held, status: "retracted", archived: true, action: "retracted", why });
    return true;
  }
  return mergeMemory(state, draft, edit, held);
}

function mergeMemory(
  state: UserState,
  draft: MemoryDraft,
  { into, why }: MaintenanceEdit,
  held: Memory,
): boolean {
  const stored = into && state.memories.get(into.id);
  const survivor = into && draft.get(into.id);
  if (!stored || !survivor || stored.version !== into.version || survivor.status !== "current") return false;
  const evidence = survivor.evidence + held.evidence;
  draft.put({
    ...survivor,
    evidence,
    confidence: Math.max(survivor.confidence, held.confidence),
    importance: Math.max(survivor.importance, held.importance),
    at: held.at > survivor.at ? held.at : survivor.at,
    ...pickEarliest(survivor, held),
    sources: mergeSources(survivor.sources, held.sources),
    action: "merged",
    why: `said ${evidence} times in all`,
  });
  draft.put({
    ...held,
    status: "retracted",
    archived: true,
    supersededBy: survivor.id,
    action: "merged",
    why,
  });
  return true;
}

/** True since the earlier of the two, where both say since when. */
function pickEarliest(one: Memory, other: Memory): { readonly validFrom?: string } {
  const { validFrom: a } = one;
  const { validFrom: b } = other;
  if (a === undefined || b === undefined) return {};
  return { validFrom: a < b ? a : b };
}

function mergeSources(one: readonly SourceSpan[], other: readonly SourceSpan[]): readonly SourceSpan[] {
  const isHeld = ({ message, start }: SourceSpan): boolean =>
    one.some((held) => held.message === message && held.start === start);
  return [...one, ...other.filter((source) => !isHeld(source))];
}
