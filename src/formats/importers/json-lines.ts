import { createHash } from "node:crypto";
import { ASSOCIATION_TYPES } from "../../domain/change-set.ts";
import type { Message } from "../../domain/message.ts";
import type { ShownMemory } from "../../engine/api/listing-types.ts";
import type { ImportEntry, ImportedLink, ImportedMemory } from "../../engine/api/transfer-types.ts";
import { invalid } from "../../errors.ts";
import {
  type ImportSource,
  isObjectValue,
  type NumberedLine,
  parseObject,
  readLines,
  toInputMessage,
} from "./import-source.ts";

/**
 * Reads messages from JSON lines: `{ id?, role?, content, name?, at?, session?, metadata? }`. Ignores other fields. A line
 * without an id gets one from its content, so importing the same lines again adds nothing. Storing checks the fields.
 */
export async function* readJsonl(source: ImportSource): AsyncIterable<ImportEntry> {
  const parseLine = createJsonlParser();
  for await (const line of readLines(source)) yield parseLine(line);
}

/** Creates a parser for the lines of one source. It numbers repeated lines, so use one parser for all. */
function createJsonlParser(): (line: NumberedLine) => ImportEntry {
  const repeats = new Map<string, number>();
  return (line) => {
    const place = `line ${line.number}`;
    const { id, role = "user", content, name, at, session, metadata } = parseObject(line);
    if (content === undefined) throw invalid(`${place} has no content.`);
    const hash = hashContent(JSON.stringify([session, at, role, name, content]));
    const repeat = repeats.get(hash) ?? 0;
    if (id === undefined) repeats.set(hash, repeat + 1);
    const known = id === undefined ? `jsonl-${hash}${repeat === 0 ? "" : `-${repeat}`}` : id;
    return { place, message: toInputMessage({ id: known, role, content, name, at, session, metadata }) };
  };
}

function hashContent(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/**
 * Reads a Keepsake export: its messages, the current memories that come from no message, such as those added by hand, and
 * the associations.
 */
export async function* readKeepsakeExport(source: ImportSource): AsyncIterable<ImportEntry> {
  const readLink = createLinkReader();
  for await (const { type, place, body } of readExportedLines(source)) {
    const entry = type === "message" ? toExportedMessage(place, body) : undefined;
    if (entry) yield entry;
    const memory = type === "memory" ? toAddedMemory(body) : undefined;
    if (memory) yield { place, memory };
    const link = readLink(type, body);
    if (link) yield { place, link };
  }
}

/** Gives the message; `undefined` if an erasure left none of its content. */
function toExportedMessage(place: string, body: ExportedLine["body"]): ImportEntry | undefined {
  const { id, role, content, parts, name, at, session, metadata } = body as unknown as Message;
  if (content === "" && !parts) return undefined;
  return {
    place,
    message: toInputMessage({ id, role, content: parts ?? content, name, at, session, metadata }),
  };
}

/** Gives the memory; `undefined` if it comes from messages or is not current. */
function toAddedMemory(body: ExportedLine["body"]): ImportedMemory | undefined {
  const memory = body as unknown as ShownMemory;
  if (memory.status !== "current" || !Array.isArray(memory.sources) || memory.sources.length > 0)
    return undefined;
  const { id, text, kind, claim, confidence, importance, metadata, at, validFrom, expiresAt } = memory;
  return {
    id,
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
  /** The object under the name of the line's type. */
  readonly body: { readonly [field: string]: unknown };
}

async function* readExportedLines(source: ImportSource): AsyncIterable<ExportedLine> {
  let isFirst = true;
  for await (const line of readLines(source)) {
    if (isFirst && !isKeepsakeExport(line)) {
      throw invalid("the file is not a Keepsake export of a supported version: its first line must say so.");
    }
    isFirst = false;
    const exported = parseExportedLine(line);
    if (exported) yield exported;
  }
}

/** Whether the first line marks a Keepsake export. */
function isKeepsakeExport(line: NumberedLine): boolean {
  const { type, version } = parseObject(line);
  return type === "keepsake" && version === 1;
}

function parseExportedLine(line: NumberedLine): ExportedLine | undefined {
  const { type, ...rest } = parseObject(line);
  const body = rest[String(type)];
  return isObjectValue(body) ? { type, place: `line ${line.number}`, body } : undefined;
}

/**
 * Creates a reader of the lines of one export, in order. It names memories by their texts, because an import gives some of
 * them other ids. It gives an association for each line that has a valid one. */
function createLinkReader(): (
  type: unknown,
  body: { readonly [field: string]: unknown },
) => ImportedLink | undefined {
  const texts = new Map<unknown, string>();
  return (lineType, body) => {
    if (lineType === "memory" && body.status === "current" && typeof body.text === "string")
      texts.set(body.id, body.text);
    if (lineType !== "link") return undefined;
    const [from, to] = [texts.get(body.from), texts.get(body.to)];
    const type = ASSOCIATION_TYPES.find((one) => one === body.type);
    const { strength } = body;
    const isValid = typeof strength === "number" && strength >= 0 && strength <= 1;
    return from !== undefined && to !== undefined && from !== to && type && isValid
      ? { from, to, type, strength }
      : undefined;
  };
}
