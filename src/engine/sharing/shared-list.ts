import { checkCount } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import { compileGrant, type Grant } from "../../domain/sharing.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import type { Ports } from "../ports.ts";
import { findReadable, readShares, requireGrant, requireSharing } from "./grants.ts";
import { toOwnersText } from "./shared-items.ts";
import type { SharedListOptions, SharedMemories, SharedMemory } from "./sharing-types.ts";

/**
 * Lists the memories that other users let this one read, newest first. With `grant`, those that it covers; its owner may
 * name it too. Throws `not_found` for a grant that is not in force or does not concern the user.
 */
export async function listShared(
  ports: Pick<Ports, "store" | "states" | "clock" | "promptGuard" | "replies">,
  scope: Scope,
  { grant: id, limit = 50, signal }: SharedListOptions = {},
): Promise<SharedMemories> {
  signal?.throwIfAborted();
  const most = checkCount(limit, "limit", 1, 1000);
  const chosen = await chooseGrants(ports, scope, id);
  const found = new Map<string, SharedMemory>();
  for (const grant of chosen) await collectCovered(ports, grant, found);
  const items = [...found.values()].sort((one, other) => (one.at < other.at ? 1 : -1));
  return { items: items.slice(0, most), total: items.length };
}

async function chooseGrants(
  ports: Pick<Ports, "store" | "clock">,
  scope: Scope,
  id: string | undefined,
): Promise<readonly Grant[]> {
  const readable = await findReadable(ports, scope);
  if (id === undefined) return readable;
  const now = ports.clock().toISOString();
  const { grants } = await readShares(requireSharing(ports), scope);
  const own = grants.filter(
    ({ owner, withdrawnAt, until }) =>
      owner === scope.user && withdrawnAt === undefined && (until === undefined || until > now),
  );
  return [requireGrant([...own, ...readable], id)];
}

async function collectCovered(
  { states, clock, promptGuard, replies }: Pick<Ports, "states" | "clock" | "promptGuard" | "replies">,
  { id, project, owner, what }: Grant,
  found: Map<string, SharedMemory>,
): Promise<void> {
  const test = await compileGrant(what);
  const state = await states.of({ project, user: owner });
  const now = clock().toISOString();
  await forEachInSlices(
    state.current.values(),
    (memory) => {
      const key = JSON.stringify([owner, memory.id]);
      if (found.has(key) || !test.coversMemory(memory, (message) => state.messages.get(message), now)) return;
      const text = toOwnersText({ replies }, memory.text, owner);
      if (promptGuard.findInjections(text, "brought").length > 0) return;
      const { kind, at, when } = memory;
      found.set(key, {
        id: memory.id,
        text,
        kind,
        at,
        ...(when === undefined ? {} : { when }),
        owner,
        grant: id,
      });
    },
    20,
  );
}
