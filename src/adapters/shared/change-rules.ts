import type { ChangeSet, ErasureChange, MemoryLink } from "../../domain/change-set.ts";
import type { Message } from "../../domain/message.ts";

/** The message with its changed digest. */
export function applyDigestChange(
  message: Message,
  change: NonNullable<ChangeSet["digests"]>[number],
): Message {
  const { undone: before, heard: heardBefore, ...rest } = message;
  const undone = change.undone ?? before;
  const heard = change.digest === "pending" && (change.heard ?? heardBefore);
  return { ...rest, digest: change.digest, ...(heard ? { heard } : {}), ...(undone ? { undone } : {}) };
}

/** The message after an erasure. */
export function applyMessageErasure(
  { parts: _parts, metadata, ...message }: Message,
  { content, parts, keepMetadata }: ErasureChange["messages"][number],
): Message {
  return {
    ...message,
    content,
    ...(keepMetadata && metadata ? { metadata } : {}),
    ...(parts ? { parts } : {}),
  };
}

// Databases order texts by UTF-8 bytes, the store by UTF-16 code units, like JavaScript.

export function compareStrings(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** The order of links. */
export function compareLinks(one: MemoryLink, other: MemoryLink): number {
  return (
    compareStrings(one.from, other.from) ||
    compareStrings(one.type, other.type) ||
    compareStrings(one.to, other.to)
  );
}
