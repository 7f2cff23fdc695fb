import type { Message } from "../../domain/message.ts";
import { neutralizeText, stripPromptBlocks } from "../../domain/text/prompt-safety.ts";
import { estimateTokens, splitSentences } from "../../domain/text/split-text.ts";
import { toLocalTime } from "../../domain/time.ts";
import { isThanks, mayStateFact } from "../../language/en/phrases.ts";

/** The most characters read of a message, shown in one turn of a prompt, and shown as context. */
const MOST_OF_A_MESSAGE = 40_000;
const MOST_OF_A_TURN = 4_000;
const MOST_OF_CONTEXT = 400;
/** The most tokens and turns in one request. */
const MOST_TOKENS = 3_000;
const MOST_TURNS = 30;

/** A message in a prompt, or a part of a long one. */
export interface ShownTurn {
  readonly message: Message;
  readonly text: string;
  /** Whether facts are extracted from it; otherwise it is context. */
  readonly isRead: boolean;
}

/**
 * Splits messages into requests of limited size. Each request repeats the last turns before it as context. Requests without a turn
 * to read are left out.
 */
export function splitIntoRequests(
  messages: readonly Message[],
  isRead: (message: Message) => boolean,
): ShownTurn[][] {
  const requests: ShownTurn[][] = [];
  let turns: ShownTurn[] = [];
  let tokens = 0;
  for (const turn of messages.flatMap((message) => toShownTurns(message, isRead(message)))) {
    const cost = estimateTokens(turn.text) + 12;
    if (turns.length >= MOST_TURNS || tokens + cost > MOST_TOKENS) {
      requests.push(turns);
      turns = toContextTurns(turns);
      tokens = turns.reduce((sum, { text }) => sum + estimateTokens(text) + 12, 0);
    }
    turns.push(turn);
    tokens += cost;
  }
  return [...requests, turns].filter((one) => one.some((turn) => turn.isRead));
}

const CONTEXT_TURNS = 3;

/** The last of some turns, as context for the following ones. */
export function toContextTurns(turns: readonly ShownTurn[]): ShownTurn[] {
  return turns
    .slice(-CONTEXT_TURNS)
    .map(({ message, text }) => ({ message, text: shortenLine(text), isRead: false }));
}

function toShownTurns(message: Message, isRead: boolean): ShownTurn[] {
  const text = toPlainLine(message.content.slice(0, MOST_OF_A_MESSAGE));
  if (text === "") return [];
  if (!isRead) return [{ message, text: shortenLine(text), isRead }];
  return splitLongText(text).map((window) => ({ message, text: window, isRead }));
}

/** The text on one line, without our own prompt block, encoded data, hidden characters and turn marks. */
function toPlainLine(text: string): string {
  return neutralizeText(stripPromptBlocks(text).toWellFormed())
    .replace(/data:[\w/+.-]{1,80};base64,[\w+/=]*/g, "[data]")
    .replace(/[\w+/=]{200,}/g, "[data]")
    .replace(/\s+/g, " ")
    .trim();
}

function shortenLine(line: string): string {
  return line.length <= MOST_OF_CONTEXT ? line : `${line.slice(0, MOST_OF_CONTEXT).toWellFormed()}…`;
}

/** Splits a long text into parts that end with a sentence, where possible. */
function splitLongText(text: string): string[] {
  if (text.length <= MOST_OF_A_TURN) return [text];
  const parts: string[] = [];
  let start = 0;
  for (const sentence of [...splitSentences(text), { start: text.length, end: text.length }]) {
    while (sentence.end - start > MOST_OF_A_TURN) {
      const end = sentence.start > start ? sentence.start : start + MOST_OF_A_TURN;
      parts.push(text.slice(start, end).trim());
      start = end;
    }
  }
  parts.push(text.slice(start).trim());
  return parts.filter((one) => one !== "");
}

/** "3 [2026-03-02 Mon] user: I moved to Porto." A context turn has no number. */
export function formatTurn({ message, text, isRead }: ShownTurn, number: number): string {
  const speaker = message.name ?? message.role;
  return `${isRead ? number : "-"} [${formatDay(message)}] ${speaker.replace(/\s+/g, " ")}: ${text}`;
}

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

function formatDay({ at, zone }: Message): string {
  const local = toLocalTime(at, zone).slice(0, 10);
  return `${local} ${DAYS[new Date(`${local}T00:00:00Z`).getUTCDay()] ?? ""}`;
}

/** A longer message is never small talk. */
const MAX_SMALL_TALK = 300;

/**
 * Whether a message may contain a lasting fact. It errs in one direction only: a rejected message contains none, but an accepted
 * one may contain none either.
 */
export function mayHoldFacts(message: Message, earlier: readonly Message[]): boolean {
  const { role, origin, content } = message;
  if (role !== "user" || !["user_message", "import", "api"].includes(origin)) return false;
  const text = stripPromptBlocks(content).trim();
  if (!/[\p{L}\p{N}]/u.test(text)) return false;
  if (text.length > MAX_SMALL_TALK) return true;
  // "Yes" may answer "Do you have any allergies?", and a bare name "Where do you live?".
  const before = earlier.at(-1);
  if (before && before.role !== "user" && before.content.includes("?") && !isThanks(text)) return true;
  if (message.name !== undefined && before?.content.includes("?") && !isThanks(text)) return true;
  return splitSentences(text).some(({ start, end }) => mayStateFact(text.slice(start, end).trim()));
}
