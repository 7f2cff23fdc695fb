import { isTimeNoun } from "../time/times.ts";
import { COORDINATORS, FILLERS, HYPOTHETICAL, SAYING, SUBORDINATORS } from "../words/lexicon.ts";
import type { Stretch, Token } from "../words/token.ts";
import { SOFT } from "./subjects.ts";
import type { Verb } from "./verbs.ts";

/** Where a clause begins. */
export interface Start {
  /** Its first token, the opener included. */
  readonly at: number;
  /** Where what leads it begins, behind the opener. */
  readonly lead: number;
  readonly opener?: string;
}

/** Finds the beginning of a clause, between the verb before it and its own subject. */
export function boundaryOf(tokens: readonly Token[], found: Found, from: number, isFirst: boolean): Start {
  const begin = found.subject?.[0] ?? found.verb.from;
  const at = isFirst ? from : backToMark(tokens, begin, from);
  return opened(tokens, at, begin);
}

/** Back to the last mark or joining word after the verb before. */
function backToMark(tokens: readonly Token[], begin: number, from: number): number {
  let at = begin;
  for (let i = begin - 1; i >= from; i -= 1) {
    const token = tokens[i];
    if (!token) break;
    if (joins(tokens, i, begin)) return i;
    if (SOFT.test(token.after)) return i + 1;
    if (token.before.includes("(")) return i;
    if (token.class === "adverb" && i === at - 1) at = i;
  }
  return at;
}

function joins(tokens: readonly Token[], i: number, begin: number): boolean {
  const token = tokens[i];
  if (!token) return false;
  if (COORDINATORS.has(token.lower) || token.class === "question") return true;
  if (TWOFOLD.has(token.lower)) return opensClause(tokens, i, begin);
  return SUBORDINATORS.has(token.lower) && token.class === "conjunction";
}

/** Over openers and fillers to what leads the clause. */
function opened(tokens: readonly Token[], at: number, begin: number): Start {
  let lead = at;
  let opener: string | undefined;
  for (; lead < begin; lead += 1) {
    const token = tokens[lead];
    if (!token) break;
    const isOpener = opens(tokens, lead, begin);
    // "Even if", "only when".
    const isBefore = /^(?:even|only|especially)$/.test(token.lower) && opens(tokens, lead + 1, begin);
    if (!isOpener && !isBefore && !FILLERS.has(token.lower) && token.class !== "other") break;
    if (isOpener && !(opener && COORDINATORS.has(token.lower))) opener = token.lower;
  }
  return { at, lead, ...(opener === undefined ? {} : { opener }) };
}

function opens(tokens: readonly Token[], at: number, begin: number): boolean {
  const token = tokens[at];
  if (!token) return false;
  if (COORDINATORS.has(token.lower)) return true;
  if (TWOFOLD.has(token.lower)) return opensClause(tokens, at, begin);
  return SUBORDINATORS.has(token.lower) && ["conjunction", "question"].includes(token.class);
}

/** Words that bring in a clause or a mere noun phrase. */
const TWOFOLD = new Set(["since", "before", "after", "until", "till", "once", "as", "than"]);

/** "since I moved" opens a clause; "since September I …" does not. */
function opensClause(tokens: readonly Token[], at: number, begin: number): boolean {
  return tokens.slice(at + 1, begin).every((token) => token.class === "adverb");
}

const OPENED: readonly (readonly [ClauseRole, ReadonlySet<string>])[] = [
  ["condition", HYPOTHETICAL],
  [
    "circumstance",
    new Set("when whenever while since once until till before after where as than".split(" ")),
  ],
  ["reason", new Set(["because", "cause", "cuz", "coz"])],
  ["main", new Set(["although", "though", "whereas"])],
];

/** How a clause is brought in, and by which word. */
export function roleOf(
  tokens: readonly Token[],
  start: Start,
  found: Found,
  last: Found | undefined,
): { role: ClauseRole; opener?: string } {
  const { opener } = start;
  const role =
    (opener === undefined ? undefined : byOpener(opener, last)) ?? byPlace(tokens, start, found, last);
  return { role, ...(opener === undefined ? {} : { opener }) };
}

function byOpener(opener: string, last: Found | undefined): ClauseRole | undefined {
  if (opener === "that" && !last) return "reason";
  return OPENED.find(([, words]) => words.has(opener))?.[0];
}

function byPlace(tokens: readonly Token[], start: Start, found: Found, last: Found | undefined): ClauseRole {
  // "The part I play is small": said of the part.
  if (!last) return start.opener === undefined && isLeftOut(tokens, start, found) ? "reason" : "main";
  const subject = found.subject && tokens[found.subject[0]];
  if (subject && (subject.class === "question" || subject.lower === "that")) return "relative";
  // "I told my doctor I smoke": what was told, and not said of the doctor.
  const isTold = /^(?:tell|promise|remind|assure|warn|show)$/.test(last.verb.lemma);
  if (!isTold && (isLeftOut(tokens, start, found) || isOfNoun(tokens, found, last))) return "reason";
  const follows = start.opener === undefined || start.opener === "that";
  return follows && !isFar(tokens, last.verb.to, start.at) ? byVerb(last.verb.lemma, start.opener) : "main";
}

/** "She says that we hire a helper" tells it; "she refuses that we hire a helper" does not. */
function byVerb(lemma: string, opener: string | undefined): ClauseRole {
  if (opener === "that" && WANTING.has(lemma)) return "condition";
  return SAYING.has(lemma) ? "content" : "main";
}

/** Verbs whose "that" brings in what is wanted or feared, and not what is so. */
const WANTING: ReadonlySet<string> = new Set(
  "want refuse suggest propose demand request recommend advise wish prefer fear doubt deny require".split(
    " ",
  ),
);

/** "the plant that I work at": said of the plant; "it's a pity that I live so far" is said. */
function isOfNoun(tokens: readonly Token[], { subject }: Found, last: Found): boolean {
  const at = subject?.[0] ?? 0;
  const noun = tokens[at - 2];
  const isThat = tokens[at - 1]?.lower === "that" && /^(?:i|we|he|she|they)$/.test(tokens[at]?.lower ?? "");
  if (!isThat || !["noun", "name"].includes(noun?.class ?? "") || noun?.after.trim() !== "") return false;
  const before = last.subject && tokens[last.subject[0]]?.lower;
  return !SAYING.has(last.verb.lemma) && !/^(?:it|this|that)$/.test(before ?? "");
}

/** "a walk I took last winter": what hangs on a noun, without a word that brings it in and without an object. */
function isLeftOut(tokens: readonly Token[], start: Start, { subject, verb }: Found): boolean {
  if (!subject || start.opener !== undefined) return false;
  const before = tokens[subject[0] - 1];
  // "For work I live in Excel": the noun belongs to what leads the clause.
  const lead = tokens.slice(start.lead, subject[0]);
  if (
    lead[0]?.class === "preposition" &&
    lead.length <= 4 &&
    !lead.some(({ class: kind }) => kind === "determiner")
  )
    return false;
  const isOwn = /^(?:i|we|he|she|they)$/.test(tokens[subject[0]]?.lower ?? "");
  const hangs = isOwn && before?.class === "noun" && before.after.trim() === "" && !isTimeNoun(before.lower);
  const next = tokens[verb.to];
  return (
    hangs &&
    !["noun", "name", "determiner", "possessive", "adjective", "number"].includes(next?.class ?? "") &&
    !verb.copula
  );
}

function isFar(tokens: readonly Token[], from: number, to: number): boolean {
  const marks = tokens.slice(from, to).some(({ after }, i) => /[,;]/.test(after) && i > 3);
  return marks || to - from > 4;
}

/** How a clause is brought in. */
export type ClauseRole =
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

/** A verb that carries a clause, with its subject. */
export interface Found {
  readonly verb: Verb;
  readonly subject?: Stretch;
}
