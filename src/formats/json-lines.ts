import { createHash } from "node:crypto";
import type { Message } from "../domain/message.ts";
import type { InputMessage, NewMemory, ShownMemory } from "../engine/api.ts";
import { invalid } from "../errors.ts";
import {
  type ImportedMessage,
  type ImportSource,
  isObjectValue,
  type NumberedLine,
  parseObject,
  readLines,
  toInputMessage,
} from "./import-source.ts";

/**
 * Messages as JSON lines: `{ id?, role?, content, name?, at?, session?, metadata? }`; other fields are passed over. A
 * line without an id gets one from what it says, wherever it stands, so that the same lines again add nothing. What
 * the fields hold is checked where messages are stored.
 */
export async function* readJsonl(source: ImportSource): AsyncIterable<ImportedMessage> {
  const entryOf = createJsonlParser();
  for await (const line of readLines(source)) yield entryOf(line);
}

/** Makes an entry of a line; one maker for all lines of a source, for it numbers those that say the same. */
function createJsonlParser(): (line: NumberedLine) => ImportedMessage {
  const repeats = new Map<string, number>();
  return (line) => {
    const place = `line ${line.number}`;
    const { id, role = "user", content, name, at, session, metadata } = parseObject(line);
    if (content === undefined) throw invalid(`${place} has no content.`);
    const said = hashContent(JSON.stringify([session, at, role, name, content]));
    const repeat = repeats.get(said) ?? 0;
    if (id === undefined) repeats.set(said, repeat + 1);
    const known = id === undefined ? `jsonl-${said}${repeat === 0 ? "" : `-${repeat}`}` : id;
    return { place, message: toInputMessage({ id: known, role, content, name, at, session, metadata }) };
  };
}

function hashContent(said: string): string {
  return createHash("sha256").update(said).digest("hex").slice(0, 32);
}

/** The messages of an export of ours, with their ids, times and sessions. */
export async function* readKeepsakeExport(source: ImportSource): AsyncIterable<ImportedMessage> {
  for await (const { type, place, body } of readExportedLines(source)) {
    const entry = type === "message" ? toExportedMessage(place, body) : undefined;
    if (entry) yield entry;
  }
}

/** Undefined where an erasure has left nothing of what was said. */
function toExportedMessage(place: string, body: ExportedLine["body"]): ImportedMessage | undefined {
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
function toAddedMemory(body: ExportedLine["body"]): NewMemory | undefined {
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

interface ExportedLine {
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
function isKeepsakeExport(line: NumberedLine): boolean {
  const { type, version } = parseObject(line);
  return type === "keepsake" && version === 1;
}

function parseExportedLine(line: NumberedLine): ExportedLine | undefined {
  const { type, ...rest } = parseObject(line);
  const body = rest[String(type)];
  return isObjectValue(body) ? { type, place: `line ${line.number}`, body } : undefined;
}

/** What a line of a stream brings: a message, or a memory that no message tells. */
export interface StreamedImportLine {
  /** For people: "line 12". */
  readonly place: string;
  readonly message?: InputMessage;
  readonly memory?: NewMemory;
}

/** Messages as JSON lines, or an export of ours, whose first line says so; in one pass, one line held at a time. */
export async function* readImportStream(source: ImportSource): AsyncIterable<StreamedImportLine> {
  const entryOf = createJsonlParser();
  let isOurs: boolean | undefined;
  for await (const line of readLines(source)) {
    isOurs ??= isKeepsakeExport(line);
    if (!isOurs) {
      yield entryOf(line);
      continue;
    }
    const exported = parseExportedLine(line);
    if (!exported) continue;
    const { type, place, body } = exported;
    const entry = type === "message" ? toExportedMessage(place, body) : undefined;
    if (entry) yield entry;
    const memory = type === "memory" ? toAddedMemory(body) : undefined;
    if (memory) yield { place, memory };
  }
}
