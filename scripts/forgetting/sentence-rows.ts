// The sentences that the readers of requests learn from, and those that are only counted.
import { readFileSync } from "node:fs";
import { splitSentences } from "../../src/domain/text/split-text.ts";
import { spansToRead } from "../../src/language/en/grammar/rules.ts";
import { drawTellings, readFactKinds } from "../reader/tellings.ts";
import { drawRequests, readTopics } from "../reader/topics.ts";
import { type Half, readChats, userTurns } from "./chats.ts";
import { isHeldOut, type MarkedSentence, readMarkedSentences, unmark } from "./marked-sentences.ts";

/** A sentence of a set, with what each of its UTF-16 units is part of; a request without parts was not marked. */
export interface SentenceRow {
  readonly set: string;
  readonly text: string;
  readonly isRequest: boolean;
  readonly parts?: readonly number[];
}

/** Sets that are learned from, but for a tenth. */
const LEARNT = new Set(["requests", "requests-more", "requests-unmarked", "told"]);

/**
 * The sentences of `requests.txt`, `requests-more.txt` and `requests-unmarked.txt`, those of `conversations-marked.txt`, and what is told
 * in `conversations.txt` and in the stories of the tests; those of `requests-unfitted.txt`, which are only counted; and what users say in
 * LongMemEval, where nobody asks to forget. A tenth of what is learned from is "held-out".
 */
export function readSentenceRows(data: string): SentenceRow[] {
  const rows: SentenceRow[] = [];
  const add = (set: string, text: string, parts?: readonly number[]): void => {
    const name = LEARNT.has(set) && isHeldOut(text) ? "held-out" : set;
    rows.push({ set: name, text, isRequest: parts !== undefined, ...(parts ? { parts } : {}) });
  };
  const addMarked = (requests: string, others: string, marked: readonly MarkedSentence[]): void => {
    for (const { text, isRequest, parts } of marked)
      if (isRequest) add(requests, text, parts);
      else add(others, text);
  };
  for (const set of ["requests", "requests-more", "requests-unmarked", "requests-unfitted"])
    addMarked(set, set, withoutRepeats(readMarkedSentences(`${set}.txt`)));
  addMarked("requests-more", "told", readMarkedConversations());
  addMarked("topics", "topics", drawFromTopics());
  for (const sentence of [...readTold(), ...readChanges(), ...drawTold()]) add("requests", sentence);
  for (const half of ["odd", "even"] as const)
    for (const text of readChatSentences(data, half)) add(`chats-${half}`, text);
  return rows;
}

/** Requests that are put together from topics. */
const DRAWN_REQUESTS = 400;

/** Requests to forget topics, and a statement of each topic. */
function drawFromTopics(): MarkedSentence[] {
  const topics = readTopics(new URL("topics.txt", import.meta.url));
  const requests = drawRequests(topics, DRAWN_REQUESTS).map((one) => ({ ...one, isRequest: true }));
  const told = topics.topics.flatMap(({ statements: [first] }) => first ?? []);
  return [...requests, ...told.map(({ text }) => ({ text, isRequest: false, parts: [] }))];
}

/** Conversations of short statements that are drawn. */
const DRAWN = 120;

/** Short statements, which ask for nothing. */
function drawTold(): Set<string> {
  const kinds = readFactKinds(new URL("../answers/tellings.txt", import.meta.url));
  const cases = Array.from({ length: DRAWN }, (_, number) => drawTellings(kinds, 100_000 + number));
  return new Set(cases.flatMap(({ messages }) => messages.map(({ text }) => text)));
}

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
function readChatSentences(data: string, half: Half): Set<string> {
  return new Set(
    readChats(data, half)
      .filter(({ set }) => set === "longmemeval")
      .flatMap(userTurns)
      .flatMap(({ message, earlier }) =>
        spansToRead(message, { messages: [message], earlier, known: [] }).asking.map(({ start, end }) =>
          message.content.slice(start, end),
        ),
      ),
  );
}
