import { toBaseForm } from "../../../domain/search/base-forms.ts";
import type { ParsedToken } from "../parser/parser.ts";
import { ancestors, baseLabel, childrenBy, subtree, type Tree } from "./tree.ts";

/** Who a clause is about, as far as its own words say it. */
type ClauseSubject =
  /** "I". */
  | "speaker"
  /** "We". */
  | "group"
  /** "Moved to Leeds": the speaker, left out. */
  | "dropped"
  /** "My sister", "our flat", "my boss's dog". */
  | "owned"
  /** "You". */
  | "addressee"
  /** "Ana". */
  | "named"
  /** "He", "she", "they". */
  | "person"
  /** "It", "this", "that". */
  | "pointed"
  /** "The meeting", "nights". */
  | "other";

/** A clause with a subject, with what its tree says of it. Positions are indices of words. */
export interface ParsedClause {
  readonly tree: Tree;
  /** The word that predicates: a verb, or the noun or adjective after a copula. */
  readonly head: number;
  /** The head word of the subject; the antecedent of "who". Absent where it was left out. */
  readonly subject?: number;
  readonly about: ClauseSubject;
  /** The relation of the head to its own head: `root`, `conj`, `ccomp`, `advcl`, `acl:relcl`, `parataxis`, … */
  readonly role: string;
  /** Auxiliaries and copula, those of the first verb of a coordination included. */
  readonly auxiliaries: readonly number[];
  /** The copula, if there is one. */
  readonly copula?: number;
  readonly negated: boolean;
  /** It asks, or it stands under a clause that asks. */
  readonly asked: boolean;
  /** It stands under "if", "unless", "whether". */
  readonly conditional: boolean;
  /** The base forms of the clauses' heads that it is the content of, nearest first: "think", "say". */
  readonly governors: readonly string[];
  /** The words of the clause, without the clauses that are coordinated with it or appended to it. */
  readonly words: readonly number[];
}

const CLAUSAL = new Set(["root", "conj", "parataxis", "ccomp", "advcl", "acl:relcl", "list", "csubj"]);
const SPEAKER = new Set(["i", "me", "im", "ive"]);
const GROUP = new Set(["we", "us"]);
const ADDRESSEE = new Set(["you", "u", "ya", "y'all"]);
const PERSON = new Set(["he", "she", "they"]);
const POINTED = new Set(["it", "this", "that", "these", "those", "there", "one", "which", "what", "who"]);
const CONDITIONS = new Set(["if", "unless", "whether"]);
const NEGATIONS = new Set(["not", "n't", "nt", "never", "n’t"]);

/** The clauses of a sentence that somebody is the subject of, in the order of their heads. */
export function findClauses(tree: Tree): ParsedClause[] {
  return tree.tokens.flatMap((_token, head) => readClause(tree, head) ?? []);
}

function readClause(tree: Tree, head: number): ParsedClause | undefined {
  const token = tree.tokens[head];
  if (!token || !CLAUSAL.has(token.label.replace(/\|\|.*/, "").replace("advcl:relcl", "advcl")))
    return undefined;
  const own = [...childrenBy(tree, head, "aux", "cop")];
  const found = findSubject(tree, head, own);
  if (!found || !hasFiniteForm(tree, head, own, found) || isFirstOfPassives(tree, head)) return undefined;
  const auxiliaries = own.length > 0 ? own : found.shared;
  const copula = own.find((i) => tree.tokens[i]?.label === "cop");
  const up = contentChain(tree, head);
  return {
    tree,
    head,
    ...(found.subject === undefined ? {} : { subject: found.subject }),
    about: found.about,
    role: token.label.replace(/\|\|.*/, ""),
    auxiliaries,
    ...(copula === undefined ? {} : { copula }),
    negated: (tree.children[head] ?? []).some((i) => NEGATIONS.has(tree.tokens[i]?.lower ?? "")),
    asked:
      [head, ...up].some((i) => isAsked(tree, i)) ||
      (found.about === "dropped" && endsWithQuestionMark(tree)),
    conditional: isConditional(tree, head),
    governors: up.map((i) => toBaseForm(tree.tokens[i]?.lower ?? "")),
    words: clauseWords(tree, head),
  };
}

/** "was BORN and bred in Cork": by itself it tells nothing. */
function isFirstOfPassives(tree: Tree, head: number): boolean {
  const isPassive = childrenBy(tree, head, "aux:pass").length > 0;
  const next = tree.tokens[head + 2];
  const isBare = (tree.children[head] ?? []).every((i) => i < head || tree.tokens[i]?.label === "conj");
  const isSecond = next?.head === head && next.label === "conj" && next.tag === "VBN";
  return isPassive && isBare && isSecond && (tree.children[head + 2] ?? []).some((i) => i > head + 2);
}

/** "I put", "I've been": a form that can be finite. "Gina finding a way" has none. */
function hasFiniteForm(tree: Tree, head: number, own: readonly number[], found: FoundSubject): boolean {
  if (found.about === "dropped" || own.length > 0 || found.shared.length > 0) return true;
  const { tag = "", pos = "" } = tree.tokens[head] ?? {};
  if (/^VB[DPZ]$/.test(tag)) return true;
  const isSelf = found.about === "speaker" || found.about === "group";
  return pos === "VERB" && (tag === "VB" || tag === "VBN") && (isSelf || tag === "VBN");
}

/** It stands under a condition, or has one of its own: "If I move, I will sell the car." */
function isConditional(tree: Tree, head: number): boolean {
  const isOpened = (at: number): boolean =>
    childrenBy(tree, at, "mark", "advmod").some((mark) => CONDITIONS.has(tree.tokens[mark]?.lower ?? ""));
  return [head, ...ancestors(tree, head)].some(isOpened) || childrenBy(tree, head, "advcl").some(isOpened);
}

/** The clauses that a clause is the content of: "I think [that I live here]". A conjunct has those of the first. */
function contentChain(tree: Tree, head: number): number[] {
  const chain: number[] = [];
  let at = head;
  while (chain.length < 8) {
    const token = tree.tokens[at];
    if (!token || token.head < 0) break;
    const label = baseLabel(token.label);
    if (label === "ccomp" || label === "xcomp" || label === "csubj") chain.push(token.head);
    else if (label !== "conj") break;
    at = token.head;
  }
  return chain;
}

interface FoundSubject {
  readonly subject?: number;
  readonly about: ClauseSubject;
  /** Auxiliaries of the coordination's first verb. */
  readonly shared: readonly number[];
}

function findSubject(tree: Tree, head: number, own: readonly number[]): FoundSubject | undefined {
  const [subject] = childrenBy(tree, head, "nsubj", "csubj");
  const token = tree.tokens[head];
  if (!token) return undefined;
  if (subject !== undefined) {
    const lower = tree.tokens[subject]?.lower ?? "";
    if (token.label === "acl:relcl" && ["who", "which", "that"].includes(lower))
      return { subject: token.head, about: aboutOf(tree, token.head), shared: [] };
    return { subject, about: aboutOf(tree, subject), shared: [] };
  }
  const isVerb = token.pos === "VERB" || token.pos === "AUX" || own.length > 0;
  if (baseLabel(token.label) === "conj" && isVerb) return shareSubject(tree, head, own);
  const isOpening = token.label === "root" || baseLabel(token.label) === "parataxis";
  return isOpening && isDropped(tree, head, own) ? { about: "dropped", shared: [] } : undefined;
}

/** "I live in Leeds and work in York": the second verb has the subject of the first. */
function shareSubject(tree: Tree, head: number, own: readonly number[]): FoundSubject | undefined {
  const first = firstWithSubject(tree, head);
  const found = first === undefined ? undefined : findSubjectOfFirst(tree, first);
  if (!found || first === undefined) return undefined;
  // "I'm Swiss, raised in Lugano": no past of an active verb.
  const isPassive =
    own.length === 0 && tree.tokens[head]?.tag === "VBN" && childrenBy(tree, first, "cop").length > 0;
  if (isPassive) return undefined;
  const shared = own.length > 0 ? [] : childrenBy(tree, first, "aux").filter((aux) => aux < head);
  const isBare = needsAuxiliary(tree, head, shared);
  // A bare form needs an auxiliary, its own or the first verb's.
  if (isBare && own.length === 0 && shared.length === 0) return undefined;
  return { ...found, shared: isBare ? shared : [] };
}

/** The next verb up the coordination that has a subject. */
function firstWithSubject(tree: Tree, head: number): number | undefined {
  const chain = ancestors(tree, head).slice(0, 6);
  const end = chain.findIndex((i) => baseLabel(tree.tokens[i]?.label ?? "") !== "conj");
  return chain
    .slice(0, end < 0 ? chain.length : end + 1)
    .find((i) => findSubjectOfFirst(tree, i) !== undefined);
}

/** Bare forms need one; "switched" after "do" is a past, though it was tagged as a participle. */
function needsAuxiliary(tree: Tree, head: number, shared: readonly number[]): boolean {
  const tag = tree.tokens[head]?.tag ?? "";
  if (tag !== "VBN") return tag === "VB" || tag === "VBG";
  return shared.some((i) =>
    /^(?:have|has|had|'ve|’ve|be|been|was|were|is|are|am|'s)$/.test(tree.tokens[i]?.lower ?? ""),
  );
}

function findSubjectOfFirst(tree: Tree, first: number): Omit<FoundSubject, "shared"> | undefined {
  const own = childrenBy(tree, first, "aux", "cop");
  const found = findSubject(tree, first, own);
  return found && { about: found.about, ...(found.subject === undefined ? {} : { subject: found.subject }) };
}

/** "Moved to Leeds last week": no word before it but adverbs and interjections, and no order. */
function isDropped(tree: Tree, head: number, own: readonly number[]): boolean {
  const token = tree.tokens[head];
  if (!token || own.some((i) => tree.tokens[i]?.tag === "MD")) return false;
  const isForm = ["VBD", "VBN", "VBG"].includes(token.tag) || (token.tag === "VBP" && own.length > 0);
  if (!isForm) return false;
  const first = Math.min(head, ...own);
  const from = baseLabel(token.label) === "parataxis" ? Math.min(...subtree(tree, head)) : 0;
  return tree.tokens
    .slice(from, first)
    .every(({ pos, tag }) => ["ADV", "INTJ", "PUNCT", "CCONJ"].includes(pos) || tag === "JJ");
}

function aboutOf(tree: Tree, subject: number): ClauseSubject {
  const token = tree.tokens[subject];
  if (!token) return "other";
  if (SPEAKER.has(token.lower)) return "speaker";
  if (GROUP.has(token.lower)) return "group";
  if (ADDRESSEE.has(token.lower)) return "addressee";
  if (PERSON.has(token.lower)) return "person";
  if (isOwned(tree, subject)) return "owned";
  if (POINTED.has(token.lower)) return "pointed";
  if (token.pos === "PROPN") return "named";
  return "other";
}

/** Whether a thing is the speaker's: "my sister", "my sister's dog", "a friend of mine". */
function isOwned(tree: Tree, at: number): boolean {
  return childrenBy(tree, at, "nmod").some((i) => {
    const lower = tree.tokens[i]?.lower ?? "";
    return (
      ["my", "our", "mine", "ours"].includes(lower) ||
      (tree.tokens[i]?.label === "nmod:poss" && isOwned(tree, i))
    );
  });
}

function isAsked(tree: Tree, head: number): boolean {
  const children = tree.children[head] ?? [];
  const [subject] = childrenBy(tree, head, "nsubj");
  const isRelative = /^(?:acl|advcl)/.test(tree.tokens[head]?.label ?? "");
  const asks = children.some((i) => {
    const token = tree.tokens[i];
    return (
      token && i <= head && /^(?:WP|WRB|WDT|WP\$)$/.test(token.tag) && token.label !== "mark" && !isRelative
    );
  });
  if (asks && tree.tokens[head]?.label !== "ccomp") return true;
  const inverted =
    subject !== undefined && childrenBy(tree, head, "aux", "cop").some((aux) => aux < subject) && !isRelative;
  if (inverted) return true;
  if (isRelative) return false;
  return endsWithQuestionMark(tree) && isLastClause(tree, head);
}

function endsWithQuestionMark(tree: Tree): boolean {
  const last = tree.tokens.at(-1);
  return last !== undefined && /\?/.test(tree.text.slice(last.start, last.end + 2));
}

/** Whether the last word of the sentence belongs to the clause, with no other clause with a subject between. */
function isLastClause(tree: Tree, head: number): boolean {
  let at = tree.tokens.findLastIndex(({ pos }) => pos !== "PUNCT" && pos !== "SYM");
  for (let i = 0; i < 40 && at >= 0; i += 1) {
    if (at === head) return true;
    const label = baseLabel(tree.tokens[at]?.label ?? "");
    const isClause = label === "conj" || label === "parataxis" || label === "advcl";
    if (isClause && childrenBy(tree, at, "nsubj").length > 0) return false;
    at = tree.tokens[at]?.head ?? -1;
  }
  return false;
}

/** The words of a clause: not those of clauses beside it, nor what calls somebody or only opens the clause. */
function clauseWords(tree: Tree, head: number): number[] {
  const words = subtree(
    tree,
    head,
    (i) => isBeside(tree, i) || (tree.tokens[i]?.head === head && isFrame(tree, i, head)),
  );
  return trimWords(tree, words, head);
}

/** A clause that is appended to another or stands beside it, wherever it hangs. */
function isBeside(tree: Tree, at: number): boolean {
  const base = baseLabel(tree.tokens[at]?.label ?? "");
  if (base === "parataxis" || base === "list") return true;
  if (base === "advcl" && childrenBy(tree, at, "nsubj").length > 0) return !isCircumstance(tree, at);
  return isAside(tree, at);
}

/** What hangs on the head of a clause and says nothing of it: who is called, what opens it, what is coordinated with it. */
function isFrame(tree: Tree, at: number, head: number): boolean {
  const label = baseLabel(tree.tokens[at]?.label ?? "");
  if (label === "discourse" || label === "vocative") return true;
  if (label === "cc" || label === "mark") return at < head;
  return label === "conj" && isClausalConjunct(tree, at, tree.tokens[head]?.pos === "VERB");
}

const CIRCUMSTANCES = new Set(["when", "whenever", "while", "before", "after", "until", "till", "where"]);

/** "When I fly": it belongs to what is said. */
function isCircumstance(tree: Tree, at: number): boolean {
  return childrenBy(tree, at, "mark", "advmod").some((i) => CIRCUMSTANCES.has(tree.tokens[i]?.lower ?? ""));
}

/** "…, who lives in Denver": a statement of its own. */
export function isAside(tree: Tree, at: number): boolean {
  if (tree.tokens[at]?.label !== "acl:relcl") return false;
  const first = subtree(tree, at).find((i) => tree.tokens[i]?.pos !== "PUNCT") ?? at;
  return tree.tokens[first - 1]?.lower === "," && /^wh/.test(tree.tokens[first]?.lower ?? "");
}

function isClausalConjunct(tree: Tree, at: number, isVerb: boolean): boolean {
  const hasSubject = childrenBy(tree, at, "nsubj", "csubj").length > 0;
  return hasSubject || (isVerb && tree.tokens[at]?.pos === "VERB") || childrenBy(tree, at, "cop").length > 0;
}

/** What no clause ends with: marks but those of numbers ("12%"), interjections, conjunctions, a "to" that lost its verb. */
function isLoose(token: ParsedToken | undefined): boolean {
  if (token === undefined) return false;
  if (token.pos === "PUNCT" || token.pos === "SYM") return !/^[%$€£°)]$/.test(token.text);
  return token.pos === "INTJ" || token.pos === "CCONJ" || token.pos === "SCONJ" || token.tag === "TO";
}

const OPENERS = new Set(
  "so also actually well anyway but and or too though however honestly basically personally yeah yes yep oh wow hey hmm plus ok okay lol haha no nope btw anyways nah man bro dude then".split(
    " ",
  ),
);
const CLOSERS = new Set("too though lol haha and but so or as well tho btw".split(" "));

/** Takes punctuation, openers and closers off both ends. */
function trimWords(tree: Tree, words: readonly number[], head: number): number[] {
  let from = 0;
  let to = words.length;
  const at = (i: number) => tree.tokens[words[i] ?? -1];
  while (
    from < to &&
    words[from] !== head &&
    (at(from)?.pos === "PUNCT" || OPENERS.has(at(from)?.lower ?? ""))
  )
    from += 1;
  while (to > from && words[to - 1] !== head && (isLoose(at(to - 1)) || CLOSERS.has(at(to - 1)?.lower ?? "")))
    to -= 1;
  return words.slice(from, to);
}
