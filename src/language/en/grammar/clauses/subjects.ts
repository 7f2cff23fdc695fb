import { isPersonNoun } from "../words/persons.ts";
import { isCapital, type Stretch, type Token } from "../words/token.ts";

/** Marks that end a segment, and marks inside one. */
export const HARD: RegExp = /[;:!?.…\n]|--|[–—]|(?:^|\s)-(?:\s|$)/;
export const SOFT: RegExp = /[,()]/;

/** The noun phrase that ends right before a verb. */
export function subjectBefore(
  tokens: readonly Token[],
  verb: number,
  from: number,
  hasVerbBefore: boolean,
): Stretch | undefined {
  const end = subjectEnd(tokens, verb, from);
  const last = tokens[end - 1];
  if (!last || end <= from) return undefined;
  if (tokens[verb]?.contracted !== "rest" && SOFT.test(last.after)) {
    const apposed = withApposition(tokens, end, from);
    return !hasVerbBefore || (apposed && isAnother(tokens, apposed, from)) ? apposed : undefined;
  }
  if (last.class === "question") return [end - 1, end];
  if (last.lower === "that" && last.class !== "conjunction") return [end - 1, end];
  if (last.class === "pronoun") {
    if (["me", "him", "us", "them"].includes(last.lower)) return partOf(tokens, end, from);
    return [companion(tokens, end - 1, from, hasVerbBefore), end];
  }
  const start = phraseStart(tokens, end, from);
  return start === undefined ? undefined : [widened(tokens, start, from, hasVerbBefore), end];
}

/** "I met Bo, THE OTHER ONE, ANA, left": no object of the verb before. */
function isAnother(tokens: readonly Token[], [begin, end]: Stretch, from: number): boolean {
  const comma = tokens.findIndex(({ after }, i) => i >= begin && i < end && after.includes(","));
  const isFree = begin > from && SOFT.test(tokens[begin - 1]?.after ?? "");
  return isFree && tokens[begin]?.lower === "the" && tokens[comma]?.lower === "one";
}

/** "two of them are": some of those who were named; undefined for an object. */
function partOf(tokens: readonly Token[], end: number, from: number): Stretch | undefined {
  const isPart = tokens[end - 2]?.lower === "of" && end - 3 >= from;
  return isPart ? [phraseStart(tokens, end - 2, from) ?? end - 3, end] : undefined;
}

/** Before adverbs: "I always use", "they both love". */
function subjectEnd(tokens: readonly Token[], verb: number, from: number): number {
  let end = verb;
  while (end > from && isPassed(tokens[end - 1])) end -= 1;
  const isAll = ["both", "all", "each"].includes(tokens[end - 1]?.lower ?? "");
  return isAll && end > from && tokens[end - 2]?.class === "pronoun" ? end - 1 : end;
}

function isPassed(token: Token | undefined): boolean {
  if (token?.lower === "myself" && token.after === " ") return true;
  return token !== undefined && ["adverb", "negation"].includes(token.class) && !SOFT.test(token.after);
}

/** "my best mate FROM UNI": also what describes the noun. */
function wholePhraseStart(tokens: readonly Token[], end: number, from: number): number | undefined {
  const start = phraseStart(tokens, end, from);
  if (start === undefined || tokens[start - 1]?.class !== "preposition") return start;
  const described = phraseStart(tokens, start - 1, from);
  return described === from ? described : start;
}

/** "Petra, my manager, is": the noun phrase between commas and the name before it, or the other way round. */
function withApposition(tokens: readonly Token[], end: number, from: number): Stretch | undefined {
  const inner = namesStart(tokens, end, from) ?? phraseStart(tokens, end, from);
  if (inner === undefined || inner <= from || !/^,\s*$/.test(tokens[inner - 1]?.after ?? ""))
    return undefined;
  const outer = wholePhraseStart(tokens, inner, from);
  if (outer === undefined) return undefined;
  const isOwn = (at: number): boolean => tokens[at]?.class === "possessive" || tokens[at]?.lower === "the";
  // "the Eagle" is a name, too.
  const isNamed = (at: number): boolean => {
    const first = tokens[at]?.lower === "the" ? at + 1 : at;
    return isCapital(tokens[first]) && (first > at || tokens[first]?.class === "name");
  };
  return (isOwn(inner) && isNamed(outer)) || (isOwn(outer) && isNamed(inner)) ? [outer, end] : undefined;
}

/** Where several names begin that end here: "my cats, TIK AND TAK, hate", "my kids, SAM, LILY AND MO, love". */
function namesStart(tokens: readonly Token[], end: number, from: number): number | undefined {
  let start = end;
  let hasAnd = false;
  while (start > from) {
    const token = tokens[start - 1];
    const isAnd = /^(?:and|&)$/.test(token?.lower ?? "");
    if (isAnd ? hasAnd || start === end : !isCapital(token)) break;
    hasAnd ||= isAnd;
    start -= 1;
  }
  return hasAnd && end - start > 2 ? start : undefined;
}

/** "Marco and I": with the one before. */
function companion(tokens: readonly Token[], at: number, from: number, hasVerbBefore: boolean): number {
  const joins = tokens[at - 1]?.lower === "and" && at - 2 >= from && tokens[at]?.lower === "i";
  if (!joins || !["noun", "name"].includes(tokens[at - 2]?.class ?? "")) return at;
  const start = phraseStart(tokens, at - 1, from);
  // "I use Trello and I like it": an object, not a companion.
  if (start === undefined || (start === from && hasVerbBefore)) return at;
  const before = start > from ? tokens[start - 1] : undefined;
  const isFree = !before || SOFT.test(before.after) || ["conjunction", "adverb"].includes(before.class);
  return isFree ? start : at;
}

const IN_PHRASE = new Set(["noun", "name", "adjective", "number", "pronoun"]);

/** Where the noun phrase that ends here begins. */
function phraseStart(tokens: readonly Token[], end: number, from: number): number | undefined {
  let start = end;
  let hasNoun = false;
  while (start > from) {
    const token = tokens[start - 1];
    if (!token || (start < end && endsBefore(token, tokens[start]))) break;
    if (token.class === "possessive" || token.class === "determiner") return afterAll(tokens, start - 1);
    if (!IN_PHRASE.has(token.class)) break;
    if (["noun", "name", "number"].includes(token.class)) hasNoun = true;
    start -= 1;
  }
  return hasNoun && start < end ? start : undefined;
}

/** Whether a noun phrase does not reach back over a word: a comma, a pronoun, "Thursday at 11 Denise does my hair". */
function endsBefore(token: Token, next: Token | undefined): boolean {
  if (SOFT.test(token.after) || token.class === "pronoun") return true;
  return token.class === "number" && next?.class === "name";
}

/** "all my", "both of my" */
function afterAll(tokens: readonly Token[], start: number): number {
  return ["all", "both"].includes(tokens[start - 1]?.lower ?? "") ? start - 1 : start;
}

/** "The name OF MY DOG is", "my flat IN LEEDS costs": back over what hangs on the noun. */
function widened(tokens: readonly Token[], start: number, from: number, hasVerbBefore: boolean): number {
  let at = start;
  for (let depth = 0; depth < 3; depth += 1) {
    const before = hangsOn(tokens, at, from, hasVerbBefore) ? phraseStart(tokens, at - 1, from) : undefined;
    if (before === undefined) return at;
    at = before;
  }
  return at;
}

function hangsOn(tokens: readonly Token[], at: number, from: number, hasVerbBefore: boolean): boolean {
  const joint = tokens[at - 1];
  if (!joint || at - 2 < from || SOFT.test(tokens[at - 2]?.after ?? "")) return false;
  if (joint.lower === "of") return true;
  // "…, doctor in Leeds has told her"
  const isOfPerson = joint.class === "preposition" && isPersonNoun(tokens[at - 2]?.lower ?? "");
  if (hasVerbBefore) return isOfPerson;
  return joint.lower === "and" || (joint.class === "preposition" && tokens[at - 2]?.class !== "verb");
}
