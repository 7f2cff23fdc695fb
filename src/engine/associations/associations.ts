import {
  ASSOCIATION_TYPES,
  type AssociationType,
  type MemoryLink,
  toLinkKey,
} from "../../domain/change-set.ts";
import { checkCount, checkName, checkShare } from "../../domain/limits.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { LinkListOptions, LinkOptions, LinkReceipt, UnlinkOptions } from "../api/association-types.ts";
import type { Page } from "../api/listing-types.ts";
import { commitChange } from "../change-set.ts";
import type { Ports } from "../ports.ts";
import { requireMemory } from "../user-state/lookups.ts";
import type { UserState } from "../user-state/user-state.ts";
import { hasRoom, isPresent, MAX_LINKS, MAX_LINKS_OF_MEMORY } from "./links.ts";

/**
 * Associates one memory with another by hand, or changes the strength. Throws `not_found` for an unknown id, and
 * `invalid_input` for a wrong type or strength, or too many associations.
 */
export async function link(
  ports: Pick<Ports, "store" | "states" | "clock">,
  scope: Scope,
  ends: { readonly from: string; readonly to: string },
  { type = "related_to", strength = 1, signal }: LinkOptions = {},
): Promise<LinkReceipt> {
  signal?.throwIfAborted();
  const wanted: MemoryLink = {
    ...checkEnds(ends),
    type: checkType(type),
    strength: checkShare(strength, "strength"),
  };
  const { result, revision } = await commitChange(ports, scope, async (state) => {
    for (const id of [wanted.from, wanted.to]) requirePresent(state, id, ports.clock().toISOString());
    const before = state.links.find((one) => toLinkKey(one) === toLinkKey(wanted));
    if (before?.strength === wanted.strength) return { result: { linked: [], unlinked: [] } };
    if (!before) checkRoom(state.links, wanted);
    const unlinked = before ? [before] : [];
    return {
      draft: { cause: "link" as const, links: [wanted], dropLinks: unlinked },
      result: { linked: [wanted], unlinked },
    };
  });
  return { revision, ...result };
}

/**
 * Removes the associations from one memory to another: of one type, or of all. Throws `not_found` if there is none,
 * or if a memory is unknown.
 */
export async function unlink(
  ports: Pick<Ports, "store" | "states" | "clock">,
  scope: Scope,
  ends: { readonly from: string; readonly to: string },
  { type, signal }: UnlinkOptions = {},
): Promise<LinkReceipt> {
  signal?.throwIfAborted();
  const { from, to } = checkEnds(ends);
  const wanted = type === undefined ? undefined : checkType(type);
  const { result, revision } = await commitChange(ports, scope, async (state) => {
    for (const id of [from, to]) requirePresent(state, id, ports.clock().toISOString());
    const unlinked = state.links.filter(
      (one) => one.from === from && one.to === to && (wanted === undefined || one.type === wanted),
    );
    if (unlinked.length === 0)
      throw new MemoryError("not_found", "there is no such association from the first memory to the second.");
    return {
      draft: { cause: "link" as const, dropLinks: unlinked },
      result: { linked: [], unlinked },
    };
  });
  return { revision, ...result };
}

/** Lists stored associations by their ends: all, or those of one memory. Throws `not_found` for an unknown memory. */
export async function listLinks(
  ports: Pick<Ports, "states" | "clock">,
  scope: Scope,
  { memory, type, limit = 50, cursor, signal }: LinkListOptions = {},
): Promise<Page<MemoryLink>> {
  signal?.throwIfAborted();
  const most = checkCount(limit, "limit", 1, 1000);
  const wanted = type === undefined ? undefined : checkType(type);
  const after = cursor === undefined ? undefined : parseLinkCursor(cursor);
  const state = await ports.states.of(scope);
  const now = ports.clock().toISOString();
  if (memory !== undefined) requirePresent(state, checkName(memory, "memory"), now);
  const found = state.links
    .filter(
      (one) =>
        (wanted === undefined || one.type === wanted) &&
        (memory === undefined || one.from === memory || one.to === memory) &&
        [one.from, one.to].every((id) => isPresent(state.memories.get(id), now)),
    )
    .map((one) => ({ one, key: toLinkKey(one) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
  const rest = after === undefined ? found : found.filter(({ key }) => key > after);
  const items = rest.slice(0, most);
  const last = items.at(-1);
  return {
    items: items.map(({ one }) => one),
    total: found.length,
    ...(last && rest.length > most ? { cursor: Buffer.from(last.key).toString("base64url") } : {}),
  };
}

/** The memory with an id, whatever its status. Throws `not_found` if it does not exist or has expired. */
export function requirePresent(state: UserState, id: string, now: string): Memory {
  const memory = requireMemory(state, id);
  if (!isPresent(memory, now)) throw new MemoryError("not_found", "this memory has expired.");
  return memory;
}

/** Checks the type of an association. Throws `invalid_input`. */
export function checkType(type: unknown): AssociationType {
  const known = ASSOCIATION_TYPES.find((one) => one === type);
  if (known) return known;
  throw invalid(`type must be one of ${ASSOCIATION_TYPES.join(", ")}.`);
}

function checkRoom(links: readonly MemoryLink[], wanted: MemoryLink): void {
  if (hasRoom(links, wanted)) return;
  throw invalid(
    `too many associations: at most ${MAX_LINKS_OF_MEMORY} of one memory and ${MAX_LINKS} in all. Remove some first.`,
  );
}

function checkEnds({ from, to }: { readonly from: unknown; readonly to: unknown }): {
  from: string;
  to: string;
} {
  const ends = { from: checkName(from, "from"), to: checkName(to, "to") };
  if (ends.from === ends.to) throw invalid("a memory cannot be associated with itself: name two.");
  return ends;
}

function parseLinkCursor(cursor: string): string {
  const key = Buffer.from(cursor, "base64url").toString("utf8");
  if (key.startsWith('["') && key.endsWith('"]')) return key;
  throw invalid("the cursor is invalid: pass one that a listing returned.");
}
