import type { Memory } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { toIsoTime } from "../../domain/time.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import type { Ports } from "../ports.ts";
import { selectKnownAt } from "../recall/recall.ts";
import type { UserState } from "../user-state/user-state.ts";
import { isExpiredAt, type ListState } from "./list-filter.ts";

const SLICE = 2000;

/** What a list chooses from. */
export interface ListContent {
  readonly state: ListState;
  /** The time for which statuses and expiry are judged (ISO 8601). */
  readonly now: string;
  /** The chosen memories as they may be shown: without those that were erased while the list was made. */
  reread(found: readonly Memory[]): Promise<Memory[]>;
}

/** Gives the user's memories: those of now, or each as it was stored at a time. Throws `invalid_input` for a wrong time. */
export async function readListContent(
  ports: Pick<Ports, "states" | "store" | "clock">,
  scope: Scope,
  knownAt: Date | string | undefined,
): Promise<ListContent> {
  const now = ports.clock().toISOString();
  const then = knownAt === undefined ? undefined : toIsoTime(knownAt, "knownAt");
  const state = await ports.states.of(scope);
  if (then === undefined || then >= now) {
    const reread = async (found: readonly Memory[]): Promise<Memory[]> =>
      found.flatMap(({ id }) => state.memories.get(id) ?? []);
    return { state, now, reread };
  }
  const readThen = (): Promise<Map<string, Memory>> => readKnown(ports, { scope, state, now, then });
  const revision = await ports.store.revision(scope);
  const memories = await readThen();
  return {
    state: { messages: state.messages, memories },
    now: then,
    async reread(found) {
      const isSame = (await ports.store.revision(scope)) === revision;
      const newest = isSame ? memories : await readThen();
      return found.flatMap(({ id }) => (state.memories.has(id) ? (newest.get(id) ?? []) : []));
    },
  };
}

interface KnownRequest {
  readonly scope: Scope;
  readonly state: UserState;
  readonly now: string;
  readonly then: string;
}

/** Each memory as it was stored then, in the order of now. What has expired since is gone. */
async function readKnown(
  ports: Pick<Ports, "store">,
  { scope, state, now, then }: KnownRequest,
): Promise<Map<string, Memory>> {
  const known = selectKnownAt(await ports.store.versions(scope), then);
  const memories = new Map<string, Memory>();
  await forEachInSlices(
    state.memories.values(),
    (newest) => {
      const memory = known.get(newest.id);
      if (memory && !isExpiredAt(newest, now)) memories.set(newest.id, memory);
    },
    SLICE,
  );
  return memories;
}
