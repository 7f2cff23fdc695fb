import { checkCount } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Ports } from "../ports.ts";
import type { Optimized, OptimizeOptions } from "../surface.ts";
import type { UserState } from "../user-state.ts";
import { applyEdits, MAX_EDITS } from "./carry-out.ts";
import { cleanUpTask } from "./clean-up.ts";
import { consolidationTask } from "./consolidation.ts";
import { decayTask } from "./decay.ts";
import { expiryTask } from "./expiry.ts";
import type { MaintenanceEdit, MaintenanceTask } from "./task.ts";

/** In this order: what has expired is not merged, and what was merged was said more than once. */
export const MAINTENANCE_TASKS: readonly MaintenanceTask[] = [
  expiryTask,
  consolidationTask,
  decayTask,
  cleanUpTask,
];
/** What was said in so many turns before the one that the caller names is left alone. */
const RECENT_TURNS = 100;

/**
 * Looks after one user's memories now, as the background does in its time; clean-up is carried out too. With `dryRun` it
 * says what it would do, and does nothing. Each task's work is a revision of its own, which `undo` takes back.
 */
export async function optimize(
  ports: Ports,
  scope: Scope,
  { dryRun = false, currentTurn, signal }: OptimizeOptions = {},
): Promise<Optimized> {
  const turn = currentTurn === undefined ? undefined : checkCount(currentTurn, "currentTurn", 0, 1e9);
  const jobs: Optimized["jobs"][number][] = [];
  for (const task of MAINTENANCE_TASKS) {
    signal?.throwIfAborted();
    const state = await ports.states.of(scope);
    const at = ports.clock().toISOString();
    const { edits } = await task.plan(ports, { scope, memories: [...state.current.values()], at });
    const wanted = turn === undefined ? edits : edits.filter((edit) => !isRecent(state, edit, turn));
    const done = dryRun ? { edits: wanted } : await applyAll(ports, scope, wanted, signal);
    jobs.push({
      name: task.name,
      ...(done.revisions === undefined ? {} : { revisions: done.revisions }),
      memories: done.edits.map(({ id, action: deed, into, why }) => ({
        id,
        action: deed,
        text: state.memories.get(id)?.text ?? "",
        ...(into ? { by: into.id } : {}),
        why,
      })),
    });
  }
  return { dryRun, revision: await ports.record.revision(scope), jobs };
}

interface AppliedWork {
  readonly edits: readonly MaintenanceEdit[];
  readonly revisions?: readonly number[];
}

/** All of it, in as many change-sets as it takes; what only fades is told as it is. */
async function applyAll(
  ports: Ports,
  scope: Scope,
  edits: readonly MaintenanceEdit[],
  signal: AbortSignal | undefined,
): Promise<AppliedWork> {
  const done: MaintenanceEdit[] = edits.filter(({ action: deed }) => deed === "faded");
  const revisions: number[] = [];
  let left = edits.filter(({ action: deed }) => deed !== "faded");
  while (left.length > 0) {
    signal?.throwIfAborted();
    const carried = await applyEdits(ports, scope, left);
    done.push(...carried.edits);
    if (carried.revision !== undefined) revisions.push(carried.revision);
    left = left.slice(MAX_EDITS);
  }
  return { edits: done, ...(revisions.length === 0 ? {} : { revisions }) };
}

/** Whether a memory comes from the turns before the one named, or from later ones. */
function isRecent(state: UserState, { id }: MaintenanceEdit, turn: number): boolean {
  const sources = state.memories.get(id)?.sources ?? [];
  return sources.some(({ message }) => (state.messages.get(message)?.turn ?? 0) > turn - RECENT_TURNS);
}
