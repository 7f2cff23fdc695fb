import { checkCount, checkName } from "../domain/limits.ts";
import type { Message } from "../domain/message.ts";
import type { Scope } from "../domain/scope.ts";
import { toLocalTime } from "../domain/time.ts";
import { invalid, MemoryError } from "../errors.ts";
import { compareNewestFirst, findAfterCursor, toCursor } from "./paging.ts";
import type { Ports } from "./ports.ts";
import type { Page, PageOptions, Session, SessionMessage, SessionSummary } from "./surface.ts";

/** The user's sessions, the one that was last spoken in first. */
export async function listSessions(
  ports: Pick<Ports, "states">,
  scope: Scope,
  options: PageOptions = {},
): Promise<Page<SessionSummary>> {
  options.signal?.throwIfAborted();
  const limit = checkCount(options.limit ?? 50, "limit", 1, 1000);
  const { messages } = await ports.states.of(scope);
  const all = [...summarizeSessions(messages.values()).values()].sort((one, other) =>
    compareNewestFirst(toPageKey(one), toPageKey(other)),
  );
  const from = options.cursor === undefined ? 0 : findAfterCursor(all.map(toPageKey), options.cursor);
  const items = all.slice(from, from + limit);
  const last = items.at(-1);
  return {
    items,
    total: all.length,
    ...(last && from + limit < all.length ? { cursor: toCursor(toPageKey(last)) } : {}),
  };
}

/** The messages of a session in the order in which they were stored. `not_found` where nothing of it is there. */
export async function getSession(
  ports: Pick<Ports, "states">,
  scope: Scope,
  id: string,
  options: PageOptions = {},
): Promise<Session> {
  options.signal?.throwIfAborted();
  const limit = checkCount(options.limit ?? 50, "limit", 1, 1000);
  const after = options.cursor === undefined ? 0 : parseTurnCursor(options.cursor);
  const { messages } = await ports.states.of(scope);
  const wanted = checkName(id, "session");
  const own = [...messages.values()].filter((message) => message.session === wanted && isPresent(message));
  if (own.length === 0) throw new MemoryError("not_found", "there is no such session.");
  const rest = own.filter(({ turn }) => turn > after);
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return {
    id: wanted,
    items: items.map(toSessionMessage),
    total: own.length,
    ...(last && rest.length > limit ? { cursor: String(last.turn) } : {}),
  };
}

function summarizeSessions(messages: Iterable<Message>): Map<string, SessionSummary> {
  const found = new Map<string, SessionSummary>();
  for (const message of messages) {
    const { session: id, at } = message;
    if (id === undefined || !isPresent(message)) continue;
    const { messages: count, from, to } = found.get(id) ?? { messages: 0, from: at, to: at };
    found.set(id, { id, messages: count + 1, from: at < from ? at : from, to: at > to ? at : to });
  }
  return found;
}

/** Neither taken back nor erased. */
function isPresent({ undone, content, parts }: Message): boolean {
  return !undone && (content !== "" || parts !== undefined);
}

function toPageKey({ id, to }: SessionSummary): { at: string; id: string } {
  return { at: to, id };
}

function toSessionMessage({
  id,
  turn,
  role,
  name,
  content,
  parts,
  at,
  zone,
  metadata,
}: Message): SessionMessage {
  return {
    id,
    turn,
    role,
    ...(name === undefined ? {} : { name }),
    content,
    ...(parts ? { parts } : {}),
    at: toLocalTime(at, zone),
    ...(metadata ? { metadata } : {}),
  };
}

function parseTurnCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw invalid("the cursor is none that a list gave.");
}
