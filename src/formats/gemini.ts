import type { Role } from "../domain/message.ts";
import type { ImportEntry } from "../engine/api/transfer-types.ts";
import { fromIsoTime, toContentId, toMessageEntry } from "./entries.ts";
import { htmlToText } from "./html-text.ts";
import { type ImportSource, isObjectValue } from "./import-source.ts";
import { readItemsByTime } from "./json-stream.ts";

type Fields = { readonly [field: string]: unknown };

export function isGeminiEvent(value: unknown): value is Fields {
  if (!isObjectValue(value) || typeof value.time !== "string" || typeof value.title !== "string")
    return false;
  const products = Array.isArray(value.products) ? value.products : [];
  return [value.header, ...products].some(
    (one) => typeof one === "string" && /\bGemini\b|\bBard\b/.test(one),
  );
}

/**
 * Reads `MyActivity.json` of Gemini Apps from Google Takeout: one event for each exchange, in one of three shapes. An event
 * has the question and, if Takeout kept it, the reply.
 */
export async function* readGemini(source: ImportSource): AsyncIterable<ImportEntry> {
  for await (const { value, number } of readItemsByTime(source, toTime)) {
    const place = `event ${number}`;
    if (!isGeminiEvent(value)) {
      yield { place, skipped: "an event of another product" };
      continue;
    }
    const exchange = listExchange(value);
    if (exchange.length === 0) yield { place, skipped: "an event without words" };
    yield* toEntries(place, value, exchange);
  }
}

/** Takeout lists the newest event first. */
function toTime(event: unknown): string | undefined {
  return isObjectValue(event) ? fromIsoTime(event.time) : undefined;
}

interface SpokenText {
  readonly role: Role;
  readonly text: string;
}

function* toEntries(place: string, event: Fields, exchange: readonly SpokenText[]): Iterable<ImportEntry> {
  const at = fromIsoTime(event.time);
  const session = findConversation(event.titleUrl);
  for (const [i, { role, text }] of exchange.entries()) {
    const id = toContentId("gemini", event.time, i, role, text);
    yield toMessageEntry(place, { id, role, text, at, session });
  }
}

function findConversation(url: unknown): string | undefined {
  const id = typeof url === "string" ? /\/app\/(?:c\/)?([\w-]{4,128})/.exec(url)?.[1] : undefined;
  return id === undefined ? undefined : `gemini:${id}`;
}

function listExchange(event: Fields): SpokenText[] {
  if (Array.isArray(event.details)) {
    const details = event.details.filter(isObjectValue).flatMap(readDetail);
    if (details.length > 0) return details;
  }
  if (Array.isArray(event.userInteractions))
    return event.userInteractions.filter(isObjectValue).flatMap(readInteraction);
  return readPrompt(event);
}

function readDetail({ name, value }: Fields): SpokenText[] {
  if (typeof value !== "string") return [];
  if (name === "Request") return [{ role: "user", text: value }];
  return name === "Response" ? [{ role: "assistant", text: value }] : [];
}

function readInteraction({ userInteraction }: Fields): SpokenText[] {
  if (!isObjectValue(userInteraction)) return [];
  const { request, response } = userInteraction;
  const [question, reply] = [readEncoded(request), readEncoded(response)];
  return [
    ...(question === "" ? [] : [{ role: "user" as const, text: question }]),
    ...(reply === "" ? [] : [{ role: "assistant" as const, text: reply }]),
  ];
}

/** Requests and responses are JSON in a string, in several shapes: the texts in them are what was said. */
function readEncoded(encoded: unknown): string {
  if (typeof encoded !== "string") return "";
  try {
    return listTexts(JSON.parse(encoded), 0).join("\n");
  } catch {
    return encoded;
  }
}

const MOST_LEVELS = 8;
const TEXT_FIELDS = ["text", "prompt", "content", "parts", "message"];

function listTexts(value: unknown, level: number): string[] {
  if (typeof value === "string") return [value];
  if (level > MOST_LEVELS) return [];
  if (Array.isArray(value)) return value.flatMap((one) => listTexts(one, level + 1));
  if (!isObjectValue(value)) return [];
  const field = TEXT_FIELDS.find((name) => value[name] !== undefined);
  return field === undefined ? [] : listTexts(value[field], level + 1);
}

/** The title is "Prompted" and the question, in the language of the account. The reply is HTML beside it. */
function readPrompt({ title, safeHtmlItem }: Fields): SpokenText[] {
  const question = /^Prompted\s+([\s\S]+)$/.exec(String(title))?.[1];
  if (question === undefined) return [];
  const replies = Array.isArray(safeHtmlItem) ? safeHtmlItem.filter(isObjectValue) : [];
  const reply = replies
    .map(({ html }) => (typeof html === "string" ? htmlToText(html) : ""))
    .join("\n")
    .trim();
  return [
    { role: "user", text: question },
    ...(reply === "" ? [] : [{ role: "assistant" as const, text: reply }]),
  ];
}
