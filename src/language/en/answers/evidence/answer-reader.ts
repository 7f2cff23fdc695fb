import type { Message } from "../../../../domain/message.ts";
import { spansOverlap, type TextSpan } from "../../../../domain/text/split-text.ts";
import type { StoredContent } from "../../../../ports/language/stored-content.ts";
import { type RateWindow, rateTexts } from "../../transformer/reader.ts";
import { splitSegments } from "../../transformer/segments.ts";
import {
  chooseTexts,
  ROLES,
  type RoledPieces,
  type TextToRead,
  toRoledPieces,
  toWindowEntries,
  WINDOW,
} from "../../transformer/windows.ts";
import type { EvidenceStatement } from "./statements.ts";

/** Pieces of a question that are read. */
const MOST_OF_QUESTION = 48;

/** The reader has learned from what people say, so that its doubt of a memory that somebody wrote counts for less. */
const LEAST_BY_HAND = 0.4;

/** What was said at once: a message, or a memory that came from none; with its clauses. */
interface ToldText extends TextToRead<TextSpan> {
  readonly key: string;
}

/** The probabilities of the clauses of each text that was read, by its key. */
type Readings = ReadonlyMap<string, readonly (TextSpan & { readonly probability: number })[]>;

/**
 * The probability of each statement that it answers a question, by the reader: a transformer that reads the question and what was said
 * around the most promising statements, in order. Statements that are not read are left out.
 */
export async function readAnswers(
  question: string,
  statements: readonly EvidenceStatement[],
  promiseOf: (statement: EvidenceStatement) => number,
  content: Pick<StoredContent, "messages" | "memories">,
  rate?: RateWindow,
): Promise<ReadonlyMap<EvidenceStatement, number>> {
  const asked = toRoledPieces(question, ROLES.question, MOST_OF_QUESTION);
  const found = new Map<EvidenceStatement, number>();
  if (asked.tokens.length === 0 || statements.length === 0) return found;
  const readings = await readTold(asked, chooseTexts(toTold(statements, promiseOf, content), WINDOW), rate);
  for (const statement of statements) {
    const probabilities = placesOf(statement, content).flatMap(({ key, span }) =>
      (readings.get(key) ?? [])
        .filter((clause) => spansOverlap(clause, span))
        .map(({ probability }) => probability),
    );
    const isByHand = statement.memory?.sources.length === 0;
    if (probabilities.length > 0)
      found.set(statement, Math.max(...probabilities, ...(isByHand ? [LEAST_BY_HAND] : [])));
  }
  return found;
}

/** The messages behind the statements with those right before them, and memories that came from none, in order. */
function toTold(
  statements: readonly EvidenceStatement[],
  promiseOf: (statement: EvidenceStatement) => number,
  content: Pick<StoredContent, "messages" | "memories">,
): ToldText[] {
  const promises = new Map<string, number>();
  for (const statement of statements)
    for (const { key } of placesOf(statement, content))
      promises.set(key, Math.max(promises.get(key) ?? LEAST, promiseOf(statement)));
  const byHand = [...promises].flatMap(([key, promise]) => {
    const memory = content.messages.has(key) ? undefined : content.memories.get(key);
    return memory ? [toText(key, memory.text, undefined, promise)] : [];
  });
  return [...selectSaid(content.messages, promises), ...byHand];
}

/** The messages that are looked at, each behind the turn right before it. */
function selectSaid(
  messages: StoredContent["messages"],
  promises: ReadonlyMap<string, number>,
): readonly ToldText[] {
  const told: ToldText[] = [];
  let before: Message | undefined;
  for (const message of messages.values()) {
    const promise = promises.get(message.id);
    if (promise !== undefined && before && !promises.has(before.id))
      told.push(toText(before.id, before.content, before, LEAST));
    if (promise !== undefined) told.push(toText(message.id, message.content, message, promise));
    before = isTurn(message) ? message : undefined;
  }
  return told;
}

function isTurn({ role, undone }: Message): boolean {
  return (role === "user" || role === "assistant") && undone !== true;
}

const LEAST = Number.NEGATIVE_INFINITY;

function toText(key: string, text: string, message: Message | undefined, promise: number): ToldText {
  const clauses = splitSegments(text);
  const role = message?.role === "assistant" ? ROLES.assistant : ROLES.user;
  return { key, clauses, promise, entries: toWindowEntries(text, message?.name, clauses, role) };
}

/** Where a statement was said: its words in messages; the whole of a memory that came from none. */
function placesOf(
  { source, memory, said, id }: EvidenceStatement,
  { messages, memories }: Pick<StoredContent, "messages" | "memories">,
): { readonly key: string; readonly span: TextSpan }[] {
  const behind = said ? said.used.flatMap((used) => memories.get(used) ?? []) : [];
  const sources = source ? [source] : [];
  const all = [...sources, ...behind.flatMap((one) => one.sources)];
  const places = all.flatMap(({ message, start, end }) =>
    messages.has(message) ? [{ key: message, span: { start, end } }] : [],
  );
  if (places.length > 0 || memory === undefined) return places;
  return [{ key: memory.id ?? id, span: { start: 0, end: Number.POSITIVE_INFINITY } }];
}

async function readTold(
  question: RoledPieces,
  told: readonly ToldText[],
  rate: RateWindow | undefined,
): Promise<Readings> {
  const rated = await rateTexts<TextSpan, ToldText>(question, told, "answers", rate);
  const byText = Map.groupBy(rated, ({ text }) => text.key);
  return new Map(
    [...byText].map(([key, some]) => [
      key,
      some.map(({ clause: { start, end }, probability }) => ({ start, end, probability })),
    ]),
  );
}
