import type { Kind, Memory } from "../../domain/memory.ts";
import { getRelation } from "../../domain/relations.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Ports } from "../ports.ts";
import { computeFadeCutoff, countDaysBetween, DAY_MS, type MaintenanceTask } from "./task.ts";

/** Instructions, commitments, preferences and names of things stay however old they are. */
const CLEANED_KINDS: ReadonlySet<Kind> = new Set(["fact", "event", "reflection"]);
/** What matters no more than an event that was told in passing. */
const MAX_IMPORTANCE = 0.4;
/** Whether something has been recalled since can change at any time. */
const RECHECK_MS: number = 7 * DAY_MS;

/**
 * What is old, of little importance, said once and given by no recall that is still known is proposed for archiving: out
 * of every read but history, until `undo` brings it back. The background only counts it, unless it is told to do more.
 */
export const cleanUpTask: MaintenanceTask = {
  name: "clean-up",
  about: "looks for what is old, unimportant, said once and never recalled",
  everyMs: DAY_MS,
  isAutomatic: (ports) => ports.cleansUp === true,
  async plan(ports, { scope, memories, at }) {
    const before = computeFadeCutoff(ports, at);
    const old = memories.filter((memory) => isLeftover(memory, before));
    const given = await findRecalledMemories(ports, scope, old);
    return {
      edits: old
        .filter(({ id }) => !given.has(id))
        .map(({ id, version, at: said }) => ({
          id,
          version,
          action: "archived",
          why: `said once, ${countDaysBetween(said, at)} days ago, of little importance, and not recalled since`,
        })),
      due: new Date(Date.parse(at) + RECHECK_MS).toISOString(),
    };
  },
};

function isLeftover(memory: Memory, before: string): boolean {
  const { kind, claim, importance, evidence, at, storedAt, when = "", action } = memory;
  if (!CLEANED_KINDS.has(kind) || importance > MAX_IMPORTANCE || evidence > 1) return false;
  // An old chat that was taken in lately is new here, and so is what is told of a day to come.
  if (at >= before || storedAt >= before || when >= before) return false;
  if (memory.sensitive || memory.quarantined || memory.expiresAt !== undefined) return false;
  // A hand has been laid on it: somebody wants it as it is.
  if (action === "updated" || action === "restored") return false;
  const relation = claim && getRelation(claim.relation);
  // Where somebody lives or works is no leftover, whatever weight was given to it.
  return !relation || (relation.holds === "many" && relation.sensitive !== true);
}

async function findRecalledMemories(
  { record }: Pick<Ports, "record">,
  scope: Scope,
  memories: readonly Memory[],
): Promise<ReadonlySet<string>> {
  if (memories.length === 0) return new Set();
  return new Set(
    await record.findRecalled(
      scope,
      memories.map(({ id }) => id),
    ),
  );
}
