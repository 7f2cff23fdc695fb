import { statSync } from "node:fs";
import { invalid, isMemoryError } from "../errors.ts";
import { isMem0Memory } from "./importers/agent-memories.ts";
import { isCharacterCard, isPng } from "./importers/character-card.ts";
import { isChatGptConversation } from "./importers/chatgpt.ts";
import { isClaudeConversation, isClaudeMemory } from "./importers/claude.ts";
import { isLocomoSample, isLongMemEvalQuestion } from "./importers/datasets.ts";
import { isGeminiEvent } from "./importers/gemini.ts";
import { type ImportSource, isObjectValue, readBytes, readLines } from "./importers/import-source.ts";
import {
  chooseElements,
  PASS_LARGE_ELEMENTS,
  PASS_TOO_LARGE,
  type PathChoice,
  readJsonItems,
} from "./importers/json-stream.ts";
import { isTelegramMessage } from "./importers/telegram.ts";
import { isWhatsAppLine } from "./importers/whatsapp.ts";
import type { ReadFormat } from "./read-format.ts";

/** Bytes that show what kind of file it is. */
const HEAD_BYTES = 16;
const ZIP_START = "PK\u0003\u0004";

/** Recognises a source's format from its content. Throws `invalid_input` if it is unknown. */
export async function recogniseFormat(source: ImportSource): Promise<ReadFormat> {
  const isFolder = typeof source === "string" && statSync(source, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder) return recogniseFolder(source);
  const head = await readHead(source);
  const start = head.toString("latin1").trimStart();
  if (start === "") throw invalid("the file is empty.");
  if (isPng(head)) return "character";
  if (start.startsWith(ZIP_START))
    throw invalid("this is a ZIP archive: unpack it, and import the file with the conversations in it.");
  const format = await recogniseText(source, start.charAt(0));
  if (format) return format;
  throw invalid("unrecognised format. Name one with --format; `keepsake import --help` lists them.");
}

function recogniseFolder(path: string): ReadFormat {
  return statSync(`${path}/memory-store.json`, { throwIfNoEntry: false }) ? "pam" : "longmemeval";
}

async function readHead(source: ImportSource): Promise<Buffer> {
  let head = Buffer.alloc(0);
  for await (const bytes of readBytes(source)) {
    head = Buffer.concat([head, bytes.subarray(0, HEAD_BYTES)]);
    if (head.length >= HEAD_BYTES && head.toString("latin1").trim() !== "") break;
    if (head.toString("latin1").trim() === "") head = Buffer.alloc(0);
  }
  return head;
}

async function recogniseText(source: ImportSource, first: string): Promise<ReadFormat | undefined> {
  if (first === "{") return recogniseObject(source);
  // A message of WhatsApp may begin with a bracket, too.
  if (await isWhatsApp(source)) return "whatsapp";
  return first === "[" ? recogniseList(source) : undefined;
}

/** Lines before the first message of a chat. */
const MOST_LINES_BEFORE = 5;

async function isWhatsApp(source: ImportSource): Promise<boolean> {
  try {
    let lines = 0;
    for await (const { text } of readLines(source)) {
      if (isWhatsAppLine(text)) return true;
      lines += 1;
      if (lines > MOST_LINES_BEFORE) return false;
    }
  } catch (error) {
    if (!isMemoryError(error) || error.code !== "invalid_input") throw error;
  }
  return false;
}

const ELEMENTS: readonly (readonly [ReadFormat, (value: unknown) => boolean])[] = [
  ["chatgpt", isChatGptConversation],
  ["claude", (value) => isClaudeConversation(value) || isClaudeMemory(value)],
  ["gemini", isGeminiEvent],
  ["locomo", isLocomoSample],
  ["longmemeval", isLongMemEvalQuestion],
  ["mem0", isMem0Memory],
];

/** A list is what its first element is that is not too large to be read. */
async function recogniseList(source: ImportSource): Promise<ReadFormat | undefined> {
  for await (const { value, isTooLarge } of readJsonItems(source, chooseElements, PASS_TOO_LARGE))
    if (!isTooLarge) return ELEMENTS.find(([, isElement]) => isElement(value))?.[0];
  return undefined;
}

/** What is known of an object so far: its fields, and the first values of some of them. */
interface ObjectShape {
  readonly fields: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, unknown>;
}

const ENTERED = ["", "messages", "results", "memories", "chats", "chats.list", "chats.list[]"];
const GIVEN = ["type", "schema", "spec", "chats.list[].name", "messages[]", "results[]", "memories[]"];

function chooseShape(path: string): PathChoice {
  if (ENTERED.includes(path)) return "enter";
  return GIVEN.includes(path) ? "give" : "pass";
}

async function recogniseObject(source: ImportSource): Promise<ReadFormat | undefined> {
  const shape = { fields: new Set<string>(), values: new Map<string, unknown>() };
  const choose = (path: string): PathChoice => {
    shape.fields.add(path);
    return chooseShape(path);
  };
  try {
    for await (const { path, value, isTooLarge } of readJsonItems(source, choose, PASS_LARGE_ELEMENTS)) {
      if (isTooLarge) continue;
      shape.values.set(path, value);
      const format = judgeShape(shape);
      if (format) return format;
    }
  } catch (error) {
    if (!isMemoryError(error) || error.code !== "invalid_input") throw error;
    // The first of several lines ends before the source does. Reading lines reports an error in the first.
    return judgeShape(shape) ?? judgeFields(shape) ?? (shape.fields.size <= 1 ? "jsonl" : undefined);
  }
  return judgeFields(shape);
}

/** What a value tells. */
function judgeShape({ fields, values }: ObjectShape): ReadFormat | undefined {
  if (values.get("type") === "keepsake") return "keepsake";
  const schema = values.get("schema");
  if (typeof schema === "string" && schema.startsWith("portable-ai-memory")) return "pam";
  const spec = values.get("spec");
  if (isCharacterCard({ spec, data: {} })) return "character";
  if (values.has("chats.list[].name")) return "telegram";
  if (isMem0Memory(values.get("results[]")) || isMem0Memory(values.get("memories[]"))) return "mem0";
  const message = values.get("messages[]");
  if (isTelegramMessage(message)) return "telegram";
  if (!isObjectValue(message) || typeof message.role !== "string") return undefined;
  return fields.has("agent_type") || fields.has("core_memory") ? "letta" : "openai";
}

/** What the names of the fields tell, once all are known. */
function judgeFields({ fields }: ObjectShape): ReadFormat | undefined {
  const has = (...names: readonly string[]): boolean => names.every((name) => fields.has(name));
  if (has("agent_type") || has("agents", "blocks") || has("core_memory")) return "letta";
  if (has("haystack_session_ids", "haystack_dates")) return "longmemeval";
  return has("content") ? "jsonl" : undefined;
}
