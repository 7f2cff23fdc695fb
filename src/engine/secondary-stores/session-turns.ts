import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Sessions, SessionTurn } from "../../ports/sessions.ts";
import { MAX_SESSION_MESSAGES } from "../../ports/sessions.ts";
import type { Ports } from "../ports.ts";
import { tryStore } from "./try-store.ts";

/** In characters. A longer message is read from the store instead. */
const MAX_TURN_CHARACTERS = 20_000;

type SessionTurnPorts = Pick<Ports, "sessions" | "meter">;

const pendingAppends = new WeakMap<Sessions, Set<Promise<unknown>>>();

/**
 * Appends stored messages to their sessions. No caller waits for it, because the store has them. A message
 * stored before an erasure and appended after it is rejected by its revision.
 */
export function appendTurns(
  { sessions, meter }: SessionTurnPorts,
  { project, user }: Scope,
  messages: readonly Message[],
  revision: number,
): void {
  if (!sessions) return;
  const mine = pendingAppends.get(sessions) ?? new Set();
  pendingAppends.set(sessions, mine);
  for (const [session, turns] of groupBySession(messages)) {
    const noting = tryStore({ ...(meter ? { meter } : {}) }, "sessions", () =>
      sessions.append({ project, user, session }, turns.slice(-MAX_SESSION_MESSAGES), { revision }),
    ).finally(() => mine.delete(noting));
    mine.add(noting);
  }
}

/** Resolves when no write is in progress. */
export async function waitForTurns({ sessions }: Pick<Ports, "sessions">): Promise<void> {
  if (sessions) await Promise.all(pendingAppends.get(sessions) ?? []);
}

/**
 * The last known messages of a session, as the store has them now; deleted or changed messages are left out.
 */
export async function readSessionTurns(
  ports: SessionTurnPorts,
  { project, user }: Scope,
  session: string | undefined,
  { messages }: { readonly messages: ReadonlyMap<string, Message> },
): Promise<Message[]> {
  const { sessions } = ports;
  if (!sessions || session === undefined) return [];
  const turns = await tryStore(ports, "sessions", () =>
    sessions.recent({ project, user, session }, { limit: MAX_SESSION_MESSAGES }),
  );
  return (turns ?? []).flatMap(({ id, content }) => {
    const message = messages.get(id);
    return message && message.session === session && message.content === content ? [message] : [];
  });
}

function groupBySession(messages: readonly Message[]): Map<string, SessionTurn[]> {
  const found = new Map<string, SessionTurn[]>();
  for (const { id, session, role, name, content, at, undone } of messages) {
    if (session === undefined || undone || content === "" || content.length > MAX_TURN_CHARACTERS) continue;
    const turns = found.get(session) ?? [];
    turns.push({ id, role, ...(name === undefined ? {} : { name }), content, at });
    found.set(session, turns);
  }
  return found;
}
