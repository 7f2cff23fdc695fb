// Writes what `train_clauses.py` learns from into a folder: node scripts/forgetting/clause-rows.ts FOLDER
// For each request of the files of conversations: its words, and every clause of the conversation and of twenty messages of others, with
// the signs by which it is rated and whether it is meant.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import type { Message } from "../../src/domain/message.ts";
import { splitSentences, type TextSpan } from "../../src/domain/text/split-text.ts";
import { embedWord, SENTENCE_DIMENSIONS } from "../../src/language/en/embedding/sentence-vectors.ts";
import { type RoledWords, requestWords } from "../../src/language/en/forget-requests/clause-words.ts";
import { type RatedSegment, readSigns, toClause } from "../../src/language/en/forget-requests/retrieve.ts";
import { wantedIn } from "../../src/language/en/forget-requests/wanted.ts";
import { readRequest } from "../../src/language/en/grammar/forgetting/request-network.ts";
import { shapeOf } from "../../src/language/en/word-encoder.ts";
import { toMessage } from "./conversation-messages.ts";
import { readConversations, type WrittenConversation } from "./written-conversations.ts";

/** The files, and what each is for. */
const FILES: Readonly<Record<string, "learn" | "test">> = {
  "conversations.txt": "learn",
  "conversations-marked.txt": "learn",
  "conversations-unfitted.txt": "learn",
  "conversations-unread.txt": "learn",
  "conversations-unseen.txt": "test",
};
/** Messages of other conversations that stand before each. */
const OTHERS = 20;

interface Conversation {
  readonly messages: readonly Message[];
  readonly gone: readonly string[];
  readonly kept: readonly string[];
  readonly request?: {
    readonly message: Message;
    readonly spans: readonly TextSpan[];
    readonly phrase: string;
  };
}

const folder = process.argv[2] ?? "reports/clauses";
const embedder = staticEmbedder();
const places = new Map<string, number>();
const draw = drawFrom(7);

function drawFrom(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return Math.floor((state / 0x8000_0000) * count);
  };
}

function toConversation({ messages: written, gone, kept, request }: WrittenConversation): Conversation {
  const messages = written.map(({ role, name = "", text }, i) =>
    toMessage(role === "assistant" ? "A>" : `${name}>`, text, i),
  );
  const message = request && messages[request.message];
  if (!message) return { messages, gone: [], kept: [] };
  // An explicit call is a request as a whole.
  const isCall = written[request.message]?.isCall === true;
  const sentences = splitSentences(message.content);
  const spans = isCall
    ? [{ start: 0, end: message.content.length }]
    : request.sentences.flatMap((number) => sentences[number] ?? []);
  const phrase = spans.map(({ start, end }) => targetIn(message.content.slice(start, end))).join(", ");
  return { messages, gone, kept, request: { message, spans, phrase } };
}

/** What a sentence says is to go, by the network for requests; all of it, where that finds nothing. */
function targetIn(sentence: string): string {
  const targets = readRequest(sentence).spans.filter(({ part }) => part === "target");
  return targets.length === 0
    ? sentence
    : targets.map(({ start, end }) => sentence.slice(start, end)).join(", ");
}

const holdsAny = (text: string, some: readonly string[]): boolean => {
  const low = flatten(text);
  return some.some((one) => low.includes(flatten(one)) || (low.length > 5 && flatten(one).includes(low)));
};
const flatten = (text: string): string => text.toLowerCase().replaceAll(/[’‘]/g, "'");

function placeOf(word: string): number {
  const place = places.get(word) ?? places.size;
  places.set(word, place);
  return place;
}

/** 1 for what is to go, 0 for what stays, -1 where the conversation does not say. */
function targetOf(
  segment: Pick<RatedSegment, "text">,
  { gone, kept }: Conversation,
  isOther: boolean,
): number {
  if (isOther) return 0;
  const [isGone, isKept] = [holdsAny(segment.text, gone), holdsAny(segment.text, kept)];
  if (isGone === isKept) return -1;
  return isGone ? 1 : 0;
}

async function rowOf(
  conversation: Conversation,
  set: string,
  pool: readonly Message[],
): Promise<string | undefined> {
  const { request, messages } = conversation;
  if (!request) return undefined;
  const others = Array.from({ length: OTHERS }, (_, i) => ({
    ...(pool[draw(pool.length)] as Message),
    id: `o${i}`,
  }));
  const all = [
    ...others.filter(({ content }) => !messages.some((one) => one.content === content)),
    ...messages,
  ];
  const source = { message: request.message, spans: request.spans };
  const content = { messages: new Map(all.map((one) => [one.id, one])), memories: new Map() };
  const description = { phrase: request.phrase, wanted: wantedIn(request.phrase), isBroad: false };
  const rated = await readSigns(embedder, content as never, description, source as never);
  const clauses = rated.map((segment) => {
    return {
      ...toText(toClause(segment).text),
      signs: segment.signs,
      isOther: segment.message?.id.startsWith("o") ?? false,
      isUser: segment.message?.role === "user",
      target: targetOf(segment, conversation, segment.message?.id.startsWith("o") ?? false),
    };
  });
  if (!clauses.some(({ target }) => target === 1)) return undefined;
  return JSON.stringify({
    set,
    request: toText(await requestWords(request.phrase, source as never)),
    phrase: toText(await requestWords(request.phrase, undefined)),
    clauses,
  });
}

function toText({ words, roles }: RoledWords): {
  readonly words: readonly number[];
  readonly shapes: readonly number[];
  readonly roles: readonly number[];
} {
  return {
    words: words.map(({ norm }) => placeOf(norm.toLowerCase())),
    shapes: words.map(({ text }, i) => shapeOf(text, i)),
    roles,
  };
}

const rows: string[] = [];
const sets = Object.entries(FILES).map(([file, use]) => ({
  file,
  use,
  all: readConversations(file).map(toConversation),
}));
for (const { file, use, all } of sets) {
  const pool = sets
    .filter((one) => one.use === use)
    .flatMap((one) => one.all)
    .flatMap(({ messages, request }) =>
      messages.filter((one) => one.role === "user" && one !== request?.message),
    );
  for (const one of all) rows.push((await rowOf(one, use === "learn" ? file : "unseen", pool)) ?? "");
}
const vectors = new Float32Array(places.size * SENTENCE_DIMENSIONS);
for (const [word, place] of places) vectors.set(embedWord(word), place * SENTENCE_DIMENSIONS);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "rows.jsonl"), `${rows.filter((row) => row !== "").join("\n")}\n`);
writeFileSync(join(folder, "words.json"), JSON.stringify([...places.keys()]));
writeFileSync(join(folder, "vectors.bin"), new Uint8Array(vectors.buffer));
console.log(`${rows.filter((row) => row !== "").length} requests, ${places.size} words`);
