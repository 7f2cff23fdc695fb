// Writes what the reader learns of questions from into a folder: node scripts/reader/question-rows.ts FOLDER
// Of each case: the messages by their clauses, and of each question the clauses that answer it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spansOverlap } from "../../src/domain/text/split-text.ts";
import { splitIntoPieces } from "../../src/language/en/embedding/sentence-vectors.ts";
import { splitSegments } from "../../src/language/en/transformer/segments.ts";
import { ROLES, toWindowEntries } from "../../src/language/en/transformer/windows.ts";
import { readCases, type WrittenCase } from "../answers/written-questions.ts";
import { drawTellings, readFactKinds } from "./tellings.ts";

const folder = process.argv[2] ?? "reports/reader";
/** What is learned from, what the scores are calibrated on, and what is only counted. */
const FILES = [
  "questions-marked.txt",
  "questions-held.txt",
  "questions-short.txt",
  "questions-new.txt",
  "questions-short-new.txt",
];
/** Conversations that are put together from kinds of facts. */
const DRAWN = 700;

function toRow({ messages, questions }: WrittenCase, set: string): string {
  const places: { readonly message: number; readonly start: number; readonly end: number }[] = [];
  const entries = messages.flatMap(({ role, text }, message) => {
    const clauses = splitSegments(text);
    places.push(...clauses.map(({ start, end }) => ({ message, start, end })));
    const number = role === "user" ? ROLES.user : ROLES.assistant;
    return toWindowEntries(text, undefined, clauses, number).map((entry) => ({
      tokens: entry.tokens,
      role: number,
      clauses: entry.clauses,
    }));
  });
  return JSON.stringify({
    set,
    entries,
    questions: questions.map(({ text, answers }) => ({
      tokens: splitIntoPieces(text).map(({ row }) => row),
      right: [...places.keys()].filter((i) =>
        answers.some((one) => {
          const place = places[i];
          return place !== undefined && one.message === place.message && spansOverlap(one, place);
        }),
      ),
    })),
  });
}

const rows = FILES.flatMap((file) =>
  readCases(join(import.meta.dirname, "../answers", file)).map((one) => toRow(one, file)),
);
const kinds = readFactKinds(join(import.meta.dirname, "../answers/tellings.txt"));
for (let number = 0; number < DRAWN; number += 1) rows.push(toRow(drawTellings(kinds, number), "tellings"));
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "questions.jsonl"), `${rows.join("\n")}\n`);
console.log(`${rows.length} cases`);
