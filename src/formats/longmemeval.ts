import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Role } from "../domain/message.ts";
import type { InputMessage } from "../engine/surface.ts";
import { MemoryError } from "../errors.ts";
import { jsonFile, timeOf } from "./json-file.ts";
import { linesOf, objectOf } from "./lines.ts";

interface Turn {
  readonly role: Role;
  readonly content: string;
}

interface Question {
  readonly haystack_session_ids: readonly string[];
  readonly haystack_dates: readonly string[];
  readonly haystack_sessions?: readonly (readonly Turn[])[];
}

/**
 * The chats of LongMemEval (Wu et al. 2024): the official JSON array, or a folder with `questions.jsonl.gz` and
 * `sessions.jsonl.gz`. A session that several questions share comes once, at its first date. Ids are
 * `<session>:<turn from 1>`. Questions, answers and the marks of evidence are left out.
 */
export async function* readLongMemEval(path: string): AsyncIterable<InputMessage> {
  const seen = new Set<string>();
  const sessions = await sessionsBeside(path);
  for await (const question of questionsOf(path)) {
    for (const [i, id] of question.haystack_session_ids.entries()) {
      const turns = question.haystack_sessions?.[i] ?? sessions.get(id);
      const date = question.haystack_dates[i];
      if (seen.has(id) || !turns || date === undefined) continue;
      seen.add(id);
      for (const [n, { role, content }] of turns.entries()) {
        if (content.trim() === "") continue;
        yield { id: `${id}:${n + 1}`, role, content, at: timeOf(date, n), session: id };
      }
    }
  }
}

async function* questionsOf(path: string): AsyncIterable<Question> {
  if (statSync(path).isFile() && path.endsWith(".json")) {
    const questions = jsonFile(path);
    if (!isLongMemEval(questions))
      throw new MemoryError("invalid_input", "the file holds no LongMemEval questions.");
    yield* questions;
    return;
  }
  const file = statSync(path).isDirectory() ? join(path, "questions.jsonl.gz") : path;
  for await (const { number, text } of linesOf(file)) yield objectOf(text, number) as unknown as Question;
}

async function sessionsBeside(path: string): Promise<ReadonlyMap<string, readonly Turn[]>> {
  const folder = statSync(path).isDirectory() ? path : dirname(path);
  const file = join(folder, "sessions.jsonl.gz");
  const sessions = new Map<string, readonly Turn[]>();
  if (path.endsWith(".json") || !existsSync(file)) return sessions;
  for await (const { number, text } of linesOf(file)) {
    const { session_id: id, turns } = objectOf(text, number);
    sessions.set(String(id), turns as readonly Turn[]);
  }
  return sessions;
}

export function isLongMemEval(value: unknown): value is readonly Question[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every(
    (one: unknown) => typeof one === "object" && one !== null && "haystack_session_ids" in one,
  );
}
