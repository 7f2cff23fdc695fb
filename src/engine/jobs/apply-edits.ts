import type { Kind, Memory, SourceSpan } from "../../domain/memory.ts";
import type { JobName } from "../../domain/operations/job.ts";
import type { Scope } from "../../domain/scope.ts";
import { collectLinkedIds, moveLinks } from "../associations/links.ts";
import { commitChange, createMemoryDraft, type MemoryDraft } from "../change-set.ts";
import type { Ports } from "../ports.ts";
import { DECAY_DAYS } from "../recall/options.ts";
import type { UserState } from "../user-state/user-state.ts";

/** Maximum edits in one change-set, which is undone as a unit. */
export const MAX_EDITS = 200;

/** The applied edits, and the revision of their change-set, for `undo`. */
interface AppliedEdits {
  readonly edits: readonly MaintenanceEdit[];
  /** Absent if nothing was left to do. */
  readonly revision?: number;
}

/**
 * Applies the first edits (at most `MAX_EDITS`) in one change-set, which `undo` reverts as a unit. Drops an
 * edit if its memory has changed since it was planned, or would be archived although it is associated with another.
 * The associations of a merged memory move to the one that it is merged into.
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
    const applied = some.filter((edit) => applyEdit(state, draft, edit));
    if (applied.length === 0) return { result: applied };
    return {
      draft: {
        cause: "optimize",
        memories: draft.versions,
        dropUnits: applied.map(({ id }) => id),
        ...moveLinks(state.links, toSurvivors(applied)),
      },
      result: applied,
    };
  });
  return { edits: result, ...(result.length === 0 ? {} : { revision }) };
}

/** By the id of each merged memory, the memory that it was merged into. */
function toSurvivors(edits: readonly MaintenanceEdit[]): ReadonlyMap<string, string> {
  return new Map(
    edits.flatMap(({ id, action, into }) => (action === "merged" && into ? [[id, into.id]] : [])),
  );
}

/** Adds an edit to the draft if it still applies. */
function applyEdit(state: UserState, draft: MemoryDraft, edit: MaintenanceEdit): boolean {
  const memory = state.memories.get(edit.id);
  if (!memory || memory.version !== edit.version || memory.status !== "current") return false;
  const { why } = edit;
  if (edit.action === "expired") {
    const validTo = memory.validTo ?? memory.expiresAt ?? memory.at;
    draft.put({ ...memory, status: "superseded", action: "superseded", validTo, why });
    return true;
  }
  if (edit.action === "archived") {
    if (collectLinkedIds(state.links).has(edit.id)) return false;
    draft.put({ ...memory, status: "retracted", archived: true, action: "retracted", why });
    return true;
  }
  return mergeMemory(state, draft, edit, memory);
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

/** The earlier start, if both memories have one. */
function pickEarliest(one: Memory, other: Memory): { readonly validFrom?: string } {
  const { validFrom: a } = one;
  const { validFrom: b } = other;
  if (a === undefined || b === undefined) return {};
  return { validFrom: a < b ? a : b };
}

function mergeSources(one: readonly SourceSpan[], other: readonly SourceSpan[]): readonly SourceSpan[] {
  const isHeld = ({ message, start }: SourceSpan): boolean =>
    one.some((source) => source.message === message && source.start === start);
  return [...one, ...other.filter((source) => !isHeld(source))];
}

/** What happens to a memory; a `faded` one stays as it is. */
type EditAction = "expired" | "merged" | "archived" | "faded";

/** One edit that a task proposes. */
export interface MaintenanceEdit {
  readonly id: string;
  /** The version for which the edit was planned; the edit is dropped for any other version. */
  readonly version: number;
  readonly action: EditAction;
  /** The memory that it is merged into, and that memory's version. */
  readonly into?: { readonly id: string; readonly version: number };
  /** The reason, in words for a person, without the user's own words. */
  readonly why: string;
}

/** The edits that a task proposes after it examines all current memories of a user. */
interface TaskPlan {
  readonly edits: readonly MaintenanceEdit[];
  /** When the next edit is due (ISO 8601), if nothing changes until then. */
  readonly due?: string;
}

/** What a clean-up archives instead of what it does by itself. */
export interface CleanUpLimits {
  /** Memories last said longer ago than this, in days. */
  readonly maxAgeDays?: number;
  /** Memories less important than this, 0 to 1. */
  readonly minImportance?: number;
  /** Memories of these kinds. */
  readonly kinds?: ReadonlySet<Kind>;
}

/** The input of a task: all current memories, at one revision. */
interface TaskInput {
  readonly scope: Scope;
  readonly memories: readonly Memory[];
  /** Ids of the memories that are associated with others, where they are known; edits are checked again. */
  readonly linked?: ReadonlySet<string>;
  /** For the clean-up. */
  readonly limits?: CleanUpLimits;
  /** Now (ISO 8601). */
  readonly at: string;
}

/** A job that maintains the memories of one user at a time. It only plans; `applyEdits` writes. */
export interface MaintenanceTask {
  readonly name: JobName;
  readonly about: string;
  readonly everyMs: number;
  /** Whether the background applies the edits, or only counts them for people to decide. */
  isAutomatic(ports: Ports): boolean;
  plan(ports: Ports, looking: TaskInput): Promise<TaskPlan>;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS: number = 60 * MINUTE_MS;
export const DAY_MS: number = 24 * HOUR_MS;

/** After this many half-lives hardly anything is left: a sixteenth. */
const HALVINGS = 4;

/** The time (ISO 8601) before which statements have faded. */
export function computeFadeCutoff(ports: Pick<Ports, "decayDays">, at: string): string {
  const days = HALVINGS * (ports.decayDays ?? DECAY_DAYS);
  return new Date(Date.parse(at) - days * DAY_MS).toISOString();
}

export function countDaysBetween(from: string, to: string): number {
  return Math.floor((Date.parse(to) - Date.parse(from)) / DAY_MS);
}
