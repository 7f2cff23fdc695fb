// Writes what `train.py` learns from into a folder: node scripts/forgetting/request-rows.ts FOLDER [--data DIR]
// The sentences of `requests.txt`, `requests-more.txt` and `requests-unmarked.txt`, those of `conversations-marked.txt`, and what is told in
// `conversations.txt` and in the stories of the tests; those of `requests-unfitted.txt`, which are only counted; and what users say in LongMemEval, where nobody asks to forget.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { splitSentences } from "../../src/domain/text/split-text.ts";
import { embedWord, SENTENCE_DIMENSIONS } from "../../src/language/en/embedding/sentence-vectors.ts";
import { spansToRead } from "../../src/language/en/grammar/rules.ts";
import { tokenizeEnglish } from "../../src/language/en/parser/english-trees.ts";
import { shapeOf } from "../../src/language/en/word-encoder.ts";
import { type Half, readChats, userTurns } from "./chats.ts";
import { isHeldOut, type MarkedSentence, readMarkedSentences, unmark } from "./marked-sentences.ts";

const { values: options, positionals } = parseArgs({
  options: { data: { type: "string", default: "../shared/data" } },
  allowPositionals: true,
});
const folder = positionals[0] ?? "reports/requests";
/** Longer sentences are left out. */
const MOST_WORDS = 80;
const places = new Map<string, number>();
const rows: string[] = [];

/** Sets that the network learns from, but for a tenth. */
const LEARNT = new Set(["requests", "requests-more", "requests-unmarked", "told"]);

function addRow(set: string, text: string, parts: readonly number[] | undefined): void {
  const words = tokenizeEnglish(text);
  if (words.length === 0 || words.length > MOST_WORDS) return;
  rows.push(
    JSON.stringify({
      set: LEARNT.has(set) && isHeldOut(text) ? "held-out" : set,
      isRequest: parts !== undefined,
      words: words.map(({ norm }) => placeOf(norm.toLowerCase())),
      shapes: words.map((word, i) => shapeOf(word.text, i)),
      ...(parts?.some((part) => part > 0) ? { parts: words.map(({ start }) => parts[start] ?? 0) } : {}),
    }),
  );
}

function placeOf(word: string): number {
  const place = places.get(word) ?? places.size;
  places.set(word, place);
  return place;
}

for (const set of ["requests", "requests-more", "requests-unmarked", "requests-unfitted"])
  for (const { text, isRequest, parts } of withoutRepeats(readMarkedSentences(`${set}.txt`)))
    addRow(set, text, isRequest ? parts : undefined);
for (const { text, isRequest, parts } of readMarkedConversations())
  addRow(isRequest ? "requests-more" : "told", text, isRequest ? parts : undefined);
for (const sentence of [...readTold(), ...readChanges()]) addRow("requests", sentence, undefined);
for (const half of ["odd", "even"] as const)
  for (const text of readChatSentences(half)) addRow(`chats-${half}`, text, undefined);

function withoutRepeats(sentences: readonly MarkedSentence[]): MarkedSentence[] {
  return [...new Map(sentences.map((one) => [`${one.isRequest} ${one.text}`, one])).values()];
}

/** What users say in `conversations-marked.txt`, sentence by sentence: one with marks asks to forget. */
function readMarkedConversations(): MarkedSentence[] {
  const lines = readFileSync(new URL("conversations-marked.txt", import.meta.url), "utf8").split("\n");
  const said = lines.filter((line) => line.startsWith("> ")).map((line) => unmark(line.slice(2)));
  const sentences = said.flatMap(({ text, parts }) =>
    splitSentences(text).map(({ start, end }) => {
      const own = parts.slice(start, end);
      // "The locker code can stay." asks for nothing to go.
      return {
        text: text.slice(start, end),
        isRequest: own.some((part) => part === 1 || part === 2),
        parts: own,
      };
    }),
  );
  return withoutRepeats(sentences);
}

/** What people tell in `conversations.txt`: the first sentences with what is to stay, and all where nothing is asked. */
function readTold(): Set<string> {
  const told = new Set<string>();
  for (const block of readFileSync(new URL("conversations.txt", import.meta.url), "utf8").split("\n\n")) {
    const lines = block.split("\n");
    const sentences = lines
      .filter((line) => line.startsWith("> "))
      .map((line) => line.slice(2))
      .flatMap((text) => splitSentences(text).map(({ start, end }) => text.slice(start, end)));
    const kept = lines
      .filter((line) => line.startsWith("+ "))
      .flatMap((line) => line.slice(2).split(" | "))
      .map((excerpt) => sentences.find((sentence) => sentence.includes(excerpt.trim())));
    for (const sentence of lines.includes("=") ? sentences : kept) if (sentence) told.add(sentence);
  }
  return told;
}

/** What people tell and change in the stories of the tests: what ends is no request, however it is said. */
function readChanges(): Set<string> {
  const folder = new URL("../../src/language/en/grammar/__fixtures__/", import.meta.url);
  const stories = JSON.parse(readFileSync(new URL("stories.json", folder), "utf8")) as {
    area: string;
    steps: { say?: string }[];
  }[];
  const said = stories
    .filter(({ area }) => !/forget|erase/.test(area))
    .flatMap(({ steps }) => steps.flatMap(({ say }) => say ?? []));
  const changes = readFileSync(new URL("changes.txt", folder), "utf8").split("\n");
  said.push(...changes.filter((line) => line.startsWith("> ")).map((line) => line.slice(2)));
  return new Set(
    said.flatMap((text) => splitSentences(text).map(({ start, end }) => text.slice(start, end))),
  );
}

/** What users say in LongMemEval, each sentence once. */
function readChatSentences(half: Half): Set<string> {
  return new Set(
    readChats(options.data, half)
      .filter(({ set }) => set === "longmemeval")
      .flatMap(userTurns)
      .flatMap(({ message, earlier }) =>
        spansToRead(message, { messages: [message], earlier, known: [] }).asking.map(({ start, end }) =>
          message.content.slice(start, end),
        ),
      ),
  );
}

const vectors = new Float32Array(places.size * SENTENCE_DIMENSIONS);
for (const [word, place] of places) vectors.set(embedWord(word), place * SENTENCE_DIMENSIONS);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "rows.jsonl"), `${rows.join("\n")}\n`);
writeFileSync(join(folder, "words.json"), JSON.stringify([...places.keys()]));
writeFileSync(join(folder, "vectors.bin"), new Uint8Array(vectors.buffer));
console.log(`${rows.length} sentences, ${places.size} words`);
