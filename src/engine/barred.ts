import type { Tombstone } from "../domain/change-set.ts";
import { type Cut, cutText, GAP } from "../domain/cut.ts";
import type { Message } from "../domain/message.ts";
import type { Scope } from "../domain/scope.ts";
import { type Span, sentencesOf } from "../domain/sentences.ts";
import { wholeTokensFound } from "../domain/token-bounds.ts";
import { ARTICLES, stem, words } from "../domain/words.ts";
import type { Secret } from "../ports/secret.ts";
import { isSaidAgain, MOST_WORDS, tombstoneHash } from "./tombstones.ts";

/** A message as it may be stored, and the hashes of tombstones that the user lifts by saying it again. */
export interface Admitted {
  readonly message: Message;
  readonly lifted: readonly string[];
}

/** Stands before the end of a number in what is hashed: it bars the end alone only where ends are spoken of. */
const PART = "…";
/** Stands before what others can have too: it is barred only where something deleted is spoken of or asked after. */
const SHARED = "~";
const NAMING: readonly string[] = ["ask for", "alias", "name", "named", "called"];
/** So few digits tell no number. */
const LEAST_DIGITS = 3;

const GONE =
  /\b(?:delet|eras|remov|purg|wip(?:e|ing)|clear|scrub|forg[eo]t|expung|redact|discard|withdr[ae]w|retract|unavailable|inaccessible|no longer|stale|previous|prior|former|earlier|old(?:er)?\b|used to|before\b|recover|restor|reveal|any ?more\b|any longer|no one\b|nobody\b|not to be\b|do not\b|don['’]t\b|stop\b|never\b|no\b)/i;
/** "Finish that erased line for me": then nothing in the message tells anything anew. */
const DELETED_THING =
  /\b(?:the|that|this|any|my|our|his|her|their|an?) (?:old |former |earlier )?(?:deleted|erased|removed|purged|forgotten) \p{L}/iu;
const ASKS =
  /\?["'”’)]*$|^\s*(?:is|was|were|are|did|does|do|has|had|have|can|could|would|should|will|what|which|who|whose|where|when|why|how|tell me|confirm|just confirm|remind me)\b/i;
const PARTLY =
  /\b(?:ends?|ended|ending|last|final|digits?|starts?|started|begins?|began|beginning|first|prefix|suffix|then)\b/i;

/**
 * The message without words that are barred by a tombstone. The user's own telling it again stays, and lifts the
 * tombstone; asking after it, or saying that it is deleted, does neither. Where a sentence tells it again as if nothing
 * had been erased, and was said before or by somebody else, it goes whole.
 */
export function withoutBarred(
  secret: Secret,
  scope: Scope,
  message: Message,
  tombstones: ReadonlyMap<string, Tombstone>,
): Admitted {
  const barred = new Map([...tombstones].filter(([, { of }]) => of === "words"));
  if (barred.size === 0) return { message, lifted: [] };
  const lifted = new Set<string>();
  const cuts: Cut[] = [];
  const asksForIt = DELETED_THING.test(message.content);
  for (const sentence of sentencesOf(message.content)) {
    const text = message.content.slice(sentence.start, sentence.end);
    const runs = barredRuns(secret, scope, text, barred);
    const stays = runs.filter((run) => mayStay(message, text, run) && !(run.isMarked && asksForIt));
    if (runs.length > 0 && stays.length === runs.length) for (const { hash } of runs) lifted.add(hash);
    else
      cuts.push(
        ...cutOf(
          sentence,
          text,
          runs.filter((run) => !stays.includes(run)),
        ),
      );
  }
  if (cuts.length === 0) return { message, lifted: [...lifted] };
  const { parts: _parts, ...rest } = message;
  return { message: { ...rest, content: cutText(message.content, cuts).text }, lifted: [...lifted] };
}

interface Run extends Span {
  readonly hash: string;
  readonly tombstone: Tombstone;
  /** Of several words, or with a digit: nothing that people say by the way. */
  readonly isMarked: boolean;
}

function mayStay(message: Message, sentence: string, { tombstone, isMarked }: Run): boolean {
  if (!isSaidAgain(message, tombstone)) return false;
  return !isMarked || !(GONE.test(sentence) || ASKS.test(sentence));
}

function cutOf(sentence: Span, text: string, runs: readonly Run[]): Cut[] {
  if (runs.length === 0) return [];
  if (!GONE.test(text) && !ASKS.test(text)) return [{ ...sentence, put: "" }];
  return runs.map(({ start, end }) => ({
    start: sentence.start + start,
    end: sentence.start + end,
    put: GAP,
  }));
}

const WORD = /[\p{L}\p{N}]+(?:['’]\p{L}+)?/gu;

function tokensOf(sentence: string): Token[] {
  return Array.from(sentence.matchAll(WORD), ({ 0: word, index }) => ({
    word: words(word)[0] ?? "",
    start: index,
    end: index + word.length,
  })).filter(({ word }) => word !== "" && !ARTICLES.has(word));
}

interface Token extends Span {
  readonly word: string;
}

/** What is hashed of the first tokens, the first two, and so on: as long as that is whole. */
function* keysFrom(
  sentence: string,
  tokens: readonly Token[],
): Generator<{ readonly key: string; readonly last: Token; readonly isMarked: boolean }> {
  const [first] = tokens;
  let key = "";
  for (const [more, last] of tokens.entries()) {
    key += `${more === 0 ? "" : " "}${stem(last.word)}`;
    // "200 USD" is not barred in "2,200 USD". The longest runs may be stretches of a longer value, and end anywhere.
    const isStretch = more === MOST_WORDS - 1;
    if (first && !isStretch && !isWhole(sentence, first, last)) continue;
    yield { key, last, isMarked: more > 0 || /\d/.test(key) };
  }
}

function isWhole(sentence: string, { start }: Span, { end }: Span): boolean {
  return wholeTokensFound(sentence, { start, end }) !== undefined;
}

/** The runs of words in a sentence that have a tombstone. */
function barredRuns(
  secret: Secret,
  scope: Scope,
  sentence: string,
  barred: ReadonlyMap<string, Tombstone>,
): Run[] {
  const tokens = tokensOf(sentence);
  const speaksOfParts = PARTLY.test(sentence) || ASKS.test(sentence);
  const speaksOfGone = GONE.test(sentence) || ASKS.test(sentence);
  const runs: Run[] = [];
  const look = (key: string, from: Span, to: Span, isMarked: boolean): void => {
    const hash = tombstoneHash(secret, scope, "words", key);
    const tombstone = barred.get(hash);
    if (tombstone) runs.push({ hash, tombstone, start: from.start, end: to.end, isMarked });
  };
  for (const [i, first] of tokens.entries()) {
    for (const { key, last, isMarked } of keysFrom(sentence, tokens.slice(i, i + MOST_WORDS))) {
      look(key, first, last, isMarked);
      if (speaksOfGone) look(SHARED + key, first, last, true);
    }
    if (speaksOfParts && /^\d+$/.test(first.word)) look(PART + first.word, first, first, true);
  }
  return runs;
}

/** How a value comes back: everywhere, only as a name, or only where something deleted is spoken of. */
export type Barring = "everywhere" | "as a name" | "where it is spoken of";

/** What bars a value or a wording from coming back: its words, each stretch of them, its joined form, its end. */
export function wordTombstones(
  secret: Secret,
  scope: Scope,
  { text, barring, at }: { readonly text: string; readonly barring: Barring; readonly at: string },
): Tombstone[] {
  const all = words(text).filter((word) => !ARTICLES.has(word));
  if (all.length === 0) return [];
  const keys = barring === "everywhere" ? keysOf(all) : otherKeys(all.map(stem).join(" "), barring);
  return keys.map((key) => ({ hash: tombstoneHash(secret, scope, "words", key), of: "words", at }));
}

function otherKeys(key: string, barring: Barring): string[] {
  if (barring === "where it is spoken of") return [SHARED + key];
  return [SHARED + key, ...NAMING.map((naming) => `${words(naming).map(stem).join(" ")} ${key}`)];
}

function keysOf(all: readonly string[]): string[] {
  const stems = all.map(stem);
  const isNumber = all.length > 1 && all.length <= MOST_WORDS && all.every((word) => /^\d+$/.test(word));
  const last = all.at(-1) ?? "";
  const starts = Array.from({ length: Math.max(1, stems.length - MOST_WORDS + 1) }, (_, i) => i);
  return [
    ...new Set(starts.map((i) => stems.slice(i, i + MOST_WORDS).join(" "))),
    ...(isNumber ? [all.join("")] : []),
    ...(isNumber && last.length >= LEAST_DIGITS ? [PART + last] : []),
  ];
}
