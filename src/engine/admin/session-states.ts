import { checkSessionState, type SessionStateChanges } from "../../domain/conversation/session-state.ts";
import { checkName, checkNewName } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import { SESSION_TTL_MS, type Sessions, type StoredSessionState } from "../../ports/sessions.ts";
import type { ActiveSessionState, NewSession } from "../api/session-types.ts";
import type { Ports } from "../ports.ts";
import { tryStore } from "../secondary-stores/try-store.ts";

type SessionStatePorts = Pick<Ports, "sessions" | "store" | "ids">;

const NOT_FOUND = "this session has no state, or it has expired. Start it first.";

/** Starts a session: it gets a state. Throws `conflict` if it has one. */
export async function startSession(
  ports: SessionStatePorts,
  scope: Scope,
  { id, ...state }: NewSession = {},
  { signal }: CallOptions = {},
): Promise<ActiveSessionState> {
  signal?.throwIfAborted();
  const session = checkNewName(id ?? scope.session ?? ports.ids(), "id");
  const started = await changeState(ports, scope, session, { changes: state, mode: "create", signal });
  if (!started) throw new MemoryError("conflict", "this session has been started already. Update it.");
  return toActiveState(session, started);
}

/** Changes the state of a session. Throws `not_found` if it has none. */
export async function updateSession(
  ports: SessionStatePorts,
  scope: Scope,
  id: string,
  changes: SessionStateChanges,
  { signal }: CallOptions = {},
): Promise<ActiveSessionState> {
  signal?.throwIfAborted();
  const session = checkName(id, "session");
  const changed = await changeState(ports, scope, session, { changes, mode: "update", signal });
  if (!changed) throw new MemoryError("not_found", NOT_FOUND);
  return toActiveState(session, changed);
}

/** Gives the state of a session. Throws `not_found` if it has none. */
export async function getSessionState(
  ports: SessionStatePorts,
  { project, user }: Scope,
  id: string,
  { signal }: CallOptions = {},
): Promise<ActiveSessionState> {
  signal?.throwIfAborted();
  const session = checkName(id, "session");
  const found = await requireSessions(ports).states.read(
    { project, user, session },
    signal ? { signal } : {},
  );
  if (!found) throw new MemoryError("not_found", NOT_FOUND);
  return toActiveState(session, found);
}

/** Ends a session: its state and its short-term messages are deleted. The messages stay in the memory. */
export async function endSession(
  ports: SessionStatePorts,
  { project, user }: Scope,
  id: string,
  { signal }: CallOptions = {},
): Promise<void> {
  signal?.throwIfAborted();
  const session = checkName(id, "session");
  await requireSessions(ports).end({ project, user, session }, signal ? { signal } : {});
}

/** The states of all sessions of a user, by name; none if the session store cannot be reached. */
export async function listSessionStates(
  ports: Pick<Ports, "sessions" | "meter">,
  { project, user }: Scope,
): Promise<ActiveSessionState[]> {
  const { sessions } = ports;
  if (!sessions) return [];
  const found = await tryStore(ports, "sessions", () => sessions.states.list({ project, user }));
  return (found ?? [])
    .map(({ session, ...state }) => toActiveState(session, state))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}

/**
 * Deletes what an erasure without a match may have left in states. Throws `unavailable` if the target is named exactly and
 * the session store cannot be reached.
 */
export async function eraseSessionStates(
  ports: Pick<Ports, "sessions" | "meter">,
  { project, user }: Scope,
  { revision, isExact }: { readonly revision: number; readonly isExact: boolean },
): Promise<void> {
  const { sessions } = ports;
  if (!sessions) return;
  const erase = () => sessions.erase({ project, user }, { messages: [] }, { revision });
  if (isExact) await erase();
  else await tryStore(ports, "sessions", erase);
}

function requireSessions({ sessions }: Pick<Ports, "sessions">): Sessions {
  if (sessions) return sessions;
  throw new MemoryError("unsupported", "this memory has no session store.");
}

async function changeState(
  ports: SessionStatePorts,
  scope: Scope,
  session: string,
  {
    changes,
    mode,
    signal,
  }: {
    readonly changes: SessionStateChanges;
    readonly mode: "create" | "update";
    readonly signal: AbortSignal | undefined;
  },
): Promise<StoredSessionState | undefined> {
  const { project, user } = scope;
  const checked = checkSessionState(changes);
  const revision = await ports.store.revision(scope);
  const options = { mode, revision, ...(signal ? { signal } : {}) };
  return requireSessions(ports).states.change({ project, user, session }, checked, options);
}

function toActiveState(id: string, { state, startedAt, lastAt }: StoredSessionState): ActiveSessionState {
  const expiresAt = new Date(Date.parse(lastAt) + SESSION_TTL_MS).toISOString();
  return { id, ...state, startedAt, lastAt, expiresAt };
}
