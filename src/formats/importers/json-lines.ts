import { createHash } from "node:crypto";
import { ASSOCIATION_TYPES } from "../../domain/change-set.ts";
import { isUndone } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ShownMemory } from "../../engine/api/listing-types.ts";
import type { ImportEntry } from "../../engine/api/transfer-types.ts";
import { invalid } from "../../errors.ts";
import { toMessageState } from "./entries.ts";
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
 * Reads a Keepsake export: its messages, its memories as they are stored there, and the associations. Its messages are read
 * already, because what was learnt from them is among the memories. It reports everything else as passed over.
 */
export async function* readKeepsakeExport(source: ImportSource): AsyncIterable<ImportEntry> {
  for await (const line of readExportedLines(source)) yield toEntry(line);
}

/** Why lines of some types are passed over. */
const PASSED_OVER: ReadonlyMap<unknown, string> = new Map([
  ["session", "the state of a session, which ends by itself after a day"],
  ["grant", "a grant: consent is given anew"],
  ["group", "a group of users: it is made anew"],
]);

function toEntry({ type, place, body }: ExportedLine): ImportEntry {
  if (!body) return { place, skipped: "a line of an unknown shape" };
  if (type === "message") return toExportedMessage(place, body);
  if (type === "memory") return toExportedMemory(place, body);
  if (type === "link") return toExportedLink(place, body);
  return { place, skipped: PASSED_OVER.get(type) ?? "a line of an unknown type" };
}

type ExportedBody = { readonly [field: string]: unknown };

function toExportedMessage(place: string, body: ExportedBody): ImportEntry {
  const { id, role, content, parts, name, at, session, metadata, agent, digest, heard } =
    body as unknown as Message;
  if (content === "" && !parts) return { place, skipped: "a message whose words were erased" };
  return {
    place,
    message: toInputMessage({ id, role, content: parts ?? content, name, at, session, metadata }),
    isRead: true,
    state: toMessageState({ agent, digest, heard }),
  };
}

/** Gives the memory with every field that the export has of it. How it came about is the history, which the export lacks. */
function toExportedMemory(place: string, body: ExportedBody): ImportEntry {
  const memory = body as unknown as ShownMemory;
  if (isUndone(memory)) return { place, skipped: "a memory that was undone" };
  const { sources, ...fields } = memory;
  return {
    place,
    memory: {
      ...fields,
      isExact: true,
      sources: Array.isArray(sources) ? sources : [],
    },
  };
}

function toExportedLink(place: string, { from, to, type: name, strength }: ExportedBody): ImportEntry {
  const type = ASSOCIATION_TYPES.find((one) => one === name);
  if (!type) return { place, skipped: "an association of an unknown type" };
  const isValid =
    typeof from === "string" &&
    typeof to === "string" &&
    from !== to &&
    typeof strength === "number" &&
    strength >= 0 &&
    strength <= 1;
  return isValid
    ? { place, link: { from, to, type, strength } }
    : { place, skipped: "an association of an unknown shape" };
}

interface ExportedLine {
  readonly type: unknown;
  readonly place: string;
  /** The object under the name of the line's type; absent if there is none. */
  readonly body: ExportedBody | undefined;
}

async function* readExportedLines(source: ImportSource): AsyncIterable<ExportedLine> {
  let isFirst = true;
  for await (const line of readLines(source)) {
    if (isFirst && !isKeepsakeExport(line)) {
      throw invalid("the file is not a Keepsake export of a supported version: its first line must say so.");
    }
    if (!isFirst) yield parseExportedLine(line);
    isFirst = false;
  }
}

/** Whether the first line marks a Keepsake export. */
function isKeepsakeExport(line: NumberedLine): boolean {
  const { type, version } = parseObject(line);
  return type === "keepsake" && version === 1;
}

function parseExportedLine(line: NumberedLine): ExportedLine {
  const { type, ...rest } = parseObject(line);
  const body = rest[String(type)];
  return { type, place: `line ${line.number}`, body: isObjectValue(body) ? body : undefined };
}
