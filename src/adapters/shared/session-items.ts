import type { Part, Role } from "../../domain/message.ts";
import { invalid, MemoryError } from "../../errors.ts";

/** A message that holds an item of a framework, or one that came in through another door. */
export interface StoredItemMessage {
  readonly role: Role;
  readonly content: string | readonly Part[];
  readonly parts?: readonly Part[];
}

/** The calls of a user's memory with which a framework keeps a conversation. `memory.scope({ user })` has them. */
export interface SessionMemory {
  remember(messages: readonly StoredItemMessage[], options: { readonly session: string }): Promise<unknown>;
  session(
    id: string,
    options: { readonly limit: number; readonly cursor?: string },
  ): Promise<{
    readonly items: readonly (StoredItemMessage & { readonly id: string })[];
    readonly cursor?: string;
  }>;
  forget(what: { readonly ids: readonly string[] } | { readonly session: string }): Promise<unknown>;
}

/** How the items of a framework are kept in messages. */
export interface ItemFormat {
  /** The type of the part that holds an item, without its texts: these are text parts of the message. */
  readonly partType: string;
  /** Whether a text of an item is words of people, models or tools. `path`: the names of the fields above it. */
  isText(path: readonly string[]): boolean;
  /** Who said an item. */
  toRole(item: object): Role;
  /** Makes an item for a message that came in through another door. */
  toItem(role: Role, text: string): object;
}

/** Replaces a text that was removed from an item. */
const TAKEN = { keepsake_text: true };
const MAX_DEPTH = 64;
const PAGE_SIZE = 1000;

/**
 * Makes a message of an item. Its texts are the text of the message, so that they are searched and learnt from, and so that
 * an erasure of words reaches them.
 */
export function toItemMessage(item: object, { partType, isText, toRole }: ItemFormat): StoredItemMessage {
  const texts: string[] = [];
  const take = (value: unknown, path: readonly string[]): unknown => {
    if (typeof value !== "string" || value.trim() === "" || !isText(path)) return value;
    texts.push(value);
    return TAKEN;
  };
  const kept = mapLeaves(item, take);
  const parts = texts.map((text) => ({ type: "text", text }));
  return { role: toRole(item), content: [...parts, { type: partType, item: kept }] };
}

/** Gives the item that a message holds. Words that were erased are left out. */
export function fromItemMessage(message: StoredItemMessage, { partType, toItem }: ItemFormat): object {
  const { role, content, parts = [] } = message;
  const held = parts.find(({ type }) => type === partType) as { readonly item?: object } | undefined;
  const texts = parts.flatMap((part) => (part.type === "text" && "text" in part ? [String(part.text)] : []));
  if (!held?.item) return toItem(role, String(content));
  const put = (leaf: unknown): unknown =>
    typeof leaf === "object" && leaf !== null && isTaken(leaf) ? (texts.shift() ?? "") : leaf;
  return mapLeaves(held.item, put) as object;
}

/** Copies a value with other leaves. */
function mapLeaves(
  value: unknown,
  map: (leaf: unknown, path: readonly string[]) => unknown,
  path: readonly string[] = [],
  depth = 0,
): unknown {
  if (typeof value !== "object" || value === null || isTaken(value)) return map(value, path);
  if (depth > MAX_DEPTH) throw invalid(`an item may be nested ${MAX_DEPTH} levels deep.`);
  if (Array.isArray(value)) return value.map((one) => mapLeaves(one, map, path, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, mapLeaves(one, map, [...path, name], depth + 1)]),
  );
}

function isTaken(value: object): boolean {
  return "keepsake_text" in value;
}

/** Reads all messages of a session, oldest first. None for a session that has not begun. */
export async function readSessionMessages(
  memory: Pick<SessionMemory, "session">,
  session: string,
): Promise<(StoredItemMessage & { readonly id: string })[]> {
  const messages: (StoredItemMessage & { readonly id: string })[] = [];
  let cursor: string | undefined;
  do {
    const page = await ignoreMissing(
      memory.session(session, { limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) }),
    );
    messages.push(...(page?.items ?? []));
    cursor = page?.cursor;
  } while (cursor !== undefined);
  return messages;
}

/** Erases a session with what was learnt from it. */
export async function eraseSession(memory: SessionMemory, session: string): Promise<void> {
  await ignoreMissing(memory.forget({ session }));
}

/** A session begins with its first message: before that, it is not found. */
async function ignoreMissing<Value>(call: Promise<Value>): Promise<Value | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof MemoryError && error.code === "not_found") return undefined;
    throw error;
  }
}
