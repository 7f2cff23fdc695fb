import type { Source } from "../../domain/recall.ts";
import type { ShownMemory } from "../../engine/api/listing-types.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import type { StoredMessage } from "../../engine/api/session-types.ts";
import { sanitizeForPrompt } from "../../engine/prompt-block.ts";
import { isMemoryError } from "../../errors.ts";
import type { ToolCall } from "../tool.ts";

/** What is known of one id: a memory with its sources, or a message word for word. */
export interface Details {
  readonly id: string;
  readonly type: "memory" | "message";
  /** Day of the statement. */
  readonly at: string;
  readonly kind?: string;
  readonly status?: string;
  /** Since when it is outdated. */
  readonly until?: string;
  /** The memory that replaced it. */
  readonly replaced_by?: string;
  readonly said_by?: string;
  readonly session?: string;
  readonly text: string;
  /** The words that a memory comes from, with the ids of their messages. */
  readonly sources?: readonly { readonly message: string; readonly at: string; readonly quote: string }[];
}

type DetailsCall = Pick<ToolCall, "memory" | "promptGuard" | "signal">;

/** Gives the details of a memory, a message or a passage; undefined for an id that is unknown or erased. */
export async function findDetails(call: DetailsCall, id: string): Promise<Details | undefined> {
  const memory = await orUndefined(call.memory.get(id, { signal: call.signal }));
  if (memory) return memory.quarantined ? undefined : toMemoryDetails(call, memory);
  // The id of a passage is that of its message, and a number.
  const message = await orUndefined(findMessage(call.memory, id.replace(/#\d+$/, "")));
  return message && toMessageDetails(call, message);
}

function findMessage(memory: ScopedMemory, id: string): Promise<StoredMessage> {
  return memory.message(id);
}

async function orUndefined<Found>(search: Promise<Found>): Promise<Found | undefined> {
  try {
    return await search;
  } catch (error) {
    if (isMemoryError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}

function toMemoryDetails({ promptGuard }: DetailsCall, memory: ShownMemory): Details {
  const { id, at, kind, status, validTo, supersededBy, sources } = memory;
  return {
    id,
    type: "memory",
    at: at.slice(0, 10),
    kind,
    status,
    ...(validTo === undefined ? {} : { until: validTo.slice(0, 10) }),
    ...(supersededBy === undefined ? {} : { replaced_by: supersededBy }),
    text: sanitizeForPrompt(memory, promptGuard),
    sources: sources.map((source) => ({
      message: source.message,
      at: source.at.slice(0, 10),
      quote: sanitizeQuote(source, { promptGuard }),
    })),
  };
}

function sanitizeQuote(source: Source, { promptGuard }: Pick<ToolCall, "promptGuard">): string {
  return sanitizeForPrompt({ type: "passage", text: source.quote, sources: [source] }, promptGuard);
}

function toMessageDetails({ promptGuard }: DetailsCall, message: StoredMessage): Details {
  const { id, at, role, name, session, content } = message;
  return {
    id,
    type: "message",
    at: at.slice(0, 10),
    said_by: sanitizeForPrompt({ text: name ?? role }, promptGuard),
    ...(session === undefined ? {} : { session: sanitizeForPrompt({ text: session }, promptGuard) }),
    text: sanitizeForPrompt({ type: "passage", text: content, sources: [{ role }] }, promptGuard),
  };
}
