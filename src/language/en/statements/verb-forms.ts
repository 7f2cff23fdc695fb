import { toBaseForm } from "../../../domain/search/base-forms.ts";
import type { ParsedToken } from "../parser/parser.ts";
import { toThirdPerson } from "../word-forms.ts";
import type { ParsedClause } from "./clauses.ts";
import { baseLabel, childrenBy, type Tree } from "./tree.ts";

/** Whether the speaker is the subject of a clause. */
export function isAboutSpeaker({ about }: ParsedClause): boolean {
  return about === "speaker" || about === "group" || about === "dropped";
}

/** What an auxiliary or a contraction is in full, whoever its subject is. */
const IN_FULL: Readonly<Record<string, string>> = {
  "n't": "not",
  "n’t": "not",
  nt: "not",
  ca: "can",
  wo: "will",
  "'ll": "will",
  "’ll": "will",
  ll: "will",
  gon: "going",
  na: "to",
  ta: "to",
};

/** The person that a verb agrees with in the wording: the speaker by name, "they", or whoever the words say. */
type Person = "singular" | "plural" | "kept";

/** The form of a verb or an auxiliary in the third person: "'m" gives "is", "live" gives "lives". Undefined for other words. */
export function writeVerb(clause: ParsedClause, at: number): string | undefined {
  const { tree } = clause;
  const token = tree.tokens[at];
  if (!token) return undefined;
  const label = baseLabel(token.label);
  const isHelper = label === "aux" || label === "cop";
  if (isHelper || /^(?:n['’]?t|na|gon)$/.test(token.lower)) {
    const full = IN_FULL[token.lower] ?? writeShort(tree, token);
    if (full !== undefined) return full;
  }
  const owner = isHelper ? token.head : at;
  const person = personOf(clause, owner, at);
  if (person === "kept") return KEPT[token.lower];
  return isHelper ? writeHelper(clause, at, person) : writeMain(clause, at, person);
}

const KEPT: Readonly<Record<string, string>> = {
  "'re": "are",
  "’re": "are",
  r: "are",
  "'ve": "have",
  "’ve": "have",
};

/** "'d" and "'s" are told apart by the form that follows. */
function writeShort(tree: Tree, { lower, head, label }: ParsedToken): string | undefined {
  const isParticiple = tree.tokens[head]?.tag === "VBN";
  if (/^['’]?d$/.test(lower)) return isParticiple ? "had" : "would";
  if (/^['’]s$/.test(lower)) return isParticiple && label === "aux" ? "has" : "is";
  return undefined;
}

function writeHelper(clause: ParsedClause, at: number, person: "singular" | "plural"): string | undefined {
  const { lower = "", head: owner = -1 } = clause.tree.tokens[at] ?? {};
  const isSingular = person === "singular";
  if (/^(?:have|['’]?ve)$/.test(lower))
    return isSingular && isFiniteHelper(clause, at, owner) ? "has" : "have";
  if (lower === "been") return isWithoutHave(clause, at, owner) ? "has been" : undefined;
  return (isSingular ? SINGULAR : PLURAL).get(lower);
}

const BE_NOW = ["am", "are", "is", "'m", "’m", "m", "'re", "’re", "r"];

const SINGULAR: ReadonlyMap<string, string> = new Map([
  ...BE_NOW.map((form) => [form, "is"] as const),
  ["was", "was"],
  ["were", "was"],
  ["do", "does"],
]);

const PLURAL: ReadonlyMap<string, string> = new Map([
  ...BE_NOW.map((form) => [form, "are"] as const),
  ["was", "were"],
  ["were", "were"],
]);

function isFiniteHelper(clause: ParsedClause, at: number, owner: number): boolean {
  return isFirstHelper(clause, at, owner) && !hasModal(clause.tree, owner);
}

/** "Been married since June": "I have" is left out. */
function isWithoutHave(clause: ParsedClause, at: number, owner: number): boolean {
  return clause.about === "dropped" && isFirstHelper(clause, at, owner);
}

function writeMain(clause: ParsedClause, at: number, person: "singular" | "plural"): string | undefined {
  const { lower = "", tag = "" } = clause.tree.tokens[at] ?? {};
  const isSingular = person === "singular";
  if (lower === "was" || lower === "were") return isSingular ? "was" : "were";
  if (!isSingular) return undefined;
  // "Learning Welsh": "I am" is left out.
  if (tag === "VBG" && at === clause.head && clause.about === "dropped" && clause.auxiliaries.length === 0)
    return `is ${lower}`;
  // A present that the tagger took for an infinitive: "I live".
  const isPresent =
    tag === "VB" && at === clause.head && clause.auxiliaries.length === 0 && clause.subject !== undefined;
  if (tag !== "VBP" && !isPresent) return undefined;
  return toThirdPerson(lower === "wan" ? "want" : toBaseForm(lower));
}

function isFirstHelper({ auxiliaries, tree }: ParsedClause, at: number, owner: number): boolean {
  return auxiliaries.every((other) => other >= at || tree.tokens[other]?.head !== owner);
}

const hasModal = (tree: Tree, owner: number): boolean =>
  childrenBy(tree, owner, "aux").some((i) => tree.tokens[i]?.tag === "MD" || tree.tokens[i]?.tag === "TO");

/** Of the clause's own verb, and of a verb inside whose subject is the speaker. */
function personOf(clause: ParsedClause, owner: number, at: number): Person {
  const isSelf = isAboutSpeaker(clause);
  if (owner === clause.head || clause.auxiliaries.includes(at)) return isSelf ? "singular" : "kept";
  const [subject] = childrenBy(clause.tree, owner, "nsubj");
  const lower = clause.tree.tokens[subject ?? -1]?.lower;
  if (lower !== "i" && lower !== "we") return "kept";
  return isSelf ? "plural" : "singular";
}
