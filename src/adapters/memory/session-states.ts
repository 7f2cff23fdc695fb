import {
  SESSION_STATE_FIELDS,
  type SessionState,
  type SessionStateChanges,
} from "../../domain/conversation/session-state.ts";
import { toScopeKey } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import {
  MAX_ACTIVE_SESSIONS,
  SESSION_TTL_MS,
  type SessionOf,
  type StoredSessionState,
} from "../../ports/sessions.ts";
import type { Clock } from "../../ports/system.ts";
import type { ErasureBarriers } from "./erasure-barriers.ts";

type SessionStateOwner = Omit<SessionOf, "session">;

interface KeptState {
  readonly session: string;
  readonly state: SessionState;
  readonly startedAt: number;
  readonly lastAt: number;
  readonly bytes: number;
}

/** States of sessions in this process. */
export interface MemorySessionStates {
  change(
    of: SessionOf,
    changes: SessionStateChanges,
    options: { readonly mode: "create" | "update"; readonly revision?: number },
  ): StoredSessionState | undefined;
  read(of: SessionOf): StoredSessionState | undefined;
  list(of: SessionStateOwner): (StoredSessionState & { readonly session: string })[];
  /** Restarts the 24 hours of a state. */
  touch(of: SessionOf): void;
  drop(of: SessionOf): void;
  /** Gives the number of states deleted. */
  dropAll(of: SessionStateOwner): number;
  /** Deletes expired states, and gives their keys (`toStateKey`). */
  sweep(): string[];
  bytes(): number;
  clear(): void;
}

/** Names a session among those of all users. */
export function toStateKey(user: string, session: string): string {
  return JSON.stringify([user, session]);
}

/** Overhead of a state, in addition to its text. */
const STATE_BYTES = 300;

export function memorySessionStates({
  clock,
  barriers,
}: {
  readonly clock: Clock;
  readonly barriers: ErasureBarriers;
}): MemorySessionStates {
  /** By user, then by session. */
  const users = new Map<string, Map<string, KeptState>>();
  let bytes = 0;
  const isOver = ({ lastAt }: KeptState): boolean => clock().getTime() - lastAt >= SESSION_TTL_MS;
  const find = ({ session, ...user }: SessionOf): KeptState | undefined => {
    const kept = users.get(toScopeKey(user))?.get(session);
    return kept && !isOver(kept) ? kept : undefined;
  };
  const remove = (user: string, session: string): void => {
    const of = users.get(user);
    bytes -= of?.get(session)?.bytes ?? 0;
    of?.delete(session);
    if (of?.size === 0) users.delete(user);
  };
  const put = (user: string, kept: KeptState): void => {
    remove(user, kept.session);
    const of = users.get(user) ?? new Map<string, KeptState>();
    users.set(user, of.set(kept.session, kept));
    bytes += kept.bytes;
  };
  const sweepUser = (user: string): string[] => {
    const over = [...(users.get(user)?.values() ?? [])].filter(isOver).map(({ session }) => session);
    for (const session of over) remove(user, session);
    return over.map((session) => toStateKey(user, session));
  };
  return {
    change({ session, ...owner }, changes, { mode, revision }) {
      const user = toScopeKey(owner);
      if (barriers.isBlocked(user, revision))
        throw new MemoryError("conflict", "something of this user was erased meanwhile. Try again.");
      const before = find({ session, ...owner });
      if ((mode === "create") === (before !== undefined)) return undefined;
      sweepUser(user);
      if (!before && (users.get(user)?.size ?? 0) >= MAX_ACTIVE_SESSIONS)
        throw new MemoryError("over_quota", "this user has too many active sessions. End some of them.");
      const at = clock().getTime();
      const state = applyStateChanges(before?.state ?? {}, structuredClone(changes));
      const size = STATE_BYTES + 2 * (session.length + JSON.stringify(state).length);
      put(user, { session, state, startedAt: before?.startedAt ?? at, lastAt: at, bytes: size });
      return toStored(find({ session, ...owner }) as KeptState);
    },
    read(of) {
      const kept = find(of);
      return kept && toStored(kept);
    },
    list: (of) =>
      [...(users.get(toScopeKey(of))?.values() ?? [])]
        .filter((kept) => !isOver(kept))
        .map((kept) => ({ session: kept.session, ...toStored(kept) })),
    touch(of) {
      const kept = find(of);
      if (kept) put(toScopeKey(of), { ...kept, lastAt: clock().getTime() });
    },
    drop: (of) => remove(toScopeKey(of), of.session),
    dropAll(of) {
      const user = toScopeKey(of);
      const sessions = [...(users.get(user)?.keys() ?? [])];
      for (const session of sessions) remove(user, session);
      return sessions.length;
    },
    sweep: () => [...users.keys()].flatMap(sweepUser),
    bytes: () => bytes,
    clear() {
      users.clear();
      bytes = 0;
    },
  };
}

function applyStateChanges(before: SessionState, changes: SessionStateChanges): SessionState {
  const fields = SESSION_STATE_FIELDS.flatMap((field) => {
    const value = changes[field] === undefined ? before[field] : changes[field];
    return value === undefined || value === null ? [] : [[field, value] as const];
  });
  return Object.fromEntries(fields);
}

function toStored({ state, startedAt, lastAt }: KeptState): StoredSessionState {
  return {
    state: structuredClone(state),
    startedAt: new Date(startedAt).toISOString(),
    lastAt: new Date(lastAt).toISOString(),
  };
}
