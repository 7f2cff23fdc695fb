import type { Message } from "../domain/message.ts";
import type { NewMemory, ShownMemory } from "../engine/surface.ts";
import { invalid } from "../errors.ts";
import { type Entry, messageOf } from "./entry.ts";
import { isObject, linesOf, objectOf } from "./lines.ts";

/** The messages of an export of ours, with their ids, times and sessions. */
export async function* readKeepsake(path: string): AsyncIterable<Entry> {
  for await (const { type, place, body } of linesOfExport(path)) {
    if (type !== "message") continue;
    const { id, role, content, parts, name, at, session, metadata } = body as unknown as Message;
    // An erasure may have left nothing of what was said.
    if (content === "" && !parts) continue;
    yield { place, message: messageOf({ id, role, content: parts ?? content, name, at, session, metadata }) };
  }
}

/** The memories of an export that no message tells: those put in by hand, and hold. */
export async function* readAddedMemories(path: string): AsyncIterable<NewMemory> {
  for await (const { type, body } of linesOfExport(path)) {
    if (type !== "memory") continue;
    const memory = body as unknown as ShownMemory;
    if (memory.status !== "current" || !Array.isArray(memory.sources) || memory.sources.length > 0) continue;
    const { text, kind, claim, confidence, importance, metadata, at, validFrom, expiresAt } = memory;
    yield {
      text,
      kind,
      confidence,
      importance,
      at,
      ...(claim === undefined ? {} : { claim }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(validFrom === undefined ? {} : { validFrom }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
  }
}

interface ExportedLine {
  readonly type: unknown;
  readonly place: string;
  /** What the line is about: the object under the name of its type. */
  readonly body: { readonly [field: string]: unknown };
}

async function* linesOfExport(path: string): AsyncIterable<ExportedLine> {
  let isFirst = true;
  for await (const line of linesOf(path)) {
    const { type, version, ...rest } = objectOf(line);
    if (isFirst && (type !== "keepsake" || version !== 1)) {
      throw invalid("the file is no export that this version knows: its first line must say so.");
    }
    isFirst = false;
    const body = rest[String(type)];
    if (isObject(body)) yield { type, place: `line ${line.number}`, body };
  }
}
