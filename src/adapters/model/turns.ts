import { neutralizeText } from "../../domain/defang.ts";
import { stripPromptBlocks } from "../../domain/fences.ts";
import type { Message } from "../../domain/message.ts";
import { splitSentences } from "../../domain/sentences.ts";
import { toLocalTime } from "../../domain/time.ts";
import { estimateTokens } from "../../domain/tokens.ts";

/** So much of a message is read, and so much of it in one turn of a prompt; and so much of what is context alone. */
const MOST_OF_A_MESSAGE = 40_000;
const MOST_OF_A_TURN = 4_000;
const MOST_OF_CONTEXT = 400;
/** Tokens of turns in one request, and turns. */
const MOST_TOKENS = 3_000;
const MOST_TURNS = 30;

/** What a prompt shows of a message: all of it, or a stretch of a long one. */
export interface ShownTurn {
  readonly message: Message;
  readonly text: string;
  /** Whether facts are read from it; else it is context. */
  readonly isRead: boolean;
}

/**
 * Messages as turns, cut into requests of bounded size, each with the last turns before it as context; what has nothing to
 * read is left out.
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

/** The last of some turns, as context for those that follow. */
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

/** A text without our own block, encoded data, hidden characters and the marks of turns; on one line. */
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

/** A long text in stretches that end with a sentence, where there are sentences. */
function splitLongText(text: string): string[] {
  if (text.length <= MOST_OF_A_TURN) return [text];
  const found: string[] = [];
  let start = 0;
  for (const sentence of [...splitSentences(text), { start: text.length, end: text.length }]) {
    while (sentence.end - start > MOST_OF_A_TURN) {
      const end = sentence.start > start ? sentence.start : start + MOST_OF_A_TURN;
      found.push(text.slice(start, end).trim());
      start = end;
    }
  }
  found.push(text.slice(start).trim());
  return found.filter((one) => one !== "");
}

/** "3 [2026-03-02 Mon] user: I moved to Porto." A turn without a number is context. */
export function formatTurn({ message, text, isRead }: ShownTurn, number: number): string {
  const speaker = message.name ?? message.role;
  return `${isRead ? number : "-"} [${formatDay(message)}] ${speaker.replace(/\s+/g, " ")}: ${text}`;
}

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

function formatDay({ at, zone }: Message): string {
  const local = toLocalTime(at, zone).slice(0, 10);
  return `${local} ${DAYS[new Date(`${local}T00:00:00Z`).getUTCDay()] ?? ""}`;
}
