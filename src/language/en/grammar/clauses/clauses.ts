import { toSingular } from "../../word-forms.ts";
import { withoutTag } from "../scraps/tag-questions.ts";
import { ANIMALS, AUXILIARIES, BE, COORDINATORS, FILLERS, SAYING, SUBORDINATORS } from "../words/lexicon.ts";
import { isPersonNoun } from "../words/persons.ts";
import { isCapital, type Stretch, type Token } from "../words/token.ts";
import { boundaryOf, type ClauseRole, type Found, roleOf } from "./clause-bounds.ts";
import { NAMING } from "./noun-phrases.ts";
import { shared } from "./shared-verbs.ts";
import { HARD, SOFT, subjectBefore } from "./subjects.ts";
import { formOf, readVerb, type Verb } from "./verbs.ts";

export interface Clause {
  readonly tokens: readonly Token[];
  readonly role: ClauseRole;
  /** The word that brings it in. */
  readonly opener?: string;
  /** Indices of the tokens of the subject; absent where it is left out ("sold the Canon"). */
  readonly subject?: Stretch;
  /** Where the subject is left out and the clause before has one: shared with it. */
  readonly shares: boolean;
  readonly verb: Verb;
  /** What stands before the subject: "for work", "on Sundays". */
  readonly lead: Stretch;
  readonly rest: Stretch;
  /** A question by its word order or its mark. */
  readonly asks: boolean;
}

/** Cuts a sentence into its clauses, in order. */
export function clausesOf(all: readonly Token[]): Clause[] {
  const tokens = withoutAsides(withoutBrackets(all));
  return segments(tokens).flatMap(([from, to]) => segmentClauses(tokens, from, to));
}

/** "Hugo (8), Elsa (5)": one or two words in brackets go, so that the list stays whole. */
function withoutBrackets(tokens: readonly Token[]): readonly Token[] {
  if (!tokens.some(({ before, after, word }) => `${before}${after}${word}`.includes("("))) return tokens;
  const kept: Token[] = [];
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i];
    const last = kept.at(-1);
    if (!token) break;
    const opens =
      last !== undefined && (/\(\s*$/.test(last.after) || /\(/.test(`${token.before}${token.word}`));
    const close = opens
      ? tokens.findIndex((one, at) => at >= i && at < i + 3 && /\)/.test(`${one.word}${one.after}`))
      : -1;
    const inner = close < 0 ? [] : tokens.slice(i, close + 1);
    if (
      last &&
      close >= 0 &&
      inner.every(
        ({ class: kind, word }) => kind === "number" || kind === "adverb" || /^\(?\d+\)?$/.test(word),
      )
    ) {
      kept[kept.length - 1] = { ...last, after: (tokens[close]?.after ?? "").replace(")", "") };
      i = close;
    } else kept.push(token);
  }
  return kept;
}

/** "Linear and, when I must, Jira": what stands between the commas goes, so that the list stays whole. */
function withoutAsides(tokens: readonly Token[]): Token[] {
  const kept: Token[] = [];
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i];
    if (!token) break;
    kept.push(token);
    if (!COORDINATORS.has(token.lower) || !token.after.includes(",")) continue;
    const close = tokens.findIndex((one, at) => at > i && at < i + 9 && one.after.includes(","));
    if (close > i && opensAside(tokens[i + 1])) i = close;
  }
  return kept;
}

function opensAside(token: Token | undefined): boolean {
  if (!token) return false;
  return SUBORDINATORS.has(token.lower) || token.class === "adverb" || token.class === "preposition";
}

function segments(tokens: readonly Token[]): readonly Stretch[] {
  const found: Stretch[] = [];
  let from = 0;
  for (const [i, token] of tokens.entries()) {
    if (!HARD.test(token.after) && i < tokens.length - 1) continue;
    // "Mr. Petrakis", "a.m."
    if (token.after.trim() === "." && i < tokens.length - 1) continue;
    found.push(...withoutTag(tokens, [from, i + 1]));
    from = i + 1;
  }
  return found;
}

function segmentClauses(tokens: readonly Token[], from: number, to: number): Clause[] {
  const verbs = finiteVerbs(tokens, from, to);
  const starts = verbs.map((verb, k) =>
    boundaryOf(tokens, verb, k === 0 ? from : (verbs[k - 1]?.verb.to ?? from), k === 0),
  );
  return verbs.flatMap((found, k) => {
    const start = starts[k];
    if (!start) return [];
    const end = starts[k + 1]?.at ?? to;
    return [
      {
        tokens,
        ...roleOf(tokens, start, found, verbs[k - 1]),
        ...(found.subject ? { subject: found.subject } : {}),
        shares: !found.subject && k > 0,
        verb: found.verb,
        lead: [start.lead, found.subject?.[0] ?? found.verb.from] as const,
        rest: [found.verb.to, found.subject && k > 0 ? resumedAt(tokens, found, end) : end] as const,
        asks: asks(tokens, found, start.lead, to),
      },
    ];
  });
}

/** "a sister, she's a nurse in Bonn, AND A BROTHER": what goes on with the clause before is no part of this one. */
function resumedAt(tokens: readonly Token[], { subject, verb }: Found, end: number): number {
  if (!/^(?:he|she)$/.test(tokens[subject?.[0] ?? -1]?.lower ?? "")) return end;
  const at = tokens.findIndex(
    ({ lower }, i) =>
      i > verb.to &&
      i < end &&
      COORDINATORS.has(lower) &&
      tokens[i - 1]?.after.includes(",") &&
      /^(?:a|an|two|three|four)$/.test(tokens[i + 1]?.lower ?? "") &&
      tokens
        .slice(i + 2, i + 4)
        .some(({ lower: noun }) => isPersonNoun(noun) || ANIMALS.has(toSingular(noun))),
  );
  return at < 0 ? end : at;
}

function finiteVerbs(tokens: readonly Token[], from: number, to: number): Found[] {
  const found: Found[] = [];
  let at = from;
  while (at < to) {
    const next =
      tokens[at]?.class === "verb" ? carrierAt(tokens, at, { from, to, last: found.at(-1) }) : undefined;
    if (next) found.push(next);
    at = Math.max(next?.verb.to ?? 0, at + 1);
  }
  return found;
}

interface Around {
  readonly from: number;
  readonly to: number;
  readonly last: Found | undefined;
}

function carrierAt(tokens: readonly Token[], at: number, around: Around): Found | undefined {
  const inverted = invertedSubject(tokens, at, around);
  if (inverted) return inverted;
  const read = readVerb(tokens, at, around.to);
  if (!read) return undefined;
  const { last, from } = around;
  const subject = subjectBefore(tokens, at, last?.verb.to ?? from, last !== undefined);
  const own = subject ? read : deniedWithout(tokens, at, read, last !== undefined);
  const verb = subject ? own : shared(tokens, own, last);
  return carries({ tokens, verb, subject, last, from })
    ? { verb, ...(subject ? { subject } : {}) }
    : undefined;
}

/** "not taking creatine anymore", "not been to church in years": with "I'm" or "I have" left out. */
function deniedWithout(tokens: readonly Token[], at: number, verb: Verb, isBehind: boolean): Verb {
  if (tokens[at - 1]?.lower !== "not" || UNDONE.test(tokens[at]?.lower ?? "")) return verb;
  if (verb.form === "gerund" || verb.perfect) return { ...verb, denied: "not" };
  // "handmade, not bought in a shop"
  if (isBehind) return verb;
  const isPerfect = verb.tense === "past" && !verb.modal && verb.chain.length === 0 && !verb.passive;
  return isPerfect ? { ...verb, denied: "not", perfect: true, tense: "present" } : verb;
}

/** "Not invited": by somebody else, and nothing that one has not done. */
const UNDONE = /^(?:allowed|invited|paid|supposed|married|asked|told|given|included|meant|interested)$/;

/** "Do I have …", "Where am I …": the subject after the auxiliary. */
function invertedSubject(
  tokens: readonly Token[],
  at: number,
  { from, to, last }: Around,
): Found | undefined {
  const token = tokens[at];
  const next = tokens[at + 1];
  if (!token || last || !AUXILIARIES.has(token.lower) || token.contracted === "rest") return undefined;
  const isSubject = ["i", "you", "we", "he", "she", "they", "it"].includes(next?.lower ?? "");
  if (next?.class !== "pronoun" || !isSubject) return undefined;
  const before = tokens.slice(from, at).filter((one) => !FILLERS.has(one.lower));
  const hasNoun = before.some(({ class: kind }) => ["noun", "name", "pronoun"].includes(kind));
  if (hasNoun && !before.some((one) => one.class === "question")) return undefined;
  // "Should I ever move": over the adverbs.
  const behind = tokens.findIndex(({ class: kind }, i) => i >= at + 2 && kind !== "adverb");
  const main = readVerb(tokens, Math.min(behind, to - 1), to);
  const verb = tokens[behind]?.class === "verb" && main ? main : readVerb(tokens, at, at + 1);
  return verb ? { verb, subject: [at + 1, at + 2] } : undefined;
}

interface Carrying {
  readonly tokens: readonly Token[];
  readonly verb: Verb;
  readonly subject: Stretch | undefined;
  readonly last: Found | undefined;
  readonly from: number;
}

/** Whether a verb makes a clause of its own. */
function carries(it: Carrying): boolean {
  const { tokens, verb } = it;
  const first = tokens[verb.from];
  const before = tokens[verb.from - 1];
  if (!first || before?.lower === "to") return false;
  if (verb.form === "gerund") return before?.class !== "preposition" && gerundCarries(it);
  if (verb.form === "participle" && !AUXILIARIES.has(first.lower)) return pastCarries(it);
  if (verb.form === "participle") return !it.subject && !it.last && isOpen(it);
  return finiteCarries(it, first);
}

function isOpen({ tokens, verb, from }: Carrying): boolean {
  return opensSegment(tokens, verb.from, from);
}

/** "HEARING aids arrived": a part of a noun that has a verb of its own. "Watching kids play" is none. */
function isOfNoun({ tokens, verb }: Carrying): boolean {
  const [noun, next, behind] = [tokens[verb.to], tokens[verb.to + 1], tokens[verb.to + 2]];
  const isBare = noun?.class === "noun" && noun.after === " " && verb.chain.length === 0;
  if (!isBare || next?.class !== "verb" || next.tags.has("Gerund")) return false;
  // "Reading books written by women"
  if (next.tags.has("PastTense") || next.tags.has("Participle"))
    return !/^(?:by|of|in|from|for|with)$/.test(behind?.lower ?? "");
  return !HAVING_DO.test(verb.lemma);
}

const HAVING_DO = /^(?:watch|see|hear|notice|find|keep|leave|want|help|let|make|have|get|feel|teach|wait)$/;

/** "rereading Dune"; "I'm quitting AND OPENING a bakery". */
function gerundCarries(it: Carrying): boolean {
  const { tokens, verb, last, subject } = it;
  if (isOpen(it) && isOfNoun(it)) return false;
  const isJoined = ["and", "or", "but"].includes(tokens[verb.from - 1]?.lower ?? "");
  const isNow =
    /^(?:now|currently|still)$/.test(tokens[verb.from - 1]?.lower ?? "") &&
    afterSeparator(tokens, verb.from - 1);
  if (subject === undefined && last && isNextDoing(it)) return true;
  return subject === undefined && (last ? last.verb.progressive && isJoined : isOpen(it) || isNow);
}

/** "I love singing, DANCING and ACTING": another of what one loves to do. */
function isNextDoing({ tokens, verb, last }: Carrying): boolean {
  const before = tokens[verb.from - 1];
  const isListed = ["and", "or"].includes(before?.lower ?? "") || /^,\s*$/.test(before?.after ?? "");
  return isListed && last?.verb.chain.at(-1)?.next === "gerund";
}

/** "sold the Canon", "and bought a Canon"; not "a parrot called Pip". */
function pastCarries(it: Carrying): boolean {
  const { tokens, verb, subject, last } = it;
  if (verb.tense !== "past") return false;
  if (!subject) return isOpen(it) || afterSeparator(tokens, verb.from);
  const opens = ["pronoun", "possessive"].includes(tokens[subject[0]]?.class ?? "");
  // "and a coach CALLED Dolly"
  if (last && !opens && NAMING.has(tokens[verb.from]?.lower ?? "") && isCapital(tokens[verb.to]))
    return false;
  return !last || opens || separated(tokens, subject[0], last.verb.to);
}

function finiteCarries(it: Carrying, first: Token): boolean {
  const { tokens, verb, subject, last } = it;
  const isAuxiliary = AUXILIARIES.has(first.lower);
  if (!subject) {
    const isLone = isAuxiliary && first.contracted !== "rest" && !last;
    return isOpen(it) || afterSeparator(tokens, verb.from) || isLone;
  }
  if (!last) return true;
  if (!isAuxiliary && isObjectPronoun(it, subject, last)) return false;
  // "return the library books by Friday": straight behind a verb a noun phrase is its object.
  if (isObject(it, subject, last)) {
    if (!isAuxiliary && /s$/.test(first.lower)) first.class = "noun";
    return isAuxiliary && subject[0] >= last.verb.to;
  }
  return subject[0] >= last.verb.to;
}

/** "I painted IT LAST summer": straight behind a verb "it" is its object, unless the next verb agrees with it. */
function isObjectPronoun({ tokens, verb }: Carrying, subject: Stretch, last: Found): boolean {
  const isAlone = subject[1] - subject[0] === 1 && SINGULAR.has(tokens[subject[0]]?.lower ?? "");
  const agrees = verb.tense === "past" || tokens[verb.from]?.lower !== verb.lemma;
  return isAlone && !agrees && subject[0] === last.verb.to && !SAYING.has(last.verb.lemma);
}

const SINGULAR: ReadonlySet<string> = new Set(["it", "this", "that"]);

function isObject({ tokens, verb }: Carrying, subject: Stretch, last: Found): boolean {
  const opener = tokens[subject[0]];
  const isPronoun = opener?.class === "pronoun" || opener?.class === "question" || opener?.lower === "that";
  const follows = !separated(tokens, subject[0], last.verb.to) && verb.from === subject[1];
  return !isPronoun && follows && !SAYING.has(last.verb.lemma);
}

/** Whether something marks a new clause between two places: a comma, "and", "because". */
function separated(tokens: readonly Token[], at: number, from: number): boolean {
  const between = tokens.slice(from, at);
  const marks = between.some(
    ({ after, lower }) => SOFT.test(after) || COORDINATORS.has(lower) || SUBORDINATORS.has(lower),
  );
  return marks || SOFT.test(tokens[from - 1]?.after ?? "");
}

const LIGHT = new Set(["adverb", "other", "negation", "conjunction"]);

/** Whether nothing but fillers, adverbs and openers stands before in the segment. */
function opensSegment(tokens: readonly Token[], at: number, from: number): boolean {
  return tokens.slice(from, at).every(({ class: kind, lower, after }, i) => {
    const isLight = LIGHT.has(kind) || FILLERS.has(lower) || COORDINATORS.has(lower);
    return isLight || (SOFT.test(after) && i < 4);
  });
}

function afterSeparator(tokens: readonly Token[], at: number): boolean {
  let i = at - 1;
  while (i >= 0 && (tokens[i]?.class === "adverb" || tokens[i]?.class === "negation")) {
    if (SOFT.test(tokens[i]?.after ?? "")) return true;
    i -= 1;
  }
  const token = tokens[i];
  if (!token) return true;
  return ["and", "but", "then", "so", "&", "or"].includes(token.lower) || SOFT.test(token.after);
}

function asks(tokens: readonly Token[], { verb, subject }: Found, lead: number, to: number): boolean {
  if (tokens[to - 1]?.after.includes("?")) return true;
  if (!subject) return false;
  if (subject[0] > verb.from) return true;
  const before = tokens[subject[0] - 1]?.lower ?? "";
  const isClose = subject[0] > lead && subject[0] - 1 <= lead + 3;
  const isInverted = isClose && AUXILIARIES.has(before) && tokens[subject[0]]?.class === "pronoun";
  return isInverted && (!BE.has(before) || tokens[lead]?.class === "question");
}

/** Whether the form of a first word makes an order of a sentence without a subject. */
export function isOrder(clause: Clause): boolean {
  const first = clause.tokens[clause.verb.from];
  if (!first || clause.subject || clause.shares) return false;
  // "don't forget to call"
  if (first.lower === "do" && clause.verb.denied) return true;
  return formOf(first) === "base" && clause.verb.tense === "present" && !AUXILIARIES.has(first.lower);
}

/**
 * A sentence without the name of the one it is said to: "Olaf, after the show I …", "I agree, Mia". Between commas and
 * the ends only, and never of a list of names.
 */
export function withoutVocatives(tokens: readonly Token[]): Token[] {
  const [first] = tokens;
  const last = tokens.at(-1);
  let kept = [...tokens];
  if (first && kept.length > 2 && isAddress(kept, 0) && /^,/.test(first.after) && !isAddress(kept, 1))
    kept = kept.slice(1);
  const before = kept.at(-2);
  if (last && before && kept.length > 1 && isAddress(kept, kept.length - 1) && /^,/.test(before.after)) {
    // "Ana, Bo, Cem": each of them is told of.
    if (isAddress(kept, kept.length - 2)) return kept;
    kept = [...kept.slice(0, -2), { ...before, after: last.after }];
  }
  return kept;
}

function isAddress(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  if (!token || token.owner || !isCapital(token) || token.word.length < 2) return false;
  return token.tags.has("FirstName") || token.tags.has("Person") || token.class === "name";
}
