import type { Message } from "../domain/message.ts";
import type { InputMessage, NewMemory, ShownMemory } from "../engine/surface.ts";
import { MemoryError } from "../errors.ts";
import { linesOf, objectOf } from "./lines.ts";

/** The messages of an export of ours, with their ids, times and sessions. */
export async function* readKeepsake(path: string): AsyncIterable<InputMessage> {
  for await (const line of entries(path)) {
    if (line.type !== "message") continue;
    const { id, role, content, parts, name, at, session, metadata } = line.message as Message;
    yield {
      id,
      role,
      content: parts ?? content,
      at,
      ...(name === undefined ? {} : { name }),
      ...(session === undefined ? {} : { session }),
      ...(metadata === undefined ? {} : { metadata }),
    };
  }
}

/** The memories of an export that no message tells: those put in by hand. */
export async function* readAddedMemories(path: string): AsyncIterable<NewMemory> {
  for await (const line of entries(path)) {
    if (line.type !== "memory") continue;
    const { text, kind, claim, confidence, importance, metadata, at, status, sources, expiresAt } =
      line.memory as ShownMemory;
    if (status !== "current" || sources.length > 0) continue;
    yield {
      text,
      kind,
      confidence,
      importance,
      at,
      ...(claim === undefined ? {} : { claim }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
  }
}

async function* entries(path: string): AsyncIterable<{ readonly [field: string]: unknown }> {
  let isFirst = true;
  for await (const { number, text } of linesOf(path)) {
    const line = objectOf(text, number);
    if (isFirst && (line.type !== "keepsake" || line.version !== 1)) {
      throw new MemoryError(
        "invalid_input",
        "the file is no export of this version: its first line must say so.",
      );
    }
    isFirst = false;
    yield line;
  }
}
