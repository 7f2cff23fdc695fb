import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { replaceControls } from "../../domain/limits.ts";
import type { Role } from "../../domain/message.ts";
import type { ImportEntry } from "../../engine/api/transfer-types.ts";
import { invalid } from "../../errors.ts";
import { type ImportSource, isObjectValue, parseObject, readLines } from "./import-source.ts";
import { chooseElements, readJsonItems } from "./json-stream.ts";

/**
 * Reads conversations of LoCoMo (Maharana et al. 2024): a list of samples with sessions of turns. Ids are
 * `<sample>:<dia_id>`, sessions `<sample>:session_<n>`. Each turn is one second after the previous one. The caption of a
 * shared picture is part of the message. Questions, answers and summaries are left out.
 */
export async function* readLocomo(source: ImportSource): AsyncIterable<ImportEntry> {
  for await (const { value } of readJsonItems(source, chooseElements)) {
    if (!isLocomoSample(value)) throw invalid("the file contains no LoCoMo conversations.");
    const { sample_id: sample, conversation } = value;
    for (const session of listSessionKeys(conversation)) {
      const date = conversation[`${session}_date_time`];
      for (const [i, turn] of (conversation[session] as readonly unknown[]).entries()) {
        const {
          speaker,
          dia_id: id,
          text,
          blip_caption: caption,
        } = parseLocomoTurn(turn, `${sample}, ${session}`, i);
        yield {
          place: `${sample}:${id}`,
          message: {
            id: `${sample}:${id}`,
            role: "user",
            name: speaker,
            content: caption ? `${text} [image: ${caption}]`.trim() : text,
            at: parseDatasetTime(date, i),
            session: `${sample}:${session}`,
          },
        };
      }
    }
  }
}

interface LocomoSample {
  readonly sample_id: string;
  readonly conversation: { readonly [key: string]: unknown };
}

export function isLocomoSample(value: unknown): value is LocomoSample {
  return isObjectValue(value) && typeof value.sample_id === "string" && isObjectValue(value.conversation);
}

function listSessionKeys(conversation: LocomoSample["conversation"]): string[] {
  return Object.keys(conversation)
    .filter((key) => /^session_\d+$/.test(key) && Array.isArray(conversation[key]))
    .sort((a, b) => Number(a.slice(8)) - Number(b.slice(8)));
}

interface LocomoTurn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text: string;
  readonly blip_caption?: string;
}

function parseLocomoTurn(turn: unknown, session: string, i: number): LocomoTurn {
  const isTurn =
    isObjectValue(turn) && [turn.speaker, turn.dia_id, turn.text].every((field) => typeof field === "string");
  if (!isTurn) throw invalid(`${session}, turn ${i + 1}: it must have speaker, dia_id and text.`);
  return turn as unknown as LocomoTurn;
}

/**
 * Reads the chats of LongMemEval (Wu et al. 2024): the official JSON array, its questions as JSON lines, or a folder with
 * `questions.jsonl.gz` and `sessions.jsonl.gz`. A session of several questions is read once, with its first date. Ids are
 * `<session>:<turn from 1>`. Questions, answers and evidence marks are left out.
 */
export async function* readLongMemEval(source: ImportSource): AsyncIterable<ImportEntry> {
  if (typeof source !== "string")
    throw invalid("LongMemEval is read from a file or a folder, not from a stream.");
  const { questions: file, sessions: beside } = findFiles(source);
  const shared = beside === undefined ? new Map<string, unknown>() : await readSessions(beside);
  const seen = new Set<string>();
  for await (const question of readQuestions(file)) {
    for (const [i, session] of question.haystack_session_ids.entries()) {
      if (seen.has(session)) continue;
      seen.add(session);
      const turns = question.haystack_sessions?.[i] ?? shared.get(session);
      if (!Array.isArray(turns)) throw invalid(`session ${session}: its turns are missing.`);
      yield* toSessionMessages(session, turns, question.haystack_dates[i]);
    }
  }
}

function* toSessionMessages(
  session: string,
  turns: readonly unknown[],
  date: unknown,
): Iterable<ImportEntry> {
  for (const [i, turn] of turns.entries()) {
    const place = `session ${session}, turn ${i + 1}`;
    if (!isObjectValue(turn) || typeof turn.role !== "string" || typeof turn.content !== "string") {
      throw invalid(`${place}: it must have role and content.`);
    }
    // A few turns contain stray control characters, which would be refused.
    const content = replaceControls(turn.content).toWellFormed();
    if (content.trim() === "") continue;
    const id = `${session}:${i + 1}`;
    yield {
      place,
      message: { id, role: turn.role as Role, content, at: parseDatasetTime(date, i), session },
    };
  }
}

interface LongMemEvalQuestion {
  readonly haystack_session_ids: readonly string[];
  readonly haystack_dates: readonly unknown[];
  readonly haystack_sessions?: readonly unknown[];
}

export function isLongMemEvalQuestion(value: unknown): value is LongMemEvalQuestion {
  return (
    isObjectValue(value) && Array.isArray(value.haystack_session_ids) && Array.isArray(value.haystack_dates)
  );
}

async function* readQuestions(path: string): AsyncIterable<LongMemEvalQuestion> {
  if (/\.json(?:\.gz)?$/.test(path)) {
    for await (const { value } of readJsonItems(path, chooseElements)) {
      if (!isLongMemEvalQuestion(value)) throw invalid("the file contains no LongMemEval questions.");
      yield value;
    }
    return;
  }
  for await (const line of readLines(path)) {
    const question = parseObject(line);
    if (!isLongMemEvalQuestion(question)) throw invalid(`line ${line.number} is not a LongMemEval question.`);
    yield question;
  }
}

/** Finds the file of questions and, if present, that of sessions. */
function findFiles(path: string): { questions: string; sessions?: string } {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const folder = isFolder ? path : dirname(path);
  const sessions = findFirstFile(folder, "sessions.jsonl");
  const questions = isFolder ? findFirstFile(folder, "questions.jsonl") : path;
  if (questions === undefined) throw invalid("the folder contains no questions.jsonl.gz.");
  if (questions === sessions)
    throw invalid("this file contains sessions without dates: name its folder instead.");
  return { questions, ...(sessions === undefined ? {} : { sessions }) };
}

function findFirstFile(folder: string, name: string): string | undefined {
  return [`${name}.gz`, name].map((one) => join(folder, one)).find((one) => existsSync(one));
}

async function readSessions(path: string): Promise<ReadonlyMap<string, unknown>> {
  const sessions = new Map<string, unknown>();
  for await (const line of readLines(path)) {
    const { session_id: id, turns } = parseObject(line);
    sessions.set(String(id), turns);
  }
  return sessions;
}

const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];

/**
 * Parses a time of the data sets, "1:56 pm on 8 May, 2023" or "2023/05/30 (Tue) 23:40", as UTC. Adds `plusSeconds` to keep
 * turns with the same time in order. Throws `invalid_input` for any other form.
 */
function parseDatasetTime(text: unknown, plusSeconds: number): string {
  const start = toMilliseconds(typeof text === "string" ? text.trim() : "");
  return new Date(start + plusSeconds * 1000).toISOString();
}

function toMilliseconds(text: string): number {
  const spokenForm = /^(\d{1,2}):(\d{2}) ?([ap]m) on (\d{1,2}) (\w+),? (\d{4})$/i.exec(text);
  if (spokenForm) {
    const [, hour, minute, half, day, month = "", year] = spokenForm;
    const hours = (Number(hour) % 12) + (half?.toLowerCase() === "pm" ? 12 : 0);
    if (Number(hour) > 12) throw createTimeError();
    return toTime(Number(year), MONTHS.indexOf(month.toLowerCase()), Number(day), hours, Number(minute));
  }
  const written = /^(\d{4})\/(\d{2})\/(\d{2}) \(\w+\) (\d{2}):(\d{2})$/.exec(text);
  if (!written) throw createTimeError();
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = written.slice(1).map(Number);
  return toTime(year, month - 1, day, hour, minute);
}

function toTime(year: number, month: number, day: number, hour: number, minute: number): number {
  const time = new Date(Date.UTC(year, month, day, hour, minute));
  const isReal = time.getUTCMonth() === month && time.getUTCDate() === day && hour < 24 && minute < 60;
  if (!isReal) throw createTimeError();
  return time.getTime();
}

function createTimeError(): Error {
  return invalid('a session has no valid date ("1:56 pm on 8 May, 2023" or "2023/05/30 (Tue) 23:40").');
}
