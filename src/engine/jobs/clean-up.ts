import type { Kind, Memory } from "../../domain/memory.ts";
import { relationOf } from "../../domain/relations.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Ports } from "../ports.ts";
import { DAY_MS, daysBetween, fadedBefore, type Task } from "./task.ts";

/** Instructions, commitments, preferences and names of things stay however old they are. */
const KINDS: ReadonlySet<Kind> = new Set(["fact", "event", "reflection"]);
/** What matters no more than an event that was told in passing. */
const UNIMPORTANT = 0.4;
/** Whether something has been recalled since can change at any time. */
const AGAIN_MS: number = 7 * DAY_MS;

/**
 * What is old, of little importance, said once and given by no recall that is still known is proposed for archiving: out
 * of every read but history, until `undo` brings it back. The background only counts it, unless it is told to do more.
 */
export const cleanUp: Task = {
  name: "clean-up",
  about: "looks for what is old, unimportant, said once and never recalled",
  everyMs: DAY_MS,
  isCarriedOut: (ports) => ports.cleansUp === true,
  async think(ports, { scope, memories, at }) {
    const before = fadedBefore(ports, at);
    const old = memories.filter((memory) => isLeftover(memory, before));
    const given = await givenOf(ports, scope, old);
    return {
      edits: old
        .filter(({ id }) => !given.has(id))
        .map(({ id, version, at: said }) => ({
          id,
          version,
          deed: "archived",
          why: `said once, ${daysBetween(said, at)} days ago, of little importance, and not recalled since`,
        })),
      due: new Date(Date.parse(at) + AGAIN_MS).toISOString(),
    };
  },
};

function isLeftover(memory: Memory, before: string): boolean {
  const { kind, claim, importance, evidence, at, storedAt, when = "", action } = memory;
  if (!KINDS.has(kind) || importance > UNIMPORTANT || evidence > 1) return false;
  // An old chat that was taken in lately is new here, and so is what is told of a day to come.
  if (at >= before || storedAt >= before || when >= before) return false;
  if (memory.sensitive || memory.quarantined || memory.expiresAt !== undefined) return false;
  // A hand has been laid on it: somebody wants it as it is.
  if (action === "updated" || action === "restored") return false;
  const relation = claim && relationOf(claim.relation);
  // Where somebody lives or works is no leftover, whatever weight was given to it.
  return !relation || (relation.holds === "many" && relation.sensitive !== true);
}

async function givenOf(
  { record }: Pick<Ports, "record">,
  scope: Scope,
  memories: readonly Memory[],
): Promise<ReadonlySet<string>> {
  if (memories.length === 0) return new Set();
  return new Set(
    await record.recalled(
      scope,
      memories.map(({ id }) => id),
    ),
  );
}
