import type { Memory, SourceSpan } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { change } from "../change.ts";
import { type MemoryDraft, memoryDraft } from "../memory-draft.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state.ts";
import type { Edit } from "./task.ts";

/** So many edits make one change-set, which is undone as one. */
export const MOST_EDITS = 200;

/** What was carried out, and the revision that did it: that which `undo` takes back. */
export interface CarriedOut {
  readonly edits: readonly Edit[];
  /** Absent where nothing was left to do. */
  readonly revision?: number;
}

/**
 * Carries out the first edits (at most `MOST_EDITS`) in one change-set, which `undo` takes back whole. An edit of a memory
 * that has changed since it was thought out is dropped, and so is one of a memory that others lean on.
 */
export async function carryOut(ports: Ports, scope: Scope, edits: readonly Edit[]): Promise<CarriedOut> {
  const some = edits.filter(({ deed }) => deed !== "faded").slice(0, MOST_EDITS);
  if (some.length === 0) return { edits: [] };
  const { result, revision } = await change(ports, scope, async (state, at) => {
    const draft = memoryDraft(state, at);
    const done = some.filter((edit) => edited(state, draft, edit));
    if (done.length === 0) return { result: done };
    return {
      draft: { cause: "optimize", memories: draft.made, dropUnits: done.map(({ id }) => id) },
      result: done,
    };
  });
  return { edits: result, ...(result.length === 0 ? {} : { revision }) };
}

/** Puts an edit into the draft, where it still fits. */
function edited(state: UserState, draft: MemoryDraft, edit: Edit): boolean {
  const held = state.memories.get(edit.id);
  if (!held || held.version !== edit.version || held.status !== "current") return false;
  const { why } = edit;
  if (edit.deed === "expired") {
    const validTo = held.validTo ?? held.expiresAt ?? held.at;
    draft.put({ ...held, status: "superseded", action: "superseded", validTo, why });
    return true;
  }
  if (state.links.some(({ from, to }) => from === edit.id || to === edit.id)) return false;
  if (edit.deed === "archived") {
    draft.put({ ...held, status: "retracted", archived: true, action: "retracted", why });
    return true;
  }
  return merged(state, draft, edit, held);
}

function merged(state: UserState, draft: MemoryDraft, { into, why }: Edit, held: Memory): boolean {
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
    ...earliest(survivor, held),
    sources: allOf(survivor.sources, held.sources),
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
function earliest(one: Memory, other: Memory): { readonly validFrom?: string } {
  const { validFrom: a } = one;
  const { validFrom: b } = other;
  if (a === undefined || b === undefined) return {};
  return { validFrom: a < b ? a : b };
}

function allOf(one: readonly SourceSpan[], other: readonly SourceSpan[]): readonly SourceSpan[] {
  const isHeld = ({ message, start }: SourceSpan): boolean =>
    one.some((held) => held.message === message && held.start === start);
  return [...one, ...other.filter((source) => !isHeld(source))];
}
