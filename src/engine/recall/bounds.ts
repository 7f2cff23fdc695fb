import { matches, type Where } from "../../domain/filter.ts";
import type { Kind, Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { UserState } from "../user-state.ts";

/** What a recall may give at all. Times are ISO 8601. */
export interface Bounds {
  readonly now: string;
  readonly asOf?: string;
  readonly knownAt?: string;
  readonly session?: string;
  readonly agent?: string;
  readonly kinds?: ReadonlySet<Kind>;
  readonly types?: ReadonlySet<"memory" | "passage">;
  readonly where?: Where;
}

/** Why a memory may not be given, in words for a person; nothing where it may. */
export function whyNotMemory(memory: Memory, bounds: Bounds, state: UserState): string | undefined {
  if (bounds.types && !bounds.types.has("memory")) return "only passages were asked for";
  if (bounds.kinds && !bounds.kinds.has(memory.kind)) return "another kind was asked for";
  if (memory.quarantined) return "quarantined";
  if (memory.expiresAt !== undefined && memory.expiresAt <= bounds.now) return "expired";
  if (isAfter(memory.validFrom ?? memory.at, bounds.asOf)) return "not yet true then";
  if (isAfter(memory.storedAt, bounds.knownAt)) return "not yet known then";
  if (bounds.agent !== undefined && memory.agent !== bounds.agent) return "another agent's";
  if (bounds.session === undefined && !bounds.where) return undefined;
  return whyNotSources(memory, bounds, state);
}

/** The bounds that need a look at what a memory was read from. */
function whyNotSources(memory: Memory, { session, where }: Bounds, state: UserState): string | undefined {
  const said = memory.sources.flatMap(({ message }) => state.messages.get(message) ?? []);
  const isIn = memory.session === session || said.some((message) => message.session === session);
  if (session !== undefined && !isIn) return "another session";
  return passesWhere(where, memory.metadata, said) ? undefined : "the filter does not let it through";
}

/** Why a passage of a message may not be given. */
export function whyNotPassage(message: Message, bounds: Bounds): string | undefined {
  if (bounds.types && !bounds.types.has("passage")) return "only memories were asked for";
  if (bounds.kinds) return "another kind was asked for";
  if (message.undone) return "undone";
  if (isAfter(message.at, bounds.asOf)) return "not yet said then";
  if (isAfter(message.storedAt, bounds.knownAt)) return "not yet known then";
  if (bounds.agent !== undefined && message.agent !== bounds.agent) return "another agent's";
  if (bounds.session !== undefined && message.session !== bounds.session) return "another session";
  return passesWhere(bounds.where, message.metadata, []) ? undefined : "the filter does not let it through";
}

function isAfter(time: string, bound: string | undefined): boolean {
  return bound !== undefined && time > bound;
}

/** Own metadata decides; a memory without any is judged by what it was read from. */
function passesWhere(where: Where | undefined, own: Memory["metadata"], said: readonly Message[]): boolean {
  if (!where) return true;
  if (own || said.length === 0) return matches(where, own ?? {});
  return said.some(({ metadata }) => matches(where, metadata ?? {}));
}
