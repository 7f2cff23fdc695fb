import type { ParsedClause } from "./clauses.ts";
import { baseLabel, childrenBy, subtree, type Tree } from "./tree.ts";
import { isAboutSpeaker, writeVerb } from "./verb-forms.ts";

/** A clause as a sentence about the speaker in the third person. */
export interface ClauseWording {
  readonly text: string;
  /** Words that point outside of the sentence: pronouns without an antecedent in it. */
  readonly unresolved: number;
}

/** What stands for the speaker, and for "he" or "she" if it is known whom they mean. */
export interface Names {
  /** "the user", or the speaker's name. */
  readonly speaker: string;
  /** "the user's sister". */
  readonly person?: string;
}

/**
 * Rewords a clause: "now I rent a studio" gives "The user rents a studio." A subject that was left out or shared is put in, fronted
 * words go to the end, contractions are written out, and verbs agree with their subject. Undefined where it cannot be done.
 */
export function wordClause(clause: ParsedClause, names: Names): ClauseWording | undefined {
  const { tree } = clause;
  const subject = subjectWords(clause);
  const { front, rest } = orderWords(clause, subject);
  const filled = fillGap(clause, rest);
  if (!filled) return undefined;
  const writer = createWriter(clause, names);
  const words = [...writer.subject(subject), ...writer.words(filled), ...writer.words(front)];
  const text = joinWords(words);
  if (text === "") return undefined;
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return {
    text: `${sentence.replace(/[\s,;:.!?–—-]+$/, "")}.`,
    unresolved: countUnresolved(tree, [...subject, ...filled, ...front], clause, names),
  };
}

/** Some words of a clause as `wordClause` words them: "my bike" gives "their bike". */
export function wordPhrase(clause: ParsedClause, names: Names, words: readonly number[]): string {
  return joinWords(createWriter(clause, names).words(words)).replace(/^[\s,;:]+|[\s,;:.!?]+$/g, "");
}

/** The words of the subject, without clauses that are appended to it. */
export function subjectWords({ tree, subject, head, role }: ParsedClause): number[] {
  if (subject === undefined) return [];
  return subtree(tree, subject, (i) => {
    const token = tree.tokens[i];
    if (!token || i === head) return true;
    const label = baseLabel(token.label);
    if (label === "parataxis" || token.label === "acl:relcl" || label === "advcl") return true;
    // "My flight to Oslo, which …": the antecedent without what introduces it.
    return role === "acl:relcl" && token.head === subject && (label === "case" || label === "punct");
  }).filter((i, k, all) => !(tree.tokens[i]?.pos === "PUNCT" && (k === 0 || k === all.length - 1)));
}

/** The words before the subject that belong to the clause go behind it; adverbs that only open it go. */
function orderWords(clause: ParsedClause, subject: readonly number[]): { front: number[]; rest: number[] } {
  const { tree, words, head, auxiliaries, role } = clause;
  const isRelative = role === "acl:relcl";
  const own = words.filter((i) => !subject.includes(i) && !(isRelative && isRelativePronoun(tree, i, head)));
  const start = Math.min(
    head,
    ...auxiliaries.filter((i) => own.includes(i)),
    ...(clause.subject !== undefined && words.includes(clause.subject) ? [clause.subject] : []),
  );
  const before = own.filter((i) => i < start);
  const rest = withoutOpeningMarks(
    tree,
    own.filter((i) => i >= start),
  );
  const isVerbPart = (i: number): boolean => tree.tokens[i]?.pos === "ADV" && tree.tokens[i]?.head === head;
  const kept = before.filter((i) => isVerbPart(i) && clause.subject !== undefined && i > clause.subject);
  const front = before.filter((i) => !kept.includes(i));
  const shared = sharedAuxiliaries(clause);
  return { front: withoutMarkers(tree, front), rest: [...shared, ...kept, ...rest] };
}

/** Nouns of phrases that only lead over to a clause: "by the way", "in reality", "for example". */
const MARKERS = new Set(
  "way example instance fact reality course addition general end case rate words hand note question contrast short total conclusion sum conversation honesty".split(
    " ",
  ),
);

/** Fronted words that say something: not adverbs alone, and not "by the way". */
function withoutMarkers(tree: Tree, front: readonly number[]): number[] {
  const words = front.filter((i) => tree.tokens[i]?.pos !== "PUNCT");
  const isEmpty = words.every((i) =>
    ["ADV", "CCONJ", "INTJ", "SCONJ", "PRON", "DET", "ADJ"].includes(tree.tokens[i]?.pos ?? ""),
  );
  return isEmpty || words.some((i) => MARKERS.has(tree.tokens[i]?.lower ?? "")) ? [] : words;
}

/** "I have been to Rome and seen the Pope": the auxiliary of the first verb is said again. */
function sharedAuxiliaries({ words, auxiliaries }: ParsedClause): number[] {
  return auxiliaries.filter((i) => !words.includes(i));
}

function withoutOpeningMarks(tree: Tree, words: readonly number[]): number[] {
  const from = words.findIndex((i) => tree.tokens[i]?.pos !== "PUNCT");
  return words.slice(Math.max(0, from));
}

function isRelativePronoun(tree: Tree, at: number, head: number): boolean {
  const token = tree.tokens[at];
  return (
    token !== undefined &&
    at < head &&
    /^(?:who|whom|which|that)$/.test(token.lower) &&
    /^(?:WP|WDT|IN)$/.test(token.tag)
  );
}

/** "The party [I'm hosting] on Saturday": the noun takes the place of the object that is missing. */
function fillGap(clause: ParsedClause, rest: readonly number[]): number[] | undefined {
  const { tree, head, role, subject } = clause;
  const antecedent = tree.tokens[head]?.head ?? -1;
  if (role !== "acl:relcl" || antecedent < 0 || subject === antecedent) return [...rest];
  if (hasOwnObject(clause) || isAmbiguous(clause, antecedent)) return undefined;
  const noun = subtree(tree, antecedent, (i) => {
    const label = tree.tokens[i]?.label ?? "";
    const isBeside = tree.tokens[i]?.head === antecedent && NO_PART_OF_NOUN.has(baseLabel(label));
    return i === head || label === "acl:relcl" || isBeside;
  });
  if (noun.length > 10 || tree.tokens[antecedent]?.pos === "PRON") return undefined;
  const isEntry = rest.some((i) => i < head && /^(?:where|when|why)$/.test(tree.tokens[i]?.lower ?? ""));
  if (isEntry) return undefined;
  const behind = (tree.children[head] ?? []).filter(
    (i) => i > head && ["compound:prt", "case", "iobj"].includes(tree.tokens[i]?.label ?? ""),
  );
  const stranded = rest.filter(
    (i) =>
      tree.tokens[i]?.pos === "ADP" &&
      (tree.children[i] ?? []).length === 0 &&
      tree.tokens[i]?.head === head &&
      i > head,
  );
  const after = Math.max(head, ...behind, ...stranded);
  return [...rest.filter((i) => i <= after), ...noun, ...rest.filter((i) => i > after)];
}

/** What hangs on a noun, or on the copula that it stands behind, and is no part of its phrase. */
const NO_PART_OF_NOUN = new Set(["case", "punct", "cc", "conj", "nsubj", "cop", "aux", "mark", "parataxis"]);

/** Whether a clause that hangs on a noun has an object beside its "which"; "every weekend" is none. */
function hasOwnObject({ tree, head }: ParsedClause): boolean {
  if (childrenBy(tree, head, "ccomp", "xcomp").length > 0) return true;
  return childrenBy(tree, head, "obj").some((i) => {
    const isWhen =
      /^(?:day|night|evening)$|^(?:year|month|week)/.test(tree.tokens[i]?.lower ?? "") &&
      childrenBy(tree, i, "det").some((det) => /^(?:every|each)$/.test(tree.tokens[det]?.lower ?? ""));
    return !isWhen && !isRelativePronoun(tree, i, head);
  });
}

/** "a cabin in Vermont, which we rent out": of the cabin or of its place. */
function isAmbiguous({ tree, head }: ParsedClause, antecedent: number): boolean {
  const { label = "", pos } = tree.tokens[antecedent] ?? {};
  const isBehindComma = subtree(tree, head).some((i) => tree.tokens[i]?.lower === ",");
  return isBehindComma && pos === "PROPN" && label === "nmod";
}

interface Written {
  readonly text: string;
  /** Joined to the word before without a space. */
  readonly glued: boolean;
}

interface Writer {
  subject(words: readonly number[]): Written[];
  words(words: readonly number[]): Written[];
}

function createWriter(clause: ParsedClause, names: Names): Writer {
  const { tree, subject } = clause;
  const isSelf = isAboutSpeaker(clause);
  const words = (indices: readonly number[]): Written[] =>
    indices.map((at, k) => writeWord(clause, names, at, indices[k - 1]));
  return {
    subject(indices) {
      if (subject === undefined || isSelf) return [{ text: names.speaker, glued: false }];
      const isProper = /^(?:PROPN|PRON)$/.test(tree.tokens[indices[0] ?? -1]?.pos ?? "");
      return words(indices).map((one, k) =>
        k === 0 && !isProper ? { ...one, text: lowerFirst(one.text) } : one,
      );
    },
    words,
  };
}

function writeWord(clause: ParsedClause, names: Names, at: number, previous: number | undefined): Written {
  const { tree } = clause;
  const token = tree.tokens[at];
  if (!token) return { text: "", glued: true };
  const changed = writePronoun(clause, names, at) ?? writeVerb(clause, at);
  if (changed !== undefined) return { text: changed, glued: false };
  const isNext = previous !== undefined && previous === at - 1;
  const glued = isNext ? tree.tokens[previous]?.end === token.start : /^[,.;:!?)\]%]$/.test(token.text);
  const opens = (at === 0 || tree.tokens[at - 1]?.pos === "PUNCT") && token.pos !== "PROPN";
  return { text: opens ? lowerFirst(token.text) : token.text, glued };
}

/** The speaker in the third person: after the speaker is the subject, "they" is enough; else the name is said again. */
function writePronoun(clause: ParsedClause, names: Names, at: number): string | undefined {
  const token = clause.tree.tokens[at];
  const isSelf = isAboutSpeaker(clause);
  const { speaker, person } = names;
  switch (token?.lower) {
    case "i":
    case "we":
      if (token.pos !== "PRON") return undefined;
      return isSelf && at !== clause.subject ? "they" : speaker;
    case "me":
    case "us":
      return isSelf ? "them" : speaker;
    case "my":
    case "our":
      return isSelf ? "their" : `${speaker}'s`;
    case "mine":
    case "ours":
      return isSelf ? "theirs" : `${speaker}'s`;
    case "myself":
    case "ourselves":
      return "themself";
    case "he":
    case "she":
      return at === clause.subject ? person : undefined;
    default:
      return undefined;
  }
}

const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;

function joinWords(words: readonly Written[]): string {
  let text = "";
  for (const { text: word, glued } of words) {
    text += text === "" || glued ? word : ` ${word}`;
  }
  return text
    .replace(/\bcan not\b/g, "cannot")
    .replace(/\s+/g, " ")
    .trim();
}

const POINTING = new Set(
  "it its this that these those he him his she her hers they them their theirs here there one ones such you your u ur".split(
    " ",
  ),
);

const PERIOD =
  /^(?:year|month|week|weekend|morning|afternoon|evening|summer|winter|spring|fall|autumn|semester|season|time)$/;

/** Pronouns that nothing in the clause stands for; determiners of a named thing ("this year") are none. */
function countUnresolved(
  tree: Tree,
  words: readonly number[],
  { subject }: ParsedClause,
  { person }: Names,
): number {
  const isOpen = (i: number): boolean => {
    const token = tree.tokens[i];
    if (!token || !POINTING.has(token.lower)) return false;
    if (i === subject && person !== undefined && /^s?he$/.test(token.lower)) return false;
    if (token.tag === "IN" || token.label === "expl" || token.label === "mark") return false;
    if (/^(?:his|her|their|its|him|them|they|he|she|it)$/.test(token.lower))
      return !hasAntecedent(tree, words, i);
    return token.label !== "det" || !PERIOD.test(tree.tokens[token.head]?.lower ?? "");
  };
  return words.filter(isOpen).length;
}

/** A noun before the pronoun in the same clause that is no part of its own phrase. */
function hasAntecedent(tree: Tree, words: readonly number[], at: number): boolean {
  const head = tree.tokens[at]?.head;
  return words.some(
    (i) =>
      i < at &&
      i !== head &&
      ["NOUN", "PROPN"].includes(tree.tokens[i]?.pos ?? "") &&
      !/^obl:unmarked$/.test(tree.tokens[i]?.label ?? ""),
  );
}
