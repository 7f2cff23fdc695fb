import type { Role } from "../../domain/message.ts";
import type { ImportEntry } from "../../engine/api/transfer-types.ts";
import { fromIsoTime, toContentId, toMessageEntry } from "./entries.ts";
import { type ImportSource, isObjectValue } from "./import-source.ts";
import { describeTooLarge, readItemsByTime } from "./json-stream.ts";

type Fields = { readonly [field: string]: unknown };

export function isGeminiEvent(value: unknown): value is Fields {
  if (!isObjectValue(value) || typeof value.time !== "string" || typeof value.title !== "string")
    return false;
  const products = Array.isArray(value.products) ? value.products : [];
  return [value.header, ...products].some(
    (one) => typeof one === "string" && /\bGemini\b|\bBard\b/.test(one),
  );
}

/** Titles that show how a language begins the title of an event with a question. */
const MOST_TITLES = 20;
/** With fewer titles, words that they share may be the person's own. */
const LEAST_TITLES = 3;
/** The share of titles that begin so. A few may be notes. */
const SHARE = 0.9;
/** Events that are held in memory until the words before the questions are known. */
const MOST_WAITING = 50;

/** An event, and where it is. */
interface PlacedEvent {
  readonly place: string;
  readonly event: Fields;
}

/**
 * Reads `MyActivity.json` of Gemini Apps from Google Takeout: one event for each exchange, in one of three shapes. An event
 * has the question and, if Takeout kept it, the reply. In the third shape, the title is the question after words such as
 * "Prompted", in the language of the account. The titles of events with a reply have these words in common.
 */
export async function* readGemini(source: ImportSource): AsyncIterable<ImportEntry> {
  const waiting: PlacedEvent[] = [];
  const titles: string[] = [];
  let lead: string | undefined;
  const takeWaiting = function* (): Iterable<ImportEntry> {
    lead ??= findLead(titles);
    for (const { place, event } of waiting.splice(0)) yield* toEntries(place, event, lead);
  };
  for await (const { value, number, isTooLarge } of readItemsByTime(source, toTime)) {
    const place = `event ${number}`;
    if (isTooLarge) yield { place, skipped: describeTooLarge(source, "an event") };
    else if (!isGeminiEvent(value)) yield { place, skipped: "an event of another product" };
    else {
      waiting.push({ place, event: value });
      if (hasReply(value)) titles.push(String(value.title));
      lead ??= ENGLISH_LEAD.exec(String(value.title))?.[0];
      const isKnown = lead !== undefined || titles.length >= MOST_TITLES;
      if (isKnown || waiting.length >= MOST_WAITING) yield* takeWaiting();
    }
  }
  yield* takeWaiting();
}

/** What the titles of an account in English begin with. */
const ENGLISH_LEAD = /^Prompted(?=\s)/;

/** The words that nearly all titles begin with; "" if there are none, or too few titles. */
function findLead(titles: readonly string[]): string {
  const distinct = [...new Set(titles)];
  let lead = "";
  while (distinct.length >= LEAST_TITLES) {
    const counts = new Map<string, number>();
    for (const title of distinct) {
      const word = title.startsWith(lead) ? /^\S+\s+/.exec(title.slice(lead.length))?.[0] : undefined;
      if (word !== undefined) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const [word, count] = [...counts].toSorted((one, other) => other[1] - one[1])[0] ?? ["", 0];
    if (count < SHARE * distinct.length) break;
    lead += word;
  }
  return lead.trimEnd();
}

/** Takeout lists the newest event first. */
function toTime(event: unknown): string | undefined {
  return isObjectValue(event) ? fromIsoTime(event.time) : undefined;
}

interface SpokenText {
  readonly role: Role;
  readonly text: string;
}

function* toEntries(place: string, event: Fields, lead: string): Iterable<ImportEntry> {
  const exchange = listExchange(event, lead);
  if (exchange.length === 0) yield { place, skipped: "an event without words" };
  const at = fromIsoTime(event.time);
  const session = findConversation(event.titleUrl);
  for (const [i, { role, text }] of exchange.entries()) {
    // What a file's titles have in common differs from one export to the next.
    const isCut = role === "user" && text !== event.title && !ENGLISH_LEAD.test(String(event.title));
    const isTitled = isCut && String(event.title).endsWith(text);
    const id = toContentId("gemini", event.time, i, role, isTitled ? String(event.title) : text);
    yield toMessageEntry(place, { id, role, text, at, session });
  }
}

function findConversation(url: unknown): string | undefined {
  const id = typeof url === "string" ? /\/app\/(?:c\/)?([\w-]{4,128})/.exec(url)?.[1] : undefined;
  return id === undefined ? undefined : `gemini:${id}`;
}

function listExchange(event: Fields, lead: string): SpokenText[] {
  if (Array.isArray(event.details)) {
    const details = event.details.filter(isObjectValue).flatMap(readDetail);
    if (details.length > 0) return details;
  }
  if (Array.isArray(event.userInteractions))
    return event.userInteractions.filter(isObjectValue).flatMap(readInteraction);
  return readPrompt(event, lead);
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

function hasReply({ title, safeHtmlItem, details, userInteractions }: Fields): boolean {
  const hasOtherShape = Array.isArray(details) || Array.isArray(userInteractions);
  return (
    typeof title === "string" && Array.isArray(safeHtmlItem) && safeHtmlItem.length > 0 && !hasOtherShape
  );
}

/**
 * The title is the lead and the question; the reply is HTML beside it. The lead tells a question from a note such as "Used
 * Gemini Apps". Where no lead is known, the title of an event with a reply is the question.
 */
function readPrompt(event: Fields, lead: string): SpokenText[] {
  const title = String(event.title);
  const rest = title.startsWith(lead) ? title.slice(lead.length) : "";
  const isLed = lead !== "" && /^\s/.test(rest);
  // A question that begins with a part of the lead: the rest of it was the person's own.
  const isQuestion = lead === "" || title.startsWith(lead.split(/\s/)[0] ?? lead);
  if (!isLed && !(isQuestion && hasReply(event))) return [];
  const question = (isLed ? rest : title).trimStart();
  const replies = Array.isArray(event.safeHtmlItem) ? event.safeHtmlItem.filter(isObjectValue) : [];
  const reply = replies
    .map(({ html }) => (typeof html === "string" ? htmlToText(html) : ""))
    .join("\n")
    .trim();
  return [
    ...(question === "" ? [] : [{ role: "user" as const, text: question }]),
    ...(reply === "" ? [] : [{ role: "assistant" as const, text: reply }]),
  ];
}

const ENTITIES: { readonly [name: string]: string } = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

const BREAKS = new Set(["br", "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6"]);
const HIDDEN = new Set(["script", "style"]);

/** Gives the words of simple HTML, without tags. Blocks and breaks become lines. Nothing of it is run or shown. */
export function htmlToText(html: string): string {
  const lower = html.toLowerCase();
  let text = "";
  let at = 0;
  for (let open = html.indexOf("<"); open >= 0; open = html.indexOf("<", at)) {
    text += html.slice(at, open);
    const close = html.indexOf(">", open);
    at = close < 0 ? html.length : close + 1;
    const [, slash, name = ""] = /^<(\/?)([a-z]+[1-6]?)/.exec(lower.slice(open, open + 12)) ?? [];
    if (BREAKS.has(name) && (slash === "/" || name === "br")) text += "\n";
    if (!HIDDEN.has(name) || slash === "/") continue;
    const end = lower.indexOf(`</${name}`, at);
    at = end < 0 ? html.length : end;
  }
  return (text + html.slice(at))
    .replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,8}));/gi, decodeEntity)
    .replace(/[ \t]+/g, " ")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

function decodeEntity(entity: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}
