import { isCurrentAt, type Kind, type Memory } from "../../domain/memory.ts";
import type { UserState } from "../user-state/user-state.ts";

/** What is current at a time (ISO 8601), neither quarantined nor damaged, newest first. */
export function selectPresent(
  { current, damaged }: Pick<UserState, "current" | "damaged">,
  at: string,
  kinds: ReadonlySet<Kind> | undefined,
): Memory[] {
  return [...current.values()]
    .filter(
      (memory) => isCurrentAt(memory, at) && !damaged.has(memory.id) && (!kinds || kinds.has(memory.kind)),
    )
    .reverse();
}
