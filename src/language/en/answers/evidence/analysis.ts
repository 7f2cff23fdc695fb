import type { Claim } from "../../../../domain/memory.ts";
import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import { memoizeByWord, splitWords } from "../../../../domain/search/search-terms.ts";
import { isOfKind } from "../../categories.ts";
import { countSteps, isHyponym } from "../../kinds/kinds.ts";
import { parseEnglish } from "../../parser/english-trees.ts";
import type { ParsedToken } from "../../parser/parser.ts";
import { isKindOf, toCanonicalThing } from "../../relations/relations.ts";
import { toSingular } from "../../word-forms.ts";
import { forms, key } from "../essence.ts";
import { isRole, type Parties, partiesOf, type SubjectSort, sortOf } from "./inquiry.ts";
import type { EvidenceStatement } from "./statements.ts";

/** Words of what is only wished, supposed or told in a story. */
export const UNREAL: RegExp =
  /\b(?:nearly|almost|dreamt|dreamed|pretend|if|unless|would|could|wish(?:es|ed)?|imagine|maybe|might|should|suppose|hypothetically|fictional|(?:in|of) (?:the|my|a|this) (?:\w+ )?(?:novel|story|film|game)|my (?:novel|story|character))\b|['’]d\b/i;

/** A statement as it is compared: analysed once for a question. */
export interface Analysis {
  readonly tokens: readonly ParsedToken[];
  readonly sentences: readonly (readonly ParsedToken[])[];
  readonly keys: ReadonlySet<string>;
  readonly content: readonly string[];
  readonly clauses: readonly EvidenceClause[];
  readonly parties: Parties;
  readonly text: string;
}

/** A clause of a statement: its words, and whom it is about. */
export interface EvidenceClause {
  readonly keys: ReadonlySet<string>;
  readonly subject: SubjectSort;
  /** Whose the subject is: "my", "her", a name; undefined for nobody's. */
  readonly holder: "user" | "other" | undefined;
  readonly isUnreal: boolean;
  /** Whether the user takes part: I, me, we, us. */
  readonly hasUser: boolean;
}

function analyse({ text, lead, speaker, memory }: EvidenceStatement): Analysis {
  const whole = lead === "" ? text : `${lead} ${text}`;
  const sentences = parseEnglish(whole);
  const tokens = sentences.flatMap(({ tokens }) => tokens);
  const keys = new Set<string>();
  const content: string[] = [];
  for (const { lower, pos } of tokens) {
    for (const form of keysOf(lower)) keys.add(form);
    if (/^(?:NOUN|PROPN|VERB|ADJ|NUM|ADV)$/.test(pos)) content.push(lower);
  }
  const parties = partiesOf(whole);
  const names = speaker === undefined ? parties.names : [...parties.names, ...splitWords(speaker)];
  return {
    tokens,
    sentences: sentences.map(({ tokens }) => tokens),
    keys,
    content,
    clauses: memory?.claim
      ? [ofClaim(memory.claim, keys)]
      : sentences.flatMap(({ tokens }) => clausesOf(tokens)),
    parties: { ...parties, names, user: parties.user && speaker === undefined },
    text: whole,
  };
}

/** The keys under which a word is met. */
export const keysOf: (word: string) => string[] = memoizeByWord(5_000, (word) => [
  key(word),
  key(toSingular(word)),
  key(toBaseForm(word)),
]);

/** A memory is one clause, and its claim says whom it is about. */
function ofClaim({ subject, relation }: Claim, keys: ReadonlySet<string>): EvidenceClause {
  const parts = subject.split("/");
  const last = splitWords(parts.at(-1) ?? "");
  const isUser = subject === "user";
  const isPerson = parts[0] !== "user" || last.some(isRole);
  return {
    keys,
    subject: isUser ? "user" : isPerson ? "role" : "thing",
    holder: isUser ? undefined : "user",
    isUnreal: /^(?:wish|would|might|consider)/.test(relation),
    hasUser: isUser,
  };
}

const CLAUSE_LABEL = /^(?:root|parataxis|advcl|ccomp|acl:relcl)$/;

/** The clauses of a sentence by its tree: the words of each, and what its subject is. */
function clausesOf(tokens: readonly ParsedToken[]): EvidenceClause[] {
  const heads = tokens.map((token, i) => {
    const hasSubject = tokens.some(({ head, label }) => head === i && label.startsWith("nsubj"));
    return CLAUSE_LABEL.test(token.label) || (token.label === "conj" && hasSubject);
  });
  const clauseOf = (i: number): number => {
    let at = i;
    for (let steps = 0; steps < tokens.length && at >= 0 && !heads[at]; steps += 1)
      at = tokens[at]?.head ?? -1;
    return at;
  };
  const members = new Map<number, number[]>();
  tokens.forEach((_, i) => {
    const clause = clauseOf(i);
    members.set(clause, [...(members.get(clause) ?? []), i]);
  });
  return [...members].map(([head, words]) => ({
    keys: new Set(words.flatMap((i) => keysOf(tokens[i]?.lower ?? ""))),
    subject: known(subjectOf(tokens, head)) ?? firstSubject(tokens, words),
    holder: holderOf(tokens, words),
    hasUser: words.some(
      (i) =>
        /^(?:i|me|we|us|im|ive|myself)$/.test(tokens[i]?.lower ?? "") ||
        (tokens[i]?.lower === "user" && tokens[i]?.label !== "nmod:poss"),
    ),
    isUnreal: isUnreal(tokens, head, members),
  }));
}

/** Whether a clause, or one that it depends on, is only wished, supposed or told in a story. */
function isUnreal(
  tokens: readonly ParsedToken[],
  head: number,
  members: ReadonlyMap<number, readonly number[]>,
): boolean {
  for (let at = head, steps = 0; at >= 0 && steps < 12; steps += 1) {
    const words = members.get(at);
    if (words && UNREAL.test(words.map((i) => tokens[i]?.text ?? "").join(" "))) return true;
    // "I'd send him one, that's where my savings are": what only stands beside it is told.
    if (tokens[at]?.label === "parataxis") return false;
    at = tokens[at]?.head ?? -1;
  }
  return false;
}

function known(sort: SubjectSort): SubjectSort | undefined {
  return sort === "none" ? undefined : sort;
}

/** Whether a possessive of another person stands in the clause, or one of the user's. */
function holderOf(tokens: readonly ParsedToken[], words: readonly number[]): EvidenceClause["holder"] {
  let holder: EvidenceClause["holder"];
  for (const i of words) {
    const { lower = "", label = "" } = tokens[i] ?? {};
    if (/^(?:my|our|mine)$/.test(lower)) return "user";
    if (/^(?:his|her|their)$/.test(lower) || (label === "nmod:poss" && lower !== "user" && lower !== "your"))
      holder = "other";
    if (label === "nmod:poss" && lower === "user") return "user";
  }
  return holder;
}

const FILLER = /^(?:and|but|so|also|oh|well|then|yes|no|now|,|the)$/;

/** The subject by the first words, where the tree has none: "My brother drives a Saab". */
function firstSubject(tokens: readonly ParsedToken[], words: readonly number[]): SubjectSort {
  const [first, second, third] = words.filter((i) => !FILLER.test(tokens[i]?.lower ?? ""));
  if (first === undefined) return "none";
  const { lower = "", pos = "" } = tokens[first] ?? {};
  if (/^(?:i|we|im|ive|user)$/.test(lower)) return sortOf(tokens, first);
  if (!/^(?:my|our|his|her|their)$/.test(lower)) return pos === "PROPN" ? "name" : "none";
  return [second, third].some((i) => isRole(tokens[i ?? -1]?.lower ?? "")) ? "role" : "thing";
}

function subjectOf(tokens: readonly ParsedToken[], head: number): SubjectSort {
  for (let at = head, steps = 0; at >= 0 && steps < 6; steps += 1) {
    const subject = tokens.findIndex((token) => token.head === at && token.label.startsWith("nsubj"));
    if (subject >= 0) return sortOf(tokens, subject);
    at = tokens[at]?.head ?? -1;
  }
  return "none";
}

const analyses = new WeakMap<EvidenceStatement, Analysis>();

/** A statement's words, clauses and parties. Kept with it, for several features ask for them. */
export function analyseStatement(statement: EvidenceStatement): Analysis {
  const known = analyses.get(statement) ?? analyse(statement);
  analyses.set(statement, known);
  return known;
}

const formsOf = memoizeByWord(2_000, forms);

/** Whether a word, or one that stands for the same, is among keys. */
export function isMet(word: string, keys: ReadonlySet<string>): boolean {
  return keys.has(word) || formsOf(word).some((form) => keys.has(form));
}

/** Kinds so wide that everything is of them tell nothing. */
const LEAST_STEPS = 4;

/** Whether a word names a thing of a kind, by the tables of this package or by WordNet; false for the same word. */
export function isOfKindByAny(word: string, kind: string): boolean {
  const isOf = isPairOfKind(`${toSingular(word)} ${toSingular(kind)}`);
  // "budgies" are no budgy.
  return isOf || (word.endsWith("ies") && isPairOfKind(`${word.slice(0, -1)} ${toSingular(kind)}`));
}

/** Stems of the names of medicines (INN), at their ends. */
const MEDICINE =
  /(?:pril|sartan|olol|dipine|statin|prazole|formin|gliptin|gliflozin|glutide|xaban|farin|thyroxine|oxetine|traline|lopram|profen|cillin|mycin|cycline|floxacin|azepam|pidem|trigine|racetam|gabalin|gabapentin|predniso\p{L}+|rizine|ratadine|triptan|afil|butamol|terol|semide|thiazide|conazole|ciclovir|mab|phylline|olone|cetamol)$/u;

const MEDICATION = /^(?:medication|drug|tablet|pill)$/;

const isPairOfKind = memoizeByWord(20_000, (pair) => {
  const [one = "", kind = ""] = pair.split(" ");
  if (one === kind) return false;
  const kinds = [...new Set([kind, toCanonicalThing(kind)])];
  if (kinds.some((other) => MEDICATION.test(other)) && MEDICINE.test(one)) return true;
  return kinds.some(
    (other) =>
      isKindOf(one, other) ||
      isOfKind(one, other) === true ||
      (countSteps(other) >= LEAST_STEPS && isHyponym(one, other)),
  );
});
