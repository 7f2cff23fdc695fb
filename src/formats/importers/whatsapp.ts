import type { ImportEntry } from "../../engine/api/transfer-types.ts";
import { toContentId, toMessageEntry, toShortName } from "./entries.ts";
import { type ImportSource, readLines } from "./import-source.ts";

/** Marks of writing direction, which WhatsApp puts around names and notices. */
const MARKS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/**
 * The beginning of a message: "21.12.2019, 14:00 - ", "[12/31/23, 2:05:07 PM] ", "2023-12-31 14:05 - ". The numbers of the
 * date are in the order of the phone's region.
 */
const START =
  /^\[?(\d{1,4})[./-](\d{1,2})[./-](\d{1,4}),?\s+(?:\p{L}+\s+)?(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:\s*([ap])\.?\s?m\.?)?(?:\]|\s+[-–])\s+(.*)$/iu;
const SPEAKER = /^(?:~\s*)?([^:]{1,100}):(?:\s(.*)|)$/;
/** Placeholders for what a text export leaves out, in common languages. */
const OMITTED =
  /^(?:<[^<>]*(?:omitted|ausgeschlossen|omitido|omis|omesso|weggelaten|pominięto)[^<>]*>|(?:image|video|audio|sticker|GIF|document|Contact card)\s+omitted|.*<attached: [^<>]+>|.* \(file attached\))$/i;
/** What replaces a message that was deleted, and after one that was edited. */
const DELETED = /^(?:This message was deleted|You deleted this message)\.?$/i;
const EDITED = /\s*<This message was edited>$/i;
/** Lines that are read to find the order of day and month. */
const MOST_LOOKED_AT = 20_000;
const MOST_MESSAGE_LINES = 10_000;

/** Whether a line begins a message of WhatsApp. */
export function isWhatsAppLine(line: string): boolean {
  return START.test(line.replace(MARKS, "").trimEnd());
}

/**
 * Reads a chat that WhatsApp exported as text. Day and month are told apart by the whole file: a number above 12 is a day,
 * else the order in which times rise. The export has no zone: times count as UTC. Ids are made of time, speaker and words; the
 * session is named by the first line of the chat, because the export does not name the chat.
 */
export async function* readWhatsApp(source: ImportSource): AsyncIterable<ImportEntry> {
  const waiting: StartedMessage[] = [];
  const evidence = createOrderEvidence();
  const toEntry = createEntryMaker();
  let order: DateOrder | undefined;
  for await (const message of readMessages(source)) {
    if (order) {
      yield toEntry(message, order);
      continue;
    }
    waiting.push(message);
    order = evidence.add(message) ?? (waiting.length >= MOST_LOOKED_AT ? evidence.guess() : undefined);
    if (order) for (const one of waiting.splice(0)) yield toEntry(one, order);
  }
  for (const one of waiting) yield toEntry(one, evidence.guess());
}

interface StartedMessage {
  readonly line: number;
  /** The numbers of the date, in their order. */
  readonly date: readonly [number, number, number];
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly lines: string[];
}

/** Joins lines to messages: a line that does not begin one goes on with the one before. */
async function* readMessages(source: ImportSource): AsyncGenerator<StartedMessage, void, void> {
  let open: StartedMessage | undefined;
  for await (const { number, text } of readLines(source)) {
    const line = text.replace(MARKS, "").replace(/[\r\u202f\u00a0]/g, (mark) => (mark === "\r" ? "" : " "));
    const started = parseStart(number, line);
    if (started) {
      if (open) yield open;
      open = started;
    } else if (open && open.lines.length < MOST_MESSAGE_LINES) open.lines.push(line);
  }
  if (open) yield open;
}

function parseStart(number: number, line: string): StartedMessage | undefined {
  const match = START.exec(line);
  if (!match) return undefined;
  const [a = 0, b = 0, c = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((one) => Number(one ?? 0));
  const half = match[7]?.toLowerCase();
  const hours = half === undefined ? hour : (hour % 12) + (half === "p" ? 12 : 0);
  return { line: number, date: [a, b, c], hour: hours, minute, second, lines: [match[8] ?? ""] };
}

type DateOrder = "day first" | "month first" | "year first";

/** Finds the order of the date's numbers. */
function createOrderEvidence(): {
  add(message: StartedMessage): DateOrder | undefined;
  guess(): DateOrder;
} {
  const falls = { "day first": 0, "month first": 0 };
  let last: { readonly [order in keyof typeof falls]: string } | undefined;
  return {
    add(message) {
      const [a, b] = message.date;
      if (a > 31) return "year first";
      if (a > 12) return "day first";
      if (b > 12) return "month first";
      const now = {
        "day first": toTime(message, "day first") ?? "",
        "month first": toTime(message, "month first") ?? "",
      };
      for (const order of ["day first", "month first"] as const)
        if (last && now[order] < last[order]) falls[order] += 1;
      last = now;
      return undefined;
    },
    guess: () => (falls["month first"] < falls["day first"] ? "month first" : "day first"),
  };
}

function toTime({ date, hour, minute, second }: StartedMessage, order: DateOrder): string | undefined {
  const [a, b, c] = date;
  const [year, month, day] =
    order === "year first" ? [a, b, c] : order === "day first" ? [c, b, a] : [c, a, b];
  const fullYear = year < 100 ? 2000 + year : year;
  const time = new Date(Date.UTC(fullYear, month - 1, day, hour, minute, second));
  const isReal = time.getUTCMonth() === month - 1 && time.getUTCDate() === day && hour < 24;
  return isReal ? time.toISOString() : undefined;
}

/** Creates the entries. Repeated messages of one minute get ids of their own. */
function createEntryMaker(): (message: StartedMessage, order: DateOrder) => ImportEntry {
  const repeats = new Map<string, number>();
  let session: string | undefined;
  return (message, order) => {
    const place = `line ${message.line}`;
    const [first = "", ...rest] = message.lines;
    session ??= toContentId("whatsapp", message.date, message.hour, message.minute, first);
    const match = SPEAKER.exec(first);
    const speaker = toShortName(match?.[1]);
    if (!match || speaker === undefined) return { place, skipped: "a notice of the chat" };
    const text = [match[2] ?? "", ...rest].join("\n").trim().replace(EDITED, "");
    if (DELETED.test(text)) return { place, skipped: "a message that was deleted" };
    if (OMITTED.test(text)) return { place, skipped: "a picture, a recording or a file" };
    const at = toTime(message, order);
    const base = toContentId(
      "whatsapp",
      message.date,
      message.hour,
      message.minute,
      message.second,
      speaker,
      text,
    );
    const repeat = repeats.get(base) ?? 0;
    repeats.set(base, repeat + 1);
    const id = repeat === 0 ? base : `${base}-${repeat}`;
    return toMessageEntry(place, { id, role: "user", name: speaker, text, at, session });
  };
}
