import { AUXILIARIES, BE, COORDINATORS, FILLERS, HYPOTHETICAL, SAYING, SUBORDINATORS } from "./lexicon.ts";
import type { Token } from "./token.ts";
import { formOf, readVerb, type Verb } from "./verbs.ts";

/** How a clause is brought in. */
export type Role =
  | "main"
  /** "when I fly", "since the knee op": narrows another clause. */
  | "circumstance"
  /** "because …", "so that …": a reason, worth little. */
  | "reason"
  /** "if …", "unless …". */
  | "condition"
  /** "who lives in Porto". */
  | "relative"
  /** What is said or thought: "Tina said SHE'S MOVING". */
  | "content";

export interface Clause {
  readonly tokens: readonly Token[];
  readonly role: Role;
  /** The word that brings it in. */
  readonly opener?: string;
  /** Indices of the tokens of the subject; absent where it is left out ("sold the Fuji"). */
  readonly subject?: readonly [number, number];
  /** Where the subject is left out and the clause before has one: shared with it. */
  readonly shares: boolean;
  readonly verb: Verb;
  /** What stands before the subject: "for work", "on Sundays". */
  readonly lead: readonly [number, number];
  readonly rest: readonly [number, number];
  /** A question by its word order or its mark. */
  readonly asks: boolean;
}

const HARD = /[;:!?.…\n]|--|[–—]|(?:^|\s)-(?:\s|$)/;
const SOFT = /[,()]/;

/** Cuts a sentence into its clauses, in order. */
export function clausesOf(all: readonly Token[]): Clause[] {
  const tokens = withoutAsides(all);
  const clauses: Clause[] = [];
  for (const [from, to] of segments(tokens)) clauses.push(...segmentClauses(tokens, from, to));
  return clauses;
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
    const isAside =
      SUBORDINATORS.has(tokens[i + 1]?.lower ?? "") ||
      tokens[i + 1]?.class === "adverb" ||
      tokens[i + 1]?.class === "preposition";
    if (close > i && isAside) i = close;
  }
  return kept;
}

function segments(tokens: readonly Token[]): [number, number][] {
  const found: [number, number][] = [];
  let from = 0;
  for (const [i, token] of tokens.entries()) {
    if (!HARD.test(token.after) && i < tokens.length - 1) continue;
    // "Mr. Petrakis", "a.m."
    if (token.after.trim() === "." && i < tokens.length - 1) continue;
    found.push([from, i + 1]);
    from = i + 1;
  }
  return found;
}

function segmentClauses(tokens: readonly Token[], from: number, to: number): Clause[] {
  const verbs = finiteVerbs(tokens, from, to);
  const clauses: Clause[] = [];
  const starts = verbs.map((verb, k) =>
    boundaryOf(tokens, verb, k === 0 ? from : (verbs[k - 1]?.verb.to ?? from), k === 0),
  );
  for (const [k, found] of verbs.entries()) {
    const start = starts[k];
    if (!start) continue;
    const end = starts[k + 1]?.at ?? to;
    clauses.push({
      tokens,
      ...roleOf(tokens, start, found, verbs[k - 1], k),
      ...(found.subject ? { subject: found.subject } : {}),
      shares: !found.subject && k > 0,
      verb: found.verb,
      lead: [start.lead, found.subject?.[0] ?? found.verb.from],
      rest: [found.verb.to, end],
      asks: asks(tokens, found, start.lead, to),
    });
  }
  return clauses;
}

interface Found {
  readonly verb: Verb;
  readonly subject?: readonly [number, number];
}

/** The verbs that carry a clause, each with its subject. */
function finiteVerbs(tokens: readonly Token[], from: number, to: number): Found[] {
  const found: Found[] = [];
  let at = from;
  while (at < to) {
    const token = tokens[at];
    if (token?.class !== "verb") {
      at += 1;
      continue;
    }
    const last = found.at(-1);
    const inverted = invertedSubject(tokens, at, to, last, from);
    if (inverted) {
      found.push(inverted);
      at = inverted.verb.to;
      continue;
    }
    const verb = readVerb(tokens, at, to);
    if (!verb) break;
    const subject = subjectBefore(tokens, at, last?.verb.to ?? from, last !== undefined);
    if (carries(tokens, verb, subject, last, from)) found.push({ verb, ...(subject ? { subject } : {}) });
    else {
      at += 1;
      continue;
    }
    at = verb.to;
  }
  return found;
}

/** "Do I have …", "Where am I …": the subject after the auxiliary. */
function invertedSubject(
  tokens: readonly Token[],
  at: number,
  to: number,
  last: Found | undefined,
  from: number,
): Found | undefined {
  const token = tokens[at];
  const next = tokens[at + 1];
  if (!token || !next || last || !AUXILIARIES.has(token.lower) || token.contracted === "rest")
    return undefined;
  if (next.class !== "pronoun" || !["i", "you", "we", "he", "she", "they", "it"].includes(next.lower))
    return undefined;
  const before = tokens.slice(from, at).filter((one) => !FILLERS.has(one.lower));
  if (
    before.some((one) => one.class === "noun" || one.class === "name" || one.class === "pronoun") &&
    !before.some((one) => one.class === "question")
  )
    return undefined;
  const main = readVerb(tokens, Math.min(at + 2, to - 1), to);
  const own = readVerb(tokens, at, at + 1);
  const verb = tokens[at + 2]?.class === "verb" && main ? main : own;
  return verb ? { verb, subject: [at + 1, at + 2] } : undefined;
}

function carries(
  tokens: readonly Token[],
  verb: Verb,
  subject: readonly [number, number] | undefined,
  last: Found | undefined,
  from: number,
): boolean {
  const first = tokens[verb.from];
  const before = tokens[verb.from - 1];
  if (!first || before?.lower === "to" || (before?.class === "preposition" && verb.form === "gerund"))
    return false;
  const isOpen = opensSegment(tokens, verb.from, from);
  if (verb.form === "gerund") {
    const goesOn = last?.verb.progressive === true && ["and", "or", "but"].includes(before?.lower ?? "");
    return subject === undefined && ((isOpen && !last) || goesOn);
  }
  if (verb.form === "participle" && !AUXILIARIES.has(first.lower)) {
    const isPast = verb.tense === "past";
    if (subject && !last) return isPast;
    if (subject && last)
      return (
        (isPast && separated(tokens, subject[0], last.verb.to)) || (isPast && isPronounAt(tokens, subject))
      );
    return isPast && (isOpen || afterSeparator(tokens, verb.from));
  }
  if (verb.form === "participle") return subject === undefined && isOpen && !last;
  // "return the library books by Friday": straight behind a verb a noun phrase is its object.
  if (
    subject &&
    last &&
    !isPronounStart(tokens, subject) &&
    !separated(tokens, subject[0], last.verb.to) &&
    !SAYING.has(last.verb.lemma) &&
    verb.from === subject[1]
  ) {
    if (!AUXILIARIES.has(first.lower) && /s$/.test(first.lower)) first.class = "noun";
    return AUXILIARIES.has(first.lower) && subject[0] >= last.verb.to;
  }
  if (subject) return !last || subject[0] >= last.verb.to;
  return (
    isOpen ||
    afterSeparator(tokens, verb.from) ||
    (AUXILIARIES.has(first.lower) && first.contracted !== "rest" && !last)
  );
}

function isPronounStart(tokens: readonly Token[], subject: readonly [number, number]): boolean {
  const first = tokens[subject[0]];
  return first?.class === "pronoun" || first?.class === "question" || first?.lower === "that";
}

function isPronounAt(tokens: readonly Token[], subject: readonly [number, number]): boolean {
  return tokens[subject[0]]?.class === "pronoun" || tokens[subject[0]]?.class === "possessive";
}

/** Whether something marks a new clause between two places: a comma, "and", "because". */
function separated(tokens: readonly Token[], at: number, from: number): boolean {
  for (let i = from; i <= at; i += 1) {
    const token = tokens[i];
    if (!token) continue;
    if (i < at && SOFT.test(token.after)) return true;
    if (i < at && (COORDINATORS.has(token.lower) || SUBORDINATORS.has(token.lower))) return true;
  }
  return SOFT.test(tokens[from - 1]?.after ?? "");
}

/** Whether nothing but fillers, adverbs and openers stands before in the segment. */
function opensSegment(tokens: readonly Token[], at: number, from: number): boolean {
  for (let i = from; i < at; i += 1) {
    const token = tokens[i];
    if (!token) continue;
    const light =
      token.class === "adverb" ||
      token.class === "other" ||
      token.class === "negation" ||
      FILLERS.has(token.lower) ||
      COORDINATORS.has(token.lower) ||
      token.class === "conjunction";
    if (!light && !(SOFT.test(token.after) && i - from < 4)) return false;
  }
  return true;
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

/** The noun phrase that ends right before a verb, as token indices. */
function subjectBefore(
  tokens: readonly Token[],
  verb: number,
  from: number,
  hasVerbBefore: boolean,
): readonly [number, number] | undefined {
  let end = verb;
  while (
    end > from &&
    (tokens[end - 1]?.class === "adverb" || tokens[end - 1]?.class === "negation") &&
    !SOFT.test(tokens[end - 1]?.after ?? "")
  )
    end -= 1;
  // "they both love", "we all went"
  if (
    end > from &&
    ["both", "all", "each"].includes(tokens[end - 1]?.lower ?? "") &&
    tokens[end - 2]?.class === "pronoun"
  )
    end -= 1;
  const last = tokens[end - 1];
  if (!last || end <= from) return undefined;
  const contracted = tokens[verb]?.contracted === "rest";
  if (!contracted && SOFT.test(last.after))
    return hasVerbBefore ? undefined : withApposition(tokens, end, from);
  if (last.class === "question") return [end - 1, end];
  if (last.lower === "that" && last.class !== "conjunction") return [end - 1, end];
  if (last.class === "pronoun") {
    if (["me", "him", "us", "them"].includes(last.lower)) return undefined;
    if (
      last.lower === "it" &&
      tokens[end - 2]?.class === "verb" &&
      hasVerbBefore &&
      !contracted &&
      end - 1 === from
    )
      return [end - 1, end];
    return [companion(tokens, end - 1, from, hasVerbBefore), end];
  }
  const start = phraseStart(tokens, end, from);
  if (start === undefined) return undefined;
  return [widened(tokens, start, from, hasVerbBefore), end];
}

/** "Petra, my manager, is": the noun phrase between commas and the name before it, or the other way round. */
function withApposition(
  tokens: readonly Token[],
  end: number,
  from: number,
): readonly [number, number] | undefined {
  const inner = phraseStart(tokens, end, from);
  if (inner === undefined || inner <= from || !/^,\s*$/.test(tokens[inner - 1]?.after ?? ""))
    return undefined;
  const outer = phraseStart(tokens, inner, from);
  if (outer === undefined) return undefined;
  const isOwn = (at: number): boolean => tokens[at]?.class === "possessive";
  const isNamed = (at: number): boolean =>
    /^\p{Lu}/u.test(tokens[at]?.word ?? "") && tokens[at]?.class === "name";
  return (isOwn(inner) && isNamed(outer)) || (isOwn(outer) && isNamed(inner)) ? [outer, end] : undefined;
}

/** "Marco and I": with the one before. */
function companion(tokens: readonly Token[], at: number, from: number, hasVerbBefore: boolean): number {
  const joins = tokens[at - 1]?.lower === "and" && at - 2 >= from;
  const other = tokens[at - 2];
  if (!joins || !other || !["noun", "name"].includes(other.class) || tokens[at]?.lower !== "i") return at;
  const start = phraseStart(tokens, at - 1, from);
  // "I use Trello and I like it": an object, not a companion.
  if (start === undefined || (start === from && hasVerbBefore)) return at;
  if (
    start > from &&
    !SOFT.test(tokens[start - 1]?.after ?? "") &&
    tokens[start - 1]?.class !== "conjunction" &&
    tokens[start - 1]?.class !== "adverb"
  )
    return at;
  return start;
}

const IN_PHRASE = new Set(["noun", "name", "adjective", "number", "pronoun"]);

function phraseStart(tokens: readonly Token[], end: number, from: number): number | undefined {
  let start = end;
  let hasNoun = false;
  while (start > from) {
    const token = tokens[start - 1];
    if (!token) break;
    if (start < end && SOFT.test(token.after)) break;
    if (token.class === "possessive" || token.class === "determiner") {
      start -= 1;
      hasNoun = true;
      // "all my", "both of my"
      if (["all", "both"].includes(tokens[start - 1]?.lower ?? "")) start -= 1;
      break;
    }
    if (token.class === "pronoun" && start < end) break;
    if (!IN_PHRASE.has(token.class)) break;
    if (token.class === "noun" || token.class === "name" || token.class === "number") hasNoun = true;
    start -= 1;
  }
  return hasNoun && start < end ? start : undefined;
}

/** "The name OF MY DOG is", "my flat IN LEEDS costs": back over what hangs on the noun. */
function widened(tokens: readonly Token[], start: number, from: number, hasVerbBefore: boolean): number {
  let at = start;
  for (let depth = 0; depth < 3; depth += 1) {
    const joint = tokens[at - 1];
    if (!joint || at - 2 < from || SOFT.test(tokens[at - 2]?.after ?? "")) return at;
    const isOf = joint.lower === "of";
    const isAnd = joint.lower === "and" && !hasVerbBefore;
    const isPlace = joint.class === "preposition" && !hasVerbBefore && tokens[at - 2]?.class !== "verb";
    if (!isOf && !isPlace && !isAnd) return at;
    const before = phraseStart(tokens, at - 1, from);
    if (before === undefined) return at;
    at = before;
  }
  return at;
}

interface Start {
  /** Where the clause begins, its opener included. */
  readonly at: number;
  /** Where what leads it begins, behind the opener. */
  readonly lead: number;
  readonly opener?: string;
}

function boundaryOf(tokens: readonly Token[], found: Found, from: number, isFirst: boolean): Start {
  const begin = found.subject?.[0] ?? found.verb.from;
  let at = begin;
  if (isFirst) at = from;
  else {
    // Back to the last mark or joining word after the verb before.
    for (let i = begin - 1; i >= from; i -= 1) {
      const token = tokens[i];
      if (!token) break;
      const opens = TWOFOLD.has(token.lower)
        ? opensClause(tokens, i, begin)
        : SUBORDINATORS.has(token.lower) && token.class === "conjunction";
      const joins = COORDINATORS.has(token.lower) || opens || token.class === "question";
      if (joins) {
        at = i;
        break;
      }
      if (SOFT.test(token.after) || token.before.includes("(")) {
        at = token.before.includes("(") && !SOFT.test(token.after) ? i : i + 1;
        break;
      }
      if (token.class === "adverb" && i === at - 1) at = i;
    }
  }
  if (found.subject && tokens[begin]?.class === "question" && at > begin) at = begin;
  let lead = at;
  let opener: string | undefined;
  while (lead < begin) {
    const token = tokens[lead];
    if (!token) break;
    const isTwofold = TWOFOLD.has(token.lower);
    const isOpener =
      COORDINATORS.has(token.lower) ||
      (isTwofold
        ? opensClause(tokens, lead, begin)
        : SUBORDINATORS.has(token.lower) && ["conjunction", "question"].includes(token.class));
    const isFiller = FILLERS.has(token.lower) || token.class === "other";
    if (!isOpener && !isFiller) break;
    if (isOpener && !(opener && COORDINATORS.has(token.lower))) opener = token.lower;
    lead += 1;
  }
  return { at, lead, ...(opener === undefined ? {} : { opener }) };
}

/** Words that bring in a clause or a mere noun phrase. */
const TWOFOLD = new Set(["since", "before", "after", "until", "till", "once", "as", "than"]);

/** "since I moved" opens a clause; "since September I …" does not. */
function opensClause(tokens: readonly Token[], at: number, begin: number): boolean {
  return tokens.slice(at + 1, begin).every((token) => token.class === "adverb");
}

function roleOf(
  tokens: readonly Token[],
  start: Start,
  found: Found,
  last: Found | undefined,
  k: number,
): { role: Role; opener?: string } {
  const { opener } = start;
  const named = opener === undefined ? {} : { opener };
  if (opener !== undefined && HYPOTHETICAL.has(opener)) return { role: "condition", ...named };
  if (
    opener !== undefined &&
    [
      "when",
      "whenever",
      "while",
      "since",
      "once",
      "until",
      "till",
      "before",
      "after",
      "where",
      "as",
      "than",
      "whereas",
    ].includes(opener)
  ) {
    return { role: opener === "whereas" ? "main" : "circumstance", ...named };
  }
  if (
    opener !== undefined &&
    ["because", "cause", "cuz", "coz", "that"].includes(opener) &&
    !(opener === "that" && last)
  )
    return { role: "reason", ...named };
  if (opener !== undefined && ["although", "though"].includes(opener)) return { role: "main", ...named };
  const subject = found.subject && tokens[found.subject[0]];
  if (
    k > 0 &&
    subject &&
    (subject.class === "question" || subject.lower === "that" || subject.lower === "which")
  )
    return { role: "relative", ...named };
  if (
    k > 0 &&
    last &&
    (opener === undefined || opener === "that" || opener === "if") &&
    SAYING.has(last.verb.lemma) &&
    !separatedBy(tokens, last.verb.to, start.at)
  ) {
    return { role: "content", ...named };
  }
  return { role: "main", ...named };
}

function separatedBy(tokens: readonly Token[], from: number, to: number): boolean {
  for (let i = from; i < to; i += 1) if (/[,;]/.test(tokens[i]?.after ?? "") && i > from + 3) return true;
  return to - from > 4;
}

function asks(tokens: readonly Token[], found: Found, lead: number, to: number): boolean {
  if (tokens[to - 1]?.after.includes("?")) return true;
  const { verb, subject } = found;
  if (subject && subject[0] > verb.from) return true;
  const isInverted =
    subject !== undefined &&
    subject[0] > lead &&
    AUXILIARIES.has(tokens[subject[0] - 1]?.lower ?? "") &&
    tokens[subject[0]]?.class === "pronoun" &&
    subject[0] - 1 <= lead + 3;
  if (isInverted && BE.has(tokens[subject[0] - 1]?.lower ?? "") === false) return true;
  const first = tokens[lead];
  return first?.class === "question" && isInverted;
}

/** Whether the form of a first word makes an order of a sentence without a subject. */
export function isOrder(clause: Clause): boolean {
  const first = clause.tokens[clause.verb.from];
  // "don't forget to call"
  if (!clause.subject && !clause.shares && first?.lower === "do" && clause.verb.denied) return true;
  return (
    !clause.subject &&
    !clause.shares &&
    first !== undefined &&
    formOf(first) === "base" &&
    clause.verb.tense === "present" &&
    !AUXILIARIES.has(first.lower)
  );
}
