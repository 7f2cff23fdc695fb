// Writes what the reader learns from whether a message says what a memory says: node scripts/reader/said-rows.ts FOLDER
// From `scripts/statements/said.jsonl`: messages, each with memories that it says and memories that it does not say. Some were written for this, the others
// are memories that the rules made of messages of other writers, judged by a reader. docs/results/statements.md says what came of it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countPieces } from "../../src/language/en/embedding/sentence-vectors.ts";
import { ROLES, toRoledPieces } from "../../src/language/en/transformer/windows.ts";
import { type JudgedMessage, readJudged } from "../statements/said.ts";

/** How many times a row is learned from: what the rules made is what is read later. */
const TIMES = { written: 1, judged: 2 };

/** Word pieces of a memory, and of the message that it was read from, that are read. */
const MOST_OF_MEMORY = 48;
const MOST_OF_MESSAGE = 120;

const messages = readJudged();
const rows = messages.flatMap((message) => [
  ...message.said.map((memory) => toRow(message, memory, 1)),
  ...message.unsaid.map((memory) => toRow(message, memory, 0)),
]);

function toRow({ set, isHeld, text }: JudgedMessage, memory: string, target: 0 | 1): string {
  const [opening, closing] = [countPieces(), countPieces() + 1];
  const head = toRoledPieces(memory, ROLES.question, MOST_OF_MEMORY);
  const parts = [head, toRoledPieces(text, ROLES.user, MOST_OF_MESSAGE)];
  // The memory is what is rated.
  const clauses = [[1, 1 + head.tokens.length, target]];
  const times = isHeld ? 1 : set === "written" ? TIMES.written : TIMES.judged;
  const row = JSON.stringify({
    set: `${set} ${target === 1 ? "said" : "unsaid"}`,
    isHeld,
    tokens: [opening, ...parts.flatMap(({ tokens }) => [...tokens, closing])],
    roles: [0, ...parts.flatMap(({ roles }) => [...roles, 0])],
    clauses,
  });
  return Array.from({ length: times }, () => row).join("\n");
}

const folder = process.argv[2] ?? "reports/reader";
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "said.jsonl"), `${rows.join("\n")}\n`);
console.log(`${rows.length} memories of ${messages.length} messages`);
