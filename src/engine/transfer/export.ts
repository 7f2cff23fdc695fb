import { hasBytes, isAttachmentPart } from "../../domain/attachment.ts";
import type { Message, Part } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { toLocalTime } from "../../domain/time.ts";
import { MemoryError } from "../../errors.ts";
import { toShownMemory, type UsedMemoryPorts, withUsage } from "../admin/listings.ts";
import { listSessionStates } from "../admin/session-states.ts";
import type { ExportLine } from "../api/transfer-types.ts";
import { isPresent } from "../associations/links.ts";
import type { Ports } from "../ports.ts";
import { listGrants, listGroups } from "../sharing/grants.ts";

/** Memories whose use is read at once. */
const EXPORT_SLICE = 500;

/** All data of the user as JSON lines: a header, the messages by turn, the memories with their sources. */
export async function* exportLines(
  ports: Pick<Ports, "states" | "sessions" | "meter" | "store" | "ids"> & UsedMemoryPorts,
  scope: Scope,
): AsyncIterable<ExportLine> {
  const state = await ports.states.of(scope);
  const exportedAt = ports.clock().toISOString();
  yield { type: "keepsake", version: 1, user: scope.user, exportedAt };
  for (const message of state.messages.values()) {
    if (message.undone || (message.content === "" && !message.parts)) continue;
    const shown = { ...message, at: toLocalTime(message.at, message.zone) };
    yield { type: "message", message: await withBytes(ports, scope, shown) };
  }
  const memories = [...state.memories.values()];
  for (let from = 0; from < memories.length; from += EXPORT_SLICE) {
    const shown = memories
      .slice(from, from + EXPORT_SLICE)
      // Content that was erased meanwhile is not exported.
      .flatMap(({ id }) => state.memories.get(id) ?? [])
      .filter(({ expiresAt }) => expiresAt === undefined || expiresAt > exportedAt)
      .map((memory) => toShownMemory(state, memory));
    for (const { decayScore: _now, ...memory } of await withUsage(ports, scope, shown))
      yield { type: "memory", memory };
  }
  for (const link of state.links) {
    if ([link.from, link.to].every((id) => isPresent(state.memories.get(id), exportedAt)))
      yield { type: "link", link };
  }
  for (const session of await listSessionStates(ports, scope)) yield { type: "session", session };
  yield* exportShares(ports, scope);
}

/** The message with the bytes of its attachments in base64, so that an import has them. */
async function withBytes({ store }: Pick<Ports, "store">, scope: Scope, message: Message): Promise<Message> {
  if (!message.parts?.some(isAttachmentPart)) return message;
  const parts: Part[] = [];
  for (const part of message.parts) {
    const isKept = isAttachmentPart(part) && hasBytes(part) && part.of === undefined;
    const stored = isKept && (await store.attachments?.read(scope, part.id));
    parts.push(stored ? { ...part, data: Buffer.from(stored.bytes).toString("base64") } : part);
  }
  return { ...message, parts };
}

/** The grants and groups of a user, with those that have ended. */
async function* exportShares(
  ports: Pick<Ports, "store" | "clock" | "ids">,
  scope: Scope,
): AsyncIterable<ExportLine> {
  if (!ports.store.sharing) return;
  const { given, received } = await listGrants(ports, scope, { all: true });
  for (const grant of [...given, ...received]) yield { type: "grant", grant };
  for (const group of await listGroups(ports, scope)) yield { type: "group", group };
}

/** Log entries that are read at once. */
const LOG_PAGE = 100;

/**
 * The pieces of an export that is collected first and written later. Throws `conflict` if something is erased meanwhile, so
 * that nothing erased is given.
 */
export async function* stopAtErasure<Piece>(
  { store }: Pick<Ports, "store">,
  scope: Scope,
  pieces: AsyncIterable<Piece>,
): AsyncGenerator<Piece, void, void> {
  let seen = await store.revision(scope);
  for await (const piece of pieces) {
    const revision = await store.revision(scope);
    if (revision !== seen && (await hasErasedSince(store, scope, seen)))
      throw new MemoryError(
        "conflict",
        "something was erased while the export was written, so it was stopped. Export again.",
      );
    seen = revision;
    yield piece;
  }
}

async function hasErasedSince(store: Ports["store"], scope: Scope, revision: number): Promise<boolean> {
  let before: number | undefined;
  do {
    const page = await store.log(scope, { ...(before === undefined ? {} : { before }), limit: LOG_PAGE });
    const newer = page.filter((entry) => entry.revision > revision);
    if (newer.some(({ cause }) => cause === "forget")) return true;
    before = newer.length < LOG_PAGE ? undefined : newer.at(-1)?.revision;
  } while (before !== undefined);
  return false;
}
