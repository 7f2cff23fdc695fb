import type { Claim } from "../../../domain/memory.ts";
import { toBaseForm } from "../../../domain/search/base-forms.ts";
import type { ReadClause } from "./read-clauses.ts";
import { baseLabel, childrenBy, type Tree } from "./tree.ts";
import { isAboutSpeaker } from "./verb-forms.ts";

/** A claim with the place of its words in the text. */
interface PlacedClaim {
  readonly start: number;
  readonly end: number;
  readonly claim?: Claim;
}

/** The clause that the words at a place are, or are most of; undefined if there is none. */
export function findClauseAt(
  clauses: readonly ReadClause[],
  place: { start: number; end: number },
): ReadClause | undefined {
  let best: ReadClause | undefined;
  let bestShare = 0;
  for (const one of clauses) {
    const common = Math.min(one.end, place.end) - Math.max(one.start, place.start);
    const share = common / (Math.max(one.end, place.end) - Math.min(one.start, place.start));
    if (share > bestShare) [best, bestShare] = [one, share];
  }
  return bestShare > 0.2 ? best : undefined;
}

/** The subjects of a clause's tree that no claim can have: of the user, of what is the user's, of somebody else. */
const CANNOT_BE: { readonly [of: string]: ReadonlySet<string> } = {
  user: new Set(["pointed", "addressee"]),
  owned: new Set(["dropped", "addressee"]),
  other: new Set(["speaker", "group", "dropped", "pointed", "addressee", "other"]),
};

/**
 * Whether the tree of a claim's clause shows that the claim is told of somebody else: "Wes Anderson films twee", read from "I find Wes
 * Anderson films twee". On labelled memories of real chats, three of four such claims were misread.
 */
export function isOfAnotherSubject(one: PlacedClaim, clauses: readonly ReadClause[]): boolean {
  const read = one.claim && findClauseAt(clauses, one);
  if (!read || !one.claim) return false;
  const { subject } = one.claim;
  const of = subject === "user" ? "user" : subject.startsWith("user/") ? "owned" : "other";
  const { tree, subject: head, about } = read.clause;
  if (hasOwnVerb(one, read)) return false;
  const words = subject.toLowerCase().split(" ");
  if (of === "other" && about === "person") return isSomebodyElse(words, read, clauses);
  return !words.includes(tree.tokens[head ?? -1]?.lower ?? "") && CANNOT_BE[of]?.has(about) === true;
}

/**
 * A memory of "The …" whose clause has "it" or "that" as its subject: "The depot was hay fever", read from "I went to work at the depot. It
 * was hay fever". Readers judged 16 of them; 3 were right.
 */
export function isOfVagueThing(
  one: PlacedClaim & { readonly text: string },
  clauses: readonly ReadClause[],
): boolean {
  return /^The (?!user\b)/.test(one.text) && findClauseAt(clauses, one)?.clause.about === "pointed";
}

/** A word that heads a clause. */
const CLAUSAL = /^(?:root|conj|parataxis|ccomp|advcl|list|csubj)$/;

/** "rejoined Puregym, it's the only one": a verb with a clause of its own, which the tree hangs on another. */
function hasOwnVerb({ start, end }: PlacedClaim, { clause, offset }: ReadClause): boolean {
  return clause.tree.tokens.some(
    ({ pos, label, start: from }, i) =>
      i !== clause.head &&
      pos === "VERB" &&
      CLAUSAL.test(label) &&
      start <= offset + from &&
      offset + from < end,
  );
}

/** "He", read as a word that is no name, or as another than the one person who was spoken of. */
function isSomebodyElse(
  words: readonly string[],
  { names: { person } }: ReadClause,
  clauses: readonly ReadClause[],
): boolean {
  if (person !== undefined) return !words.some((word) => person.toLowerCase().includes(word));
  const written = clauses.flatMap(({ clause: { tree } }) =>
    tree.tokens.filter(({ lower }) => words.includes(lower)),
  );
  return written.length > 0 && !written.some(({ pos }) => pos === "PROPN");
}

/** The signs of how far a claim agrees with the tree of its clause: the same predicate, and a whole phrase as its value. */
export function agreementFeatures(
  { claim, start, end }: PlacedClaim,
  read: ReadClause | undefined,
): Map<string, number> {
  const signs = [claim ? "" : "none", read ? "" : "no-clause"];
  if (claim && read) signs.push(...subjectSigns(claim, read), ...valueSigns(claim, read, { start, end }));
  return new Map(signs.filter((name) => name !== "").map((name) => [`claim:${name}`, 1]));
}

function subjectSigns(claim: Claim, { clause }: ReadClause): string[] {
  const { tree, head, copula } = clause;
  const [first = ""] = claim.relation.replace(/^(?:not|never) /, "").split(" ");
  const isSame =
    (first === "be" && copula !== undefined) || first === toBaseForm(tree.tokens[head]?.lower ?? "");
  return [
    `relation:${claim.relation}`,
    claim.subject === "user" ? "of-user" : claim.subject.startsWith("user/") ? "of-owned" : "of-other",
    isAboutSpeaker(clause) === (claim.subject === "user") ? "" : "other-subject",
    isSame ? "same-predicate" : "other-predicate",
  ];
}

function valueSigns(
  claim: Claim,
  read: ReadClause,
  { start, end }: { start: number; end: number },
): string[] {
  const { tree, head } = read.clause;
  const value = wordsOf(tree, claim.value, start - read.offset, end - read.offset);
  return [
    ...(value.length === 0 ? ["value-reworded"] : phraseSigns(tree, value, head)),
    claim.qualifier === undefined ? "" : "qualified",
    Math.abs(read.start - start) > 3 ? "starts-elsewhere" : "",
    Math.abs(read.end - end) > 3 ? (read.end > end ? "ends-before" : "ends-after") : "",
  ];
}

/** The words of a value, where they stand in the text. */
function wordsOf(tree: Tree, value: string, start: number, end: number): number[] {
  const from = tree.text.slice(start, end).toLowerCase().indexOf(value.toLowerCase());
  if (from < 0 || value === "") return [];
  return tree.tokens.flatMap((token, i) =>
    token.start >= start + from && token.end <= start + from + value.length ? [i] : [],
  );
}

const INSEPARABLE = new Set([
  "compound",
  "flat",
  "fixed",
  "goeswith",
  "nummod",
  "amod",
  "compound:prt",
  "appos",
  "nmod",
]);

/** Whether some words are one phrase of the tree, and whether a part of it is missing. */
function phraseSigns(tree: Tree, words: readonly number[], clauseHead: number): string[] {
  const heads = words.filter((i) => !words.includes(tree.tokens[i]?.head ?? -1));
  const [head] = heads;
  const token = tree.tokens[head ?? -1];
  if (head === undefined || !token) return [];
  const isCut = heads.some((i) => (tree.children[i] ?? []).some((child) => isLost(tree, child, words)));
  const isPart = INSEPARABLE.has(token.label) && token.head !== clauseHead;
  return [
    heads.length === 1 ? "one-phrase" : heads.length === 2 ? "two-phrases" : "many-phrases",
    `role:${head === clauseHead ? "predicate" : baseLabel(token.label)}`,
    isCut ? "cut" : "",
    isPart ? "part" : "",
    childrenBy(tree, head, "conj").some((i) => !words.includes(i)) ? "one-of-many" : "",
  ].filter((name) => name !== "");
}

function isLost(tree: Tree, child: number, words: readonly number[]): boolean {
  return !words.includes(child) && INSEPARABLE.has(tree.tokens[child]?.label ?? "");
}
