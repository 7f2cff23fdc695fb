import { readNounPhrase } from "../grammar/clauses/noun-phrases.ts";
import { readVerb, type Verb } from "../grammar/clauses/verbs.ts";
import { AUXILIARIES, BE, PREPOSITIONS } from "../grammar/words/lexicon.ts";
import { isCapital, type Token } from "../grammar/words/token.ts";

const DOING = /^(?:do|does|did|can|will|should|would)$/;

/** Where the noun phrase after the auxiliary ends, "of" and place included: "the name of my trainer". */
export function subjectEnd(tokens: readonly Token[], start: number, auxiliary: string): number {
  const end = Math.min(readNounPhrase(tokens, start, tokens.length) ?? start + 1, tokens.length);
  const isDoing = DOING.test(auxiliary);
  const cut = end - start > 1 && BE.has(auxiliary) ? cutAfterBe(tokens, start, end) : undefined;
  const wide = cut ?? widerEnd(tokens, start, end, isDoing);
  if (wide !== undefined) return wide;
  return isDoing && end - start > 1 && isRunOn(tokens, end) ? end - 1 : end;
}

/** "Tina moving", "Sofie vegan": what the tagger takes for one phrase. */
function cutAfterBe(tokens: readonly Token[], start: number, end: number): number | undefined {
  if (/[a-z]{2}ing$/.test(tokens[end - 1]?.word ?? "")) return end - 1;
  if (/^(?:set|moored|kept|stored|hidden|booked)$/.test(tokens[end - 1]?.lower ?? "")) return end - 1;
  const isName = isCapital(tokens[start]) && !tokens[start]?.owner;
  return isName && isPlainWord(tokens[start + 1]) ? start + 1 : undefined;
}

/** "my brother play": the last word is the verb. */
function isRunOn(tokens: readonly Token[], end: number): boolean {
  const last = tokens[end - 1];
  const isEnd = end >= tokens.length || PREPOSITIONS.has(tokens[end]?.lower ?? "");
  return isEnd && !last?.owner && /^[a-z]+$/.test(last?.word ?? "");
}

function isPlainWord(token: Token | undefined): boolean {
  return /^[a-z]/.test(token?.word ?? "") && !token?.owner;
}

/** "my flight TO OSLO": a name behind a preposition belongs to the noun where something follows, or nothing does. */
function widerEnd(
  tokens: readonly Token[],
  start: number,
  end: number,
  isDoing: boolean,
): number | undefined {
  const isJoint = /^(?:to|from|with|for|in|at)$/.test(tokens[end]?.lower ?? "");
  if (tokens[start]?.class !== "possessive" || !isJoint || !isCapital(tokens[end + 1])) return undefined;
  let to = end + 2;
  while (to < tokens.length && isCapital(tokens[to])) to += 1;
  return isDoing && to >= tokens.length ? undefined : to;
}

/** The main verb behind the subject; after "do" any word there is one. */
export function mainVerb(tokens: Token[], auxiliary: number, from: number): Verb | undefined {
  let at = from;
  while (isSkipped(tokens[at])) at += 1;
  const token = tokens[at];
  const helper = tokens[auxiliary]?.lower ?? "";
  if (!token) return undefined;
  if (isForced(token, helper)) token.class = "verb";
  const isForm = /(?:ing|ed|en|wn|ught|pt|ld|id)$/.test(token.lower) || token.tags.has("PastTense");
  if (token.class !== "verb" || (BE.has(helper) && !isForm)) return undefined;
  return readVerb(tokens, at, tokens.length);
}

function isSkipped(token: Token | undefined): boolean {
  if (!token) return false;
  return ["adverb", "negation"].includes(token.class) || ["still", "ever", "also"].includes(token.lower);
}

function isForced(token: Token, helper: string): boolean {
  const isDoing = /^(?:do|does|did|should|can|could|would|will)$/.test(helper);
  if (isDoing) return !["preposition", "determiner", "possessive"].includes(token.class);
  return BE.has(helper) && /ing$/.test(token.lower) && !["pronoun", "determiner"].includes(token.class);
}

export function skipNegation(tokens: readonly Token[], from: number): number {
  let at = from;
  while (tokens[at]?.class === "negation") at += 1;
  return at;
}

/** The tense that an auxiliary gives a question. */
export function auxiliaryTense(auxiliary: string, verb: Verb | undefined): Verb["tense"] {
  if (/^(?:did|was|were|had)$/.test(auxiliary)) return "past";
  if (auxiliary === "will") return "future";
  return verb?.tense === "future" ? "future" : "present";
}

/** "what running shoes do I": a participle in the noun phrase is not the verb. */
export function isTopicVerb(tokens: readonly Token[], at: number, wh: number): boolean {
  const token = tokens[at];
  if (!token || AUXILIARIES.has(token.lower) || at - wh > 2) return false;
  if (/^(?:who|where|when)$/.test(tokens[wh]?.lower ?? "")) return false;
  return tokens.slice(at + 1, at + 5).some((one) => AUXILIARIES.has(one.lower) && one.contracted !== "rest");
}

/** A preposition at the end of the question: "Who is my pension WITH?" */
export function strandedAt(tokens: readonly Token[], from: number): string | undefined {
  const last = tokens.at(-1);
  if (!last || from >= tokens.length || last.class === "verb" || !PREPOSITIONS.has(last.lower))
    return undefined;
  return /^(?:before|after|since|until|past|next|like|down)$/.test(last.lower) ? undefined : last.lower;
}
