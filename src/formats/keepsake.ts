import type { Message } from "../domain/message.ts";
import type { NewMemory, ShownMemory } from "../engine/surface.ts";
import { invalid } from "../errors.ts";
import { type ImportedMessage, toInputMessage } from "./entry.ts";
import { type ImportSource, isObjectValue, type NumberedLine, parseObject, readLines } from "./lines.ts";

/** The messages of an export of ours, with their ids, times and sessions. */
export async function* readKeepsakeExport(source: ImportSource): AsyncIterable<ImportedMessage> {
  for await (const { type, place, body } of readExportedLines(source)) {
    const entry = type === "message" ? toExportedMessage(place, body) : undefined;
    if (entry) yield entry;
  }
}

/** Undefined where an erasure has left nothing of what was said. */
export function toExportedMessage(place: string, body: ExportedLine["body"]): ImportedMessage | undefined {
  const { id, role, content, parts, name, at, session, metadata } = body as unknown as Message;
  if (content === "" && !parts) return undefined;
  return {
    place,
    message: toInputMessage({ id, role, content: parts ?? content, name, at, session, metadata }),
  };
}

/** The memories of an export that no message tells: those put in by hand, and hold. */
export async function* readAddedMemories(source: ImportSource): AsyncIterable<NewMemory> {
  for await (const { type, body } of readExportedLines(source)) {
    const memory = type === "memory" ? toAddedMemory(body) : undefined;
    if (memory) yield memory;
  }
}

/** Undefined where messages tell it, or it does not hold. */
export function toAddedMemory(body: ExportedLine["body"]): NewMemory | undefined {
  const memory = body as unknown as ShownMemory;
  if (memory.status !== "current" || !Array.isArray(memory.sources) || memory.sources.length > 0)
    return undefined;
  const { text, kind, claim, confidence, importance, metadata, at, validFrom, expiresAt } = memory;
  return {
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

export interface ExportedLine {
  readonly type: unknown;
  readonly place: string;
  /** What the line is about: the object under the name of its type. */
  readonly body: { readonly [field: string]: unknown };
}

async function* readExportedLines(source: ImportSource): AsyncIterable<ExportedLine> {
  let isFirst = true;
  for await (const line of readLines(source)) {
    if (isFirst && !isKeepsakeExport(line)) {
      throw invalid("the file is no export that this version knows: its first line must say so.");
    }
    isFirst = false;
    const exported = parseExportedLine(line);
    if (exported) yield exported;
  }
}

/** Whether the first line of a source says that an export of ours follows. */
export function isKeepsakeExport(line: NumberedLine): boolean {
  const { type, version } = parseObject(line);
  return type === "keepsake" && version === 1;
}

export function parseExportedLine(line: NumberedLine): ExportedLine | undefined {
  const { type, ...rest } = parseObject(line);
  const body = rest[String(type)];
  return isObjectValue(body) ? { type, place: `line ${line.number}`, body } : undefined;
}
