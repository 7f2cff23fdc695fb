import { isCurrentAt, type Kind, type Memory } from "../../domain/memory.ts";
import { isOfAgent, type Scope } from "../../domain/scope.ts";
import type { UserState } from "../user-state/user-state.ts";

/** What the agent of a scope may read and is current at a time (ISO 8601), neither quarantined nor damaged, newest first. */
export function selectPresent(
  { current, damaged }: Pick<UserState, "current" | "damaged">,
  scope: Scope,
  at: string,
  kinds: ReadonlySet<Kind> | undefined,
): Memory[] {
  return [...current.values()]
    .filter(
      (memory) =>
        isCurrentAt(memory, at) &&
        isOfAgent(scope, memory) &&
        !damaged.has(memory.id) &&
        (!kinds || kinds.has(memory.kind)),
    )
    .reverse();
}
