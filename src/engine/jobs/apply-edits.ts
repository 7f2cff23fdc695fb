import type { JobName } from "../../domain/job.ts";
import type { Memory, SourceSpan } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { commitChange, createMemoryDraft, type MemoryDraft } from "../ingest/change-set.ts";
import type { Ports } from "../ports.ts";
import { DECAY_DAYS } from "../recall/options.ts";
import type { UserState } from "../user-state/user-state.ts";

/** So many edits make one change-set, which is undone as one. */
export const MAX_EDITS = 200;

/** What was carried out, and the revision that did it: that which `undo` takes back. */
interface AppliedEdits {
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

/** What is done to a memory; a `faded` one stays as it is. */
type EditAction = "expired" | "merged" | "archived" | "faded";

/** One thing that a task would do. */
export interface MaintenanceEdit {
  readonly id: string;
  /** The version that it was thought out on; of another one it is dropped. */
  readonly version: number;
  readonly action: EditAction;
  /** The memory that it is merged into, and the version of that. */
  readonly into?: { readonly id: string; readonly version: number };
  /** Why, in words for a person, without the user's own. */
  readonly why: string;
}

/** What a look at all of a user's current memories came to. */
interface TaskPlan {
  readonly edits: readonly MaintenanceEdit[];
  /** When there will be more to do (ISO 8601), if nothing changes until then. */
  readonly due?: string;
}

/** What a task looks at: everything that is current, as of one revision. */
interface TaskInput {
  readonly scope: Scope;
  readonly memories: readonly Memory[];
  /** Now (ISO 8601). */
  readonly at: string;
}

/** A job that looks after one user's memories at a time. It thinks; `carryOut` writes. */
export interface MaintenanceTask {
  readonly name: JobName;
  readonly about: string;
  readonly everyMs: number;
  /** Whether the background carries out what it thinks of, or counts it and leaves it to people. */
  isAutomatic(ports: Ports): boolean;
  plan(ports: Ports, looking: TaskInput): Promise<TaskPlan>;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS: number = 60 * MINUTE_MS;
export const DAY_MS: number = 24 * HOUR_MS;

/** After so many halvings hardly anything is left of it: a sixteenth. */
const HALVINGS = 4;

/** The time (ISO 8601) before which what was said has faded. */
export function computeFadeCutoff(ports: Pick<Ports, "decayDays">, at: string): string {
  const days = HALVINGS * (ports.decayDays ?? DECAY_DAYS);
  return new Date(Date.parse(at) - days * DAY_MS).toISOString();
}

export function countDaysBetween(from: string, to: string): number {
  return Math.floor((Date.parse(to) - Date.parse(from)) / DAY_MS);
}
