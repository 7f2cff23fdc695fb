import { findDescriptionSpans, listAttachmentParts } from "../../domain/attachment.ts";
import type { Memory, SourceSpan } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Source } from "../../domain/recall.ts";
import { MemoryError } from "../../errors.ts";
import type { UserState } from "./user-state.ts";

/** The memory with an id. Throws `not_found` if there is none. */
export function requireMemory(state: Pick<UserState, "memories">, id: string): Memory {
  const memory = state.memories.get(id);
  if (!memory)
    throw new MemoryError("not_found", "no memory has this id. List the memories to see the existing ones.");
  return memory;
}

/** The sources of a memory in full, without those whose message is gone. */
export function toSources(state: Pick<UserState, "messages">, sources: readonly SourceSpan[]): Source[] {
  return sources.flatMap((source) => {
    const message = state.messages.get(source.message);
    if (!message) return [];
    const { role, at, session, name } = message;
    const attachment = findDescribed(message, source);
    return [
      {
        ...source,
        role,
        at,
        ...(session === undefined ? {} : { session }),
        ...(name === undefined ? {} : { name }),
        ...(attachment === undefined ? {} : { attachment }),
      },
    ];
  });
}

/** The id of the attachment whose description contains the words. */
function findDescribed(message: Message, { start, end }: SourceSpan): string | undefined {
  if (!message.parts) return undefined;
  return listAttachmentParts(message).find((part) =>
    findDescriptionSpans(message.content, part).some((span) => span.start <= start && end <= span.end),
  )?.id;
}
