import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { replaceControls } from "../domain/limits.ts";
import type { Role } from "../domain/message.ts";
import { invalid } from "../errors.ts";
import type { ImportedMessage } from "./entry.ts";
import { readJsonFile } from "./json-file.ts";
import { isObjectValue, parseObject, readLines } from "./lines.ts";
import { parseDatasetTime } from "./spoken-time.ts";

/**
 * The chats of LongMemEval (Wu et al. 2024): the official JSON array, its questions as JSON lines, or a folder with
 * `questions.jsonl.gz` and `sessions.jsonl.gz`. A session that several questions share comes once, at the date it has
 * first. Ids are `<session>:<turn from 1>`. Questions, answers and the marks of evidence are left out.
 */
export async function* readLongMemEval(path: string): AsyncIterable<ImportedMessage> {
  const { questions: file, sessions: beside } = findFiles(path);
  const shared = beside === undefined ? new Map<string, unknown>() : await readSessions(beside);
  const seen = new Set<string>();
  for await (const question of readQuestions(file)) {
    for (const [i, session] of question.haystack_session_ids.entries()) {
      if (seen.has(session)) continue;
      seen.add(session);
      const turns = question.haystack_sessions?.[i] ?? shared.get(session);
      if (!Array.isArray(turns)) throw invalid(`session ${session}: its turns are not there.`);
      yield* toSessionMessages(session, turns, question.haystack_dates[i]);
    }
  }
}

function* toSessionMessages(
  session: string,
  turns: readonly unknown[],
  date: unknown,
): Iterable<ImportedMessage> {
  for (const [i, turn] of turns.entries()) {
    const place = `session ${session}, turn ${i + 1}`;
    if (!isObjectValue(turn) || typeof turn.role !== "string" || typeof turn.content !== "string") {
      throw invalid(`${place}: it must have role and content.`);
    }
    // A few turns hold stray control characters, which are damage and would be refused.
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
    const questions = readJsonFile(path);
    if (!Array.isArray(questions) || !questions.every(isLongMemEvalQuestion))
      throw invalid("the file holds no LongMemEval questions.");
    yield* questions;
    return;
  }
  for await (const line of readLines(path)) {
    const question = parseObject(line);
    if (!isLongMemEvalQuestion(question)) throw invalid(`line ${line.number} is no LongMemEval question.`);
    yield question;
  }
}

/** The file of questions, and the one of sessions beside it where there is one. */
function findFiles(path: string): { questions: string; sessions?: string } {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const folder = isFolder ? path : dirname(path);
  const sessions = findFirstFile(folder, "sessions.jsonl");
  const questions = isFolder ? findFirstFile(folder, "questions.jsonl") : path;
  if (questions === undefined) throw invalid("the folder holds no questions.jsonl.gz.");
  if (questions === sessions) throw invalid("these are sessions without dates: name their folder instead.");
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
