import { checkCount, checkShare } from "../../domain/limits.ts";
import { expandKinds, KIND_NAMES, type Kind, type Memory, type MemoryUsage } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { yieldToEventLoop } from "../../domain/time-slicing.ts";
import { invalid } from "../../errors.ts";
import type { Optimized, OptimizeOptions } from "../api/maintenance-types.ts";
import { collectLinkedIds } from "../associations/links.ts";
import { eraseDue } from "../erase/delayed-erasures.ts";
import type { Ports } from "../ports.ts";
import { DECAY_DAYS } from "../recall/options.ts";
import type { UserState } from "../user-state/user-state.ts";
import {
  applyEdits,
  type CleanUpLimits,
  computeFadeCutoff,
  countDaysBetween,
  DAY_MS,
  HOUR_MS,
  MAX_EDITS,
  type MaintenanceEdit,
  type MaintenanceTask,
  MINUTE_MS,
} from "./apply-edits.ts";
import { planMeaningMerges } from "./near-duplicates.ts";

/**
 * No read returns expired memories. This task also removes them from the search and ends them in the history.
 */
export const expiryTask: MaintenanceTask = {
  name: "expiry",
  about: "removes expired memories from the search and ends them in the history",
  everyMs: 10 * MINUTE_MS,
  isAutomatic: () => true,
  async plan(_ports, { memories, at }) {
    const timed = memories.flatMap(({ id, version, expiresAt }) =>
      expiresAt === undefined ? [] : [{ id, version, expiresAt }],
    );
    const due = timed
      .map(({ expiresAt }) => expiresAt)
      .filter((time) => time > at)
      .sort()[0];
    return {
      edits: timed
        .filter(({ expiresAt }) => expiresAt <= at)
        .map(({ id, version }) => ({ id, version, action: "expired", why: "its time was over" })),
      ...(due === undefined ? {} : { due }),
    };
  },
};

const COMPARED_AT_ONCE = 50;

/**
 * Merges memories that say the same about the same time, with the evidence and sources of all: in the same words, or in
 * others. A different value, number, name or negation keeps them apart.
 */
export const consolidationTask: MaintenanceTask = {
  name: "consolidation",
  about: "merges memories that say the same, with all their evidence and sources",
  everyMs: HOUR_MS,
  isAutomatic: () => true,
  async plan(ports, { scope, memories, at }) {
    const { vocabulary } = ports;
    const mergeable = memories.filter((memory) => mayMerge(memory, at));
    const groups = new Map<string, Memory[]>();
    for (const [i, memory] of mergeable.entries()) {
      // Thousands are compared and nothing here awaits, so yield to other work.
      if (i % COMPARED_AT_ONCE === COMPARED_AT_ONCE - 1) await yieldToEventLoop();
      const key = vocabulary.toStatementKey(memory);
      if (key === undefined) continue;
      const group = groups.get(key);
      if (group) group.push(memory);
      else groups.set(key, [memory]);
    }
    const equal = [...groups.values()].flatMap(toMergeEdits);
    const merged = new Set(equal.map(({ id }) => id));
    const survivors = new Set(equal.flatMap(({ into }) => (into ? [into.id] : [])));
    const left = mergeable.filter(({ id }) => !merged.has(id));
    const similar = await planMeaningMerges(ports, scope, { memories: left, survivors });
    return {
      edits: [...equal, ...similar.edits],
      ...(similar.due === undefined ? {} : { due: similar.due }),
    };
  },
};

/** A memory that was restored after a merge stays as it is. */
function mayMerge({ action, expiresAt }: Memory, at: string): boolean {
  return action !== "restored" && (expiresAt === undefined || expiresAt > at);
}

/** Merges into the most frequent statement, else the longest, else the oldest. */
function toMergeEdits(group: readonly Memory[]): MaintenanceEdit[] {
  const [first, ...rest] = group.toSorted(
    (one, other) => other.evidence - one.evidence || other.text.length - one.text.length,
  );
  if (!first) return [];
  const into = { id: first.id, version: first.version };
  return rest.map(({ id, version }) => ({
    id,
    version,
    action: "merged",
    into,
    why: "it says the same as another memory",
  }));
}

/**
 * Decay only affects the rank: each recall weighs a memory's dates, and nothing is written. This task counts
 * faded memories, for display.
 */
const decayTask: MaintenanceTask = {
  name: "decay",
  about: "counts faded memories; recalls weigh age themselves, and nothing is written",
  everyMs: DAY_MS,
  isAutomatic: () => false,
  async plan(ports, { memories, at }) {
    const before = computeFadeCutoff(ports, at);
    const days = ports.decayDays ?? DECAY_DAYS;
    const next = memories
      .map((memory) => memory.at)
      .filter((saidAt) => saidAt >= before)
      .sort()[0];
    return {
      edits: memories
        .filter((memory) => memory.at < before)
        .map(({ id, version, at: saidAt }) => ({
          id,
          version,
          action: "faded",
          why: `last said ${countDaysBetween(saidAt, at)} days ago; being new halves every ${days} days`,
        })),
      ...(next === undefined ? {} : { due: computeFadeTime(next, before, at) }),
    };
  },
};

/** The time at which a statement will have faded. */
function computeFadeTime(saidAt: string, before: string, at: string): string {
  return new Date(Date.parse(at) + Date.parse(saidAt) - Date.parse(before) + 1).toISOString();
}

/** Instructions, commitments, preferences and names stay, however old they are. */
const CLEANED_KINDS: ReadonlySet<Kind> = new Set(["fact", "event", "reflection"]);
/** At most as important as an event mentioned in passing. */
const MAX_IMPORTANCE = 0.4;
/** Use in recalls can change at any time. */
const RECHECK_MS: number = 7 * DAY_MS;

/**
 * Proposes memories for archiving that are old, unimportant, stated once and not in any stored recall. An
 * archived memory appears only in the history until `undo` restores it. The background only counts them
 * unless configured otherwise.
 */
export const cleanUpTask: MaintenanceTask = {
  name: "clean-up",
  about: "finds memories that are old, unimportant, stated once and never recalled",
  everyMs: DAY_MS,
  isAutomatic: (ports) => ports.cleansUp === true,
  async plan(ports, { scope, memories, linked, at, limits = {} }) {
    const before =
      limits.maxAgeDays === undefined
        ? computeFadeCutoff(ports, at)
        : new Date(Date.parse(at) - limits.maxAgeDays * DAY_MS).toISOString();
    const old = memories.filter(
      (memory) => !linked?.has(memory.id) && isLeftover(ports, memory, before, limits),
    );
    const recalledIds = await findRecalledMemories(ports, scope, old);
    return {
      edits: old
        .filter(({ id }) => !recalledIds.has(id))
        .map(({ id, version, at: saidAt }) => ({
          id,
          version,
          action: "archived",
          why: `said once, ${countDaysBetween(saidAt, at)} days ago, of little importance, and not recalled since`,
        })),
      due: new Date(Date.parse(at) + RECHECK_MS).toISOString(),
    };
  },
};

function isLeftover(
  { vocabulary }: Pick<Ports, "vocabulary">,
  memory: Memory,
  before: string,
  { minImportance, kinds }: CleanUpLimits,
): boolean {
  const { kind, claim, importance, evidence, at, storedAt, when = "", action } = memory;
  const isOfKind = (kinds ?? CLEANED_KINDS).has(kind);
  const matters = minImportance === undefined ? importance > MAX_IMPORTANCE : importance >= minImportance;
  if (!isOfKind || matters || evidence > 1) return false;
  // A recently imported old chat is new here, and so is a statement about a future day.
  if (at >= before || storedAt >= before || when >= before) return false;
  if (memory.sensitive || memory.quarantined || memory.expiresAt !== undefined) return false;
  // Someone edited it by hand and wants it as it is.
  if (action === "updated" || action === "restored") return false;
  const relation = claim && vocabulary.getRelation(claim.relation);
  // Where a person lives or works is never a leftover, whatever its importance.
  return !relation || (relation.holds === "many" && relation.sensitive !== true);
}

/** The ids among these that a recall has returned, also a moment ago. */
async function findRecalledMemories(
  { store, recalls, usage }: Pick<Ports, "store" | "recalls" | "usage">,
  scope: Scope,
  memories: readonly Memory[],
): Promise<ReadonlySet<string>> {
  if (memories.length === 0) return new Set();
  const ids = memories.map(({ id }) => id);
  // Both are written a moment after a recall. Receipts are kept of the newest recalls only, uses of all.
  await recalls?.flush();
  const uses = (await usage?.read(scope, ids)) ?? new Map<string, MemoryUsage>();
  return new Set([...(await store.jobs.findRecalled(scope, ids)), ...uses.keys()]);
}

/** The order matters: expired memories are not merged, and merged ones were stated more than once. */
export const MAINTENANCE_TASKS: readonly MaintenanceTask[] = [
  expiryTask,
  consolidationTask,
  decayTask,
  cleanUpTask,
];
/** Statements from this many turns before the caller's turn are left alone. */
const RECENT_TURNS = 100;

/**
 * Maintains one user's memories now, as the background does over time; also executes the clean-up. With
 * `dryRun`, only reports what it would do. Each task's work is a revision of its own, which `undo` reverts.
 */
export async function optimize(
  ports: Ports,
  scope: Scope,
  options: OptimizeOptions = {},
): Promise<Optimized> {
  const { dryRun = false, currentTurn, signal } = options;
  const limits = parseCleanUpLimits(options);
  const turn = currentTurn === undefined ? undefined : checkCount(currentTurn, "currentTurn", 0, 1e9);
  const jobs: Optimized["jobs"][number][] = [];
  for (const task of MAINTENANCE_TASKS) {
    signal?.throwIfAborted();
    const state = await ports.states.of(scope);
    const at = ports.clock().toISOString();
    const { edits } = await task.plan(ports, {
      scope,
      memories: [...state.current.values()],
      linked: collectLinkedIds(state.links),
      at,
      limits,
    });
    const wanted = turn === undefined ? edits : edits.filter((edit) => !isRecent(state, edit, turn));
    const done = dryRun ? { edits: wanted } : await applyAll(ports, scope, wanted, signal);
    jobs.push({
      name: task.name,
      ...(done.revisions === undefined ? {} : { revisions: done.revisions }),
      memories: done.edits.map(({ id, action: deed, into, why }) => ({
        id,
        action: deed,
        text: state.memories.get(id)?.text ?? "",
        ...(into ? { by: into.id, byText: state.memories.get(into.id)?.text ?? "" } : {}),
        why,
      })),
    });
  }
  if (!dryRun)
    await eraseDue(ports, scope, { at: ports.clock().toISOString(), ...(signal ? { signal } : {}) });
  return { dryRun, revision: await ports.store.revision(scope), jobs };
}

const OPTIMIZE_OPTIONS: ReadonlySet<string> = new Set<keyof OptimizeOptions>([
  "dryRun",
  "currentTurn",
  "maxAgeDays",
  "minImportance",
  "kinds",
  "signal",
]);

/** Throws `invalid_input` for a wrong option, or an unknown one: a misspelt limit must not archive something else. */
function parseCleanUpLimits(options: OptimizeOptions): CleanUpLimits {
  const unknown = Object.keys(options).find((name) => !OPTIMIZE_OPTIONS.has(name));
  if (unknown !== undefined)
    throw invalid(`optimize has no such option. Its options are ${[...OPTIMIZE_OPTIONS].join(", ")}.`);
  const { maxAgeDays, minImportance, kinds } = options;
  if (kinds !== undefined && !(Array.isArray(kinds) && kinds.every((kind) => KIND_NAMES.includes(kind))))
    throw invalid(`kinds must be a list of ${KIND_NAMES.join(", ")}.`);
  return {
    ...(maxAgeDays === undefined ? {} : { maxAgeDays: checkCount(maxAgeDays, "maxAgeDays", 0, 100_000) }),
    ...(minImportance === undefined ? {} : { minImportance: checkShare(minImportance, "minImportance") }),
    ...(kinds === undefined ? {} : { kinds: expandKinds(kinds) }),
  };
}

interface AppliedWork {
  readonly edits: readonly MaintenanceEdit[];
  readonly revisions?: readonly number[];
}

/** Applies all edits in as many change-sets as needed; faded memories are only reported. */
async function applyAll(
  ports: Ports,
  scope: Scope,
  edits: readonly MaintenanceEdit[],
  signal: AbortSignal | undefined,
): Promise<AppliedWork> {
  const applied: MaintenanceEdit[] = edits.filter(({ action: deed }) => deed === "faded");
  const revisions: number[] = [];
  let remaining = edits.filter(({ action: deed }) => deed !== "faded");
  while (remaining.length > 0) {
    signal?.throwIfAborted();
    const carried = await applyEdits(ports, scope, remaining);
    applied.push(...carried.edits);
    if (carried.revision !== undefined) revisions.push(carried.revision);
    remaining = remaining.slice(MAX_EDITS);
  }
  return { edits: applied, ...(revisions.length === 0 ? {} : { revisions }) };
}

/** Whether a memory comes from the turns just before the named one, or from later ones. */
function isRecent(state: UserState, { id }: MaintenanceEdit, turn: number): boolean {
  const sources = state.memories.get(id)?.sources ?? [];
  return sources.some(({ message }) => (state.messages.get(message)?.turn ?? 0) > turn - RECENT_TURNS);
}
