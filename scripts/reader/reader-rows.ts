// Writes what `train_reader.py` learns from into a folder: node scripts/reader/reader-rows.ts FOLDER [--data DIR]
// Sentences, with whether each asks to forget and what its words say; and conversations, with the clauses that their requests mean.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { splitSentences } from "../../src/domain/text/split-text.ts";
import { splitIntoPieces } from "../../src/language/en/embedding/sentence-vectors.ts";
import { MOST_OF_REQUEST, readingRole } from "../../src/language/en/forget-requests/request-pieces.ts";
import { PART_NUMBERS, readRequest } from "../../src/language/en/grammar/forgetting/request-network.ts";
import { type Segment, splitSegments } from "../../src/language/en/transformer/segments.ts";
import { ROLES, toWindowEntries } from "../../src/language/en/transformer/windows.ts";
import { readSentenceRows } from "../forgetting/sentence-rows.ts";
import {
  readConversations,
  type WrittenConversation,
  type WrittenMessage,
} from "../forgetting/written-conversations.ts";
import { drawConversation, readTopics } from "./topics.ts";

const { values: options, positionals } = parseArgs({
  options: { data: { type: "string", default: "../shared/data" } },
  allowPositionals: true,
});
const folder = positionals[0] ?? "reports/reader";
/** Longer sentences are left out. */
const MOST_PIECES = 120;

/** The files, and whether they are only counted. */
const FILES: Readonly<Record<string, boolean>> = {
  "conversations.txt": false,
  "conversations-marked.txt": false,
  "conversations-unfitted.txt": false,
  "conversations-unread.txt": false,
  "conversations-unseen.txt": false,
  "conversations-new.txt": true,
};

const sentences = readSentenceRows(options.data).flatMap(({ set, text, isRequest, parts }) => {
  const pieces = splitIntoPieces(text);
  if (pieces.length === 0 || pieces.length > MOST_PIECES) return [];
  const isLabelled = parts?.some((part) => part > 0) ?? false;
  return JSON.stringify({
    set,
    isRequest,
    tokens: pieces.map(({ row }) => row),
    ...(isLabelled ? { parts: pieces.map(({ start }) => parts?.[start] ?? 0) } : {}),
  });
});

/** A conversation as the reader gets it; `role` is the one in a conversation that is not over. */
function toRow(conversation: WrittenConversation, set: string, isUnseen: boolean): string {
  const { messages, request } = conversation;
  const entries = messages.flatMap((message, i) => {
    const clauses = splitSegments(message.text);
    const role = readingRole({ id: `${i}`, role: message.role }, { id: `${request?.message}` }, false);
    const told = clauses.map(({ start, end }) => targetOf(message.text.slice(start, end), conversation));
    const isWhole = IS_WHOLE.test(set) && message.role === "user" && i !== request?.message;
    const targets = isWhole ? spread(told, clauses) : told;
    let done = 0;
    return toWindowEntries(message.text, message.name, clauses, role).map((entry) => {
      const own = targets.slice(done, done + entry.clauses.length);
      done += entry.clauses.length;
      return {
        tokens: entry.tokens,
        role,
        clauses: entry.clauses.map(([from, to], k) => [from, to, own[k]]),
      };
    });
  });
  const asking = request ? (messages[request.message] as WrittenMessage) : undefined;
  return JSON.stringify({
    set,
    isUnseen,
    entries,
    ...(asking && request ? { request: toRequest(asking, request.sentences) } : {}),
  });
}

/** The pieces of a request with the number of the sentence of each; its parts are the marks, or what the small network finds. */
function toRequest(
  { text, marks }: WrittenMessage,
  asking: readonly number[],
): { tokens: number[]; roles: number[]; sentences: number[] } {
  const [tokens, roles, numbers]: [number[], number[], number[]] = [[], [], []];
  for (const [number, { start, end }] of splitSentences(text).entries()) {
    const own = marks.slice(start, end);
    const isAsking = asking.includes(number);
    const said = text.slice(start, end);
    const found = own.some((mark) => mark > 0) ? undefined : readRequest(said).spans;
    const partAt = (place: number): number => {
      if (!found) return own[place] ?? 0;
      const span = found.find((one) => place >= one.start && place < one.end);
      return span ? PART_NUMBERS[span.part] : 0;
    };
    for (const { row, start: place } of splitIntoPieces(said)) {
      tokens.push(row);
      roles.push(isAsking ? partAt(place) || ROLES.asking : ROLES.beside);
      numbers.push(isAsking ? number : -1);
    }
  }
  return {
    tokens: tokens.slice(0, MOST_OF_REQUEST),
    roles: roles.slice(0, MOST_OF_REQUEST),
    sentences: numbers.slice(0, MOST_OF_REQUEST),
  };
}

const flatten = (text: string): string => text.toLowerCase().replaceAll(/[’‘]/g, "'");
const holdsAny = (text: string, some: readonly string[]): boolean => {
  const low = flatten(text);
  return some.some((one) => low.includes(flatten(one)) || (low.length > 5 && flatten(one).includes(low)));
};

/** 1 for what is to go, 0 for what stays, -1 where the conversation does not say. */
function targetOf(text: string, { gone, kept }: WrittenConversation): number {
  const [isGone, isKept] = [holdsAny(text, gone), holdsAny(text, kept)];
  if (isGone === isKept) return -1;
  return isGone ? 1 : 0;
}

/** The files whose conversations say of all that is told whether it goes. */
const IS_WHOLE = /marked|unseen|new|topics/;

/**
 * The targets with those of clauses that are in no list: as the others of their sentence, where these agree; and 0 in a message without
 * any, which only asks the assistant for something.
 */
function spread(targets: readonly number[], clauses: readonly Segment[]): number[] {
  if (targets.every((target) => target < 0)) return targets.map(() => 0);
  return targets.map((target, i) => {
    const own = targets.filter(
      (one, k) => one >= 0 && clauses[k]?.sentence.start === clauses[i]?.sentence.start,
    );
    return target < 0 && own.length > 0 && own.every((one) => one === own[0]) ? (own[0] as number) : target;
  });
}

/** Conversations that are put together from topics, those that are learned from and those that are only counted. */
const DRAWN = { "topics.txt": 1000, "topics-unseen.txt": 150 };

const drawn = Object.entries(DRAWN).flatMap(([file, count]) => {
  const topics = readTopics(new URL(`../forgetting/${file}`, import.meta.url));
  return Array.from({ length: count }, (_, number) =>
    toRow(drawConversation(topics, number), file, file !== "topics.txt"),
  );
});
const written = Object.entries(FILES).flatMap(([file, isUnseen]) =>
  readConversations(file).map((one) => toRow(one, file, isUnseen)),
);
const conversations = [...written, ...drawn];
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "sentences.jsonl"), `${sentences.join("\n")}\n`);
writeFileSync(join(folder, "conversations.jsonl"), `${conversations.join("\n")}\n`);
console.log(`${sentences.length} sentences, ${conversations.length} conversations`);
