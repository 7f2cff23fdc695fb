import type { Tombstone } from "../../domain/change-set.ts";
import { MAX_TOMBSTONE_WORDS } from "../../domain/change-set.ts";
import type { Message, Part } from "../../domain/message.ts";
import { collectStrings, isOpaquePart } from "../../domain/opaque-parts.ts";
import type { Scope } from "../../domain/scope.ts";
import { ARTICLES, splitWords, stem } from "../../domain/search/search-terms.ts";
import { cutText, GAP_MARK, matchWholeTokens, type TextCut } from "../../domain/text/cut-text.ts";
import { splitSentences, type TextSpan } from "../../domain/text/split-text.ts";
import type { ErasureTalk } from "../../ports/language/vocabulary.ts";
import type { Secret } from "../../ports/system.ts";
import type { Ports } from "../ports.ts";
import { hashTombstone, isRestatedByUser } from "./tombstones.ts";

/**
 * A message as it may be stored, and the hashes of tombstones that the user lifts by repeating the content.
 */
export interface ScreenedMessage {
  readonly message: Message;
  readonly liftedTombstones: readonly string[];
}

/** Hash prefix for the last part of a number: it is blocked alone only where such parts are mentioned. */
const PART_PREFIX = "…";
/**
 * Hash prefix for words that others may share: they are blocked only in a statement or question about
 * something deleted.
 */
const SHARED_PREFIX = "~";
/** Fewer digits do not identify a number. */
const MIN_DIGITS = 3;

/**
 * The message without words blocked by a tombstone. A user's own restatement stays and lifts the tombstone;
 * asking for it, or saying that it is deleted, does not. A sentence that states it as if nothing had been
 * erased is removed in full, if it was said earlier or by another speaker.
 */
export function redactErased(
  { secret, vocabulary: { phrases } }: Pick<Ports, "secret" | "vocabulary">,
  scope: Scope,
  message: Message,
  tombstones: ReadonlyMap<string, Tombstone>,
): ScreenedMessage {
  const wordTombstones = new Map([...tombstones].filter(([, { of }]) => of === "words"));
  if (wordTombstones.size === 0) return { message, liftedTombstones: [] };
  const lifted = new Set<string>();
  const cuts: TextCut[] = [];
  const asksForIt = phrases.namesErased(message.content);
  for (const sentence of splitSentences(message.content)) {
    const text = message.content.slice(sentence.start, sentence.end);
    const talk = phrases.readErasureTalk(text);
    const runs = findErasedRuns(secret, scope, { sentence: text, talk }, wordTombstones);
    const stays = runs.filter((run) => mayStay(message, talk, run) && !(run.isMarked && asksForIt));
    if (runs.length > 0 && stays.length === runs.length) for (const { hash } of runs) lifted.add(hash);
    else
      cuts.push(
        ...toCuts(
          sentence,
          talk,
          runs.filter((run) => !stays.includes(run)),
        ),
      );
  }
  const isErased = (part: Part): boolean => {
    if (!isOpaquePart(part)) return false;
    const sentence = collectStrings(part).join("\n");
    const talk = phrases.readErasureTalk(sentence);
    return findErasedRuns(secret, scope, { sentence, talk }, wordTombstones).length > 0;
  };
  const { parts = [], ...rest } = message;
  const left = cuts.length > 0 ? [] : parts.filter((part) => !isErased(part));
  if (cuts.length === 0 && left.length === parts.length) return { message, liftedTombstones: [...lifted] };
  return {
    message: {
      ...rest,
      content: cutText(message.content, cuts).text,
      ...(left.length > 0 ? { parts: left } : {}),
    },
    liftedTombstones: [...lifted],
  };
}

interface ErasedRun extends TextSpan {
  readonly hash: string;
  readonly tombstone: Tombstone;
  /** Several words, or one with a digit: not said in passing. */
  readonly isMarked: boolean;
}

function mayStay(message: Message, talk: ErasureTalk, { tombstone, isMarked }: ErasedRun): boolean {
  if (!isRestatedByUser(message, tombstone)) return false;
  return !isMarked || !(talk.isOfErasure || talk.isQuestion);
}

function toCuts(sentence: TextSpan, talk: ErasureTalk, runs: readonly ErasedRun[]): TextCut[] {
  if (runs.length === 0) return [];
  if (!talk.isOfErasure && !talk.isQuestion) return [{ ...sentence, put: "" }];
  return runs.map(({ start, end }) => ({
    start: sentence.start + start,
    end: sentence.start + end,
    put: GAP_MARK,
  }));
}

const WORD = /[\p{L}\p{N}]+(?:['’]\p{L}+)?/gu;

function tokenizeSentence(sentence: string): SentenceToken[] {
  return Array.from(sentence.matchAll(WORD), ({ 0: word, index }) => ({
    word: splitWords(word)[0] ?? "",
    start: index,
    end: index + word.length,
  })).filter(({ word }) => word !== "" && !ARTICLES.has(word));
}

interface SentenceToken extends TextSpan {
  readonly word: string;
}

/** Hash inputs of the first token, the first two, and so on, as long as they end at a token boundary. */
function* eachPrefixKey(
  sentence: string,
  tokens: readonly SentenceToken[],
): Generator<{ readonly key: string; readonly last: SentenceToken; readonly isMarked: boolean }> {
  const [first] = tokens;
  let key = "";
  for (const [more, last] of tokens.entries()) {
    key += `${more === 0 ? "" : " "}${stem(last.word)}`;
    // "200 USD" is not blocked in "2,200 USD". The longest runs may be parts of a longer value and end
    // anywhere.
    const isStretch = more === MAX_TOMBSTONE_WORDS - 1;
    if (first && !isStretch && !isWholeToken(sentence, first, last)) continue;
    yield { key, last, isMarked: more > 0 || /\d/.test(key) };
  }
}

function isWholeToken(sentence: string, { start }: TextSpan, { end }: TextSpan): boolean {
  return matchWholeTokens(sentence, { start, end }) !== undefined;
}

/** The runs of words in a sentence that have a tombstone. */
function findErasedRuns(
  secret: Secret,
  scope: Scope,
  { sentence, talk }: { readonly sentence: string; readonly talk: ErasureTalk },
  barred: ReadonlyMap<string, Tombstone>,
): ErasedRun[] {
  const tokens = tokenizeSentence(sentence);
  const speaksOfParts = talk.isOfParts || talk.isQuestion;
  const speaksOfGone = talk.isOfErasure || talk.isQuestion;
  const runs: ErasedRun[] = [];
  const look = (key: string, from: TextSpan, to: TextSpan, isMarked: boolean): void => {
    const hash = hashTombstone(secret, scope, "words", key);
    const tombstone = barred.get(hash);
    if (tombstone) runs.push({ hash, tombstone, start: from.start, end: to.end, isMarked });
  };
  for (const [i, first] of tokens.entries()) {
    for (const { key, last, isMarked } of eachPrefixKey(sentence, tokens.slice(i, i + MAX_TOMBSTONE_WORDS))) {
      look(key, first, last, isMarked);
      if (speaksOfGone) look(SHARED_PREFIX + key, first, last, true);
    }
    if (speaksOfParts && /^\d+$/.test(first.word)) look(PART_PREFIX + first.word, first, first, true);
  }
  return runs;
}

/** Whether a name was erased, and nobody has said it again since. */
export function isErasedName(
  secret: Secret,
  { scope, tombstones }: { readonly scope: Scope; readonly tombstones: ReadonlyMap<string, Tombstone> },
  name: string,
): boolean {
  if (tombstones.size === 0) return false;
  const key = splitWords(name)
    .filter((word) => !ARTICLES.has(word))
    .map(stem)
    .join(" ");
  return [key, SHARED_PREFIX + key].some((one) => tombstones.has(hashTombstone(secret, scope, "words", one)));
}

/**
 * How widely a value is blocked: everywhere, only as a name, or only where something deleted is mentioned.
 */
export type ErasureReach = "everywhere" | "as a name" | "where it is spoken of";

/** The tombstones of a value or a wording: its words, each run of them, its joined form, its last part. */
export function createWordTombstones(
  { secret, vocabulary }: Pick<Ports, "secret" | "vocabulary">,
  scope: Scope,
  { text, barring, at }: { readonly text: string; readonly barring: ErasureReach; readonly at: string },
): Tombstone[] {
  const words = splitWords(text).filter((word) => !ARTICLES.has(word));
  if (words.length === 0) return [];
  const keys =
    barring === "everywhere"
      ? toWordKeys(words)
      : toLimitedKeys(vocabulary.phrases.naming, words.map(stem).join(" "), barring);
  return keys.map((key) => ({ hash: hashTombstone(secret, scope, "words", key), of: "words", at }));
}

function toLimitedKeys(naming: readonly string[], key: string, barring: ErasureReach): string[] {
  if (barring === "where it is spoken of") return [SHARED_PREFIX + key];
  return [SHARED_PREFIX + key, ...naming.map((phrase) => `${splitWords(phrase).map(stem).join(" ")} ${key}`)];
}

function toWordKeys(all: readonly string[]): string[] {
  const stems = all.map(stem);
  const isNumber =
    all.length > 1 && all.length <= MAX_TOMBSTONE_WORDS && all.every((word) => /^\d+$/.test(word));
  const last = all.at(-1) ?? "";
  const starts = Array.from({ length: Math.max(1, stems.length - MAX_TOMBSTONE_WORDS + 1) }, (_, i) => i);
  return [
    ...new Set(starts.map((i) => stems.slice(i, i + MAX_TOMBSTONE_WORDS).join(" "))),
    ...(isNumber ? [all.join("")] : []),
    ...(isNumber && last.length >= MIN_DIGITS ? [PART_PREFIX + last] : []),
  ];
}
