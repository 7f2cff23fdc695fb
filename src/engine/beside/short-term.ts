import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Sessions, SessionTurn } from "../../ports/sessions.ts";
import { SESSION_MESSAGES } from "../../ports/sessions.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state.ts";
import { ifThere } from "./troubles.ts";

/** Characters. A longer message is no word in passing: it is read from the record. */
const LONGEST = 20_000;

type Noting = Pick<Ports, "sessions" | "meter">;

const onTheWay = new WeakMap<Sessions, Set<Promise<unknown>>>();

/**
 * Notes what was stored in its sessions. Nobody waits for it: the record has it, and what comes after an erasure that it was
 * stored before is barred by its revision.
 */
export function noteTurns(
  { sessions, meter }: Noting,
  { project, user }: Scope,
  messages: readonly Message[],
  revision: number,
): void {
  if (!sessions) return;
  const mine = onTheWay.get(sessions) ?? new Set();
  onTheWay.set(sessions, mine);
  for (const [session, turns] of bySession(messages)) {
    const noting = ifThere({ ...(meter ? { meter } : {}) }, "sessions", () =>
      sessions.append({ project, user, session }, turns.slice(-SESSION_MESSAGES), { revision }),
    ).finally(() => mine.delete(noting));
    mine.add(noting);
  }
}

/** Resolves when nothing is on its way any more. */
export async function turnsNoted({ sessions }: Pick<Ports, "sessions">): Promise<void> {
  if (sessions) await Promise.all(onTheWay.get(sessions) ?? []);
}

/**
 * The messages that a session is known to have had last, as the record has them now: what it has not, or has with other words,
 * is left out.
 */
export async function rememberedTurns(
  ports: Noting,
  { project, user }: Scope,
  session: string | undefined,
  { messages }: Pick<UserState, "messages">,
): Promise<Message[]> {
  const { sessions } = ports;
  if (!sessions || session === undefined) return [];
  const turns = await ifThere(ports, "sessions", () =>
    sessions.recent({ project, user, session }, { limit: SESSION_MESSAGES }),
  );
  return (turns ?? []).flatMap(({ id, content }) => {
    const message = messages.get(id);
    return message && message.session === session && message.content === content ? [message] : [];
  });
}

function bySession(messages: readonly Message[]): Map<string, SessionTurn[]> {
  const found = new Map<string, SessionTurn[]>();
  for (const { id, session, role, name, content, at, undone } of messages) {
    if (session === undefined || undone || content === "" || content.length > LONGEST) continue;
    const turns = found.get(session) ?? [];
    turns.push({ id, role, ...(name === undefined ? {} : { name }), content, at });
    found.set(session, turns);
  }
  return found;
}
