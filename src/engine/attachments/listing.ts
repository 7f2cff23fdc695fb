import { createHash } from "node:crypto";
import { type AttachmentPart, hasBytes, listAttachmentParts } from "../../domain/attachment.ts";
import { checkCount, checkName } from "../../domain/limits.ts";
import type { Message } from "../../domain/message.ts";
import { isOfAgent, type Scope } from "../../domain/scope.ts";
import { toLocalTime } from "../../domain/time.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { AttachmentListOptions, KeptAttachment, ShownAttachment } from "../api/attachment-types.ts";
import type { Page } from "../api/listing-types.ts";
import type { Ports } from "../ports.ts";

/** The attachments of a user's messages, newest first. One that came twice is listed twice. */
export async function listAttachments(
  ports: Pick<Ports, "states">,
  scope: Scope,
  options: AttachmentListOptions = {},
): Promise<Page<ShownAttachment>> {
  options.signal?.throwIfAborted();
  const limit = checkCount(options.limit ?? 50, "limit", 1, 1000);
  const { type, session } = options;
  if (type !== undefined && type !== "image" && type !== "audio")
    throw invalid('type must be "image" or "audio".');
  if (session !== undefined) checkName(session, "session");
  const from = options.cursor === undefined ? 0 : parseCursor(options.cursor);
  const all = (await collectAttachments(ports, scope)).filter(
    (one) => (type === undefined || one.type === type) && (session === undefined || one.session === session),
  );
  const rest = all.filter(({ position }) => from === 0 || position < from);
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return {
    items: items.map(({ position: _position, ...shown }) => shown),
    total: all.length,
    ...(last && rest.length > limit ? { cursor: String(last.position) } : {}),
  };
}

/**
 * Gives an attachment, with its bytes if they are kept. Throws `not_found` if no message refers to it, and `corrupt` if the
 * bytes are not those that were stored.
 */
export async function getAttachment(
  ports: Pick<Ports, "states" | "store">,
  scope: Scope,
  id: string,
): Promise<KeptAttachment> {
  const wanted = checkName(id, "id");
  const found = (await collectAttachments(ports, scope)).find((one) => one.id === wanted);
  if (!found) throw new MemoryError("not_found", "attachment not found.");
  const { position: _position, ...shown } = found;
  if (shown.size === undefined) return shown;
  const stored = await ports.store.attachments?.read(scope, wanted);
  // Erased since the state was read.
  if (!stored) throw new MemoryError("not_found", "attachment not found.");
  if (createHash("sha256").update(stored.bytes).digest("hex") !== wanted)
    throw new MemoryError("corrupt", "the database is damaged: an attachment differs from what was stored.");
  return { ...shown, bytes: stored.bytes };
}

/** Attachments in one message have positions next to each other, so that a cursor can name one. */
const PER_TURN = 100;

async function collectAttachments(
  { states }: Pick<Ports, "states">,
  scope: Scope,
): Promise<(ShownAttachment & { readonly position: number })[]> {
  const { messages } = await states.of(scope);
  const descriptions = new Map<string, AttachmentPart>();
  const found: { message: Message; part: AttachmentPart; position: number }[] = [];
  for (const message of messages.values()) {
    if (message.undone || !message.parts || !isOfAgent(scope, message)) continue;
    for (const [i, part] of listAttachmentParts(message).entries()) {
      if (part.of === undefined) found.push({ message, part, position: message.turn * PER_TURN + i });
      else descriptions.set(part.id, part);
    }
  }
  return found.reverse().map(({ message, part, position }) => {
    return { ...toShown(message, part, descriptions.get(part.id)), position };
  });
}

function toShown(
  { id: message, session, at, zone }: Message,
  part: AttachmentPart,
  described: AttachmentPart | undefined,
): ShownAttachment {
  const { type, id, mediaType, size, url } = part;
  const description = part.description ?? described?.description;
  return {
    id,
    type,
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(size === undefined ? {} : { size }),
    ...(url === undefined ? {} : { url }),
    ...(description === undefined ? {} : { description }),
    ...(part.description === undefined && described ? { describedBy: "model" as const } : {}),
    isKept: hasBytes(part),
    message,
    ...(session === undefined ? {} : { session }),
    at: toLocalTime(at, zone),
  };
}

function parseCursor(cursor: string): number {
  if (/^[1-9]\d{0,15}$/.test(cursor)) return Number(cursor);
  throw invalid("the cursor is invalid: pass one that a listing returned.");
}
