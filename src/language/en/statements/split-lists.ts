import { isTimeNoun } from "../grammar/time/times.ts";
import type { ParsedToken } from "../parser/parser.ts";
import type { ParsedClause } from "./clauses.ts";
import { baseLabel, childrenBy, createTree, subtree, type Tree } from "./tree.ts";

/** Verbs of which a list says something together: "I mixed flour and salt". */
const TOGETHER = /^(?:mix|combin|compar|confus|juggl|balanc|merg|marr|introduc|separat)/;

/**
 * A clause for each of the things that its object lists: "For work I live in Linear and Notion" tells of each, and each can end or be
 * erased by itself. The clause itself where it lists nothing, or says something of several together.
 */
export function splitLists(clause: ParsedClause): ParsedClause[] {
  const { tree, head, words } = clause;
  if (TOGETHER.test(tree.tokens[head]?.lower ?? "")) return [clause];
  const listing = childrenBy(tree, head, "obj", "obl")
    .filter((i) => i > head && words.includes(i))
    .find((i) => isList(tree, i, words));
  if (listing === undefined) return [clause];
  return [listing, ...membersOf(tree, listing, words)].map((member) => withMember(clause, listing, member));
}

/** The words that are coordinated with a word, and those coordinated with them. */
function membersOf(tree: Tree, at: number, words: readonly number[]): number[] {
  return childrenBy(tree, at, "conj")
    .filter((i) => words.includes(i))
    .flatMap((i) => [i, ...membersOf(tree, i, words)]);
}

/** Whether a word begins a list of things that "and" joins: no choice, no figures, no times, and nothing that they share. */
function isList(tree: Tree, at: number, words: readonly number[]): boolean {
  const members = membersOf(tree, at, words);
  const all = [at, ...members].map((i) => tree.tokens[i]);
  if (members.length === 0 || !all.every(isThing)) return false;
  const joints = members.flatMap((i) => childrenBy(tree, i, "cc")).map((i) => tree.tokens[i]?.lower ?? "");
  const isBetween = childrenBy(tree, at, "case").some((i) =>
    /^(?:between|among)$/.test(tree.tokens[i]?.lower ?? ""),
  );
  // "action and sci-fi films": the first is bare, and shares the noun of the last.
  const isBare =
    tree.tokens[at]?.tag === "NN" && childrenBy(tree, at, "det", "amod", "compound", "nmod").length === 0;
  const isShared = isBare && members.some((i) => childrenBy(tree, i, "amod", "compound").length > 0);
  return (
    joints.length > 0 && joints.every((joint) => /^(?:and|&|plus|n)$/.test(joint)) && !isBetween && !isShared
  );
}

function isThing(token: ParsedToken | undefined): boolean {
  if (!token || !/^(?:NOUN|PROPN)$/.test(token.pos)) return false;
  return (
    !isTimeNoun(token.lower) &&
    !/^(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec|\w+day)/.test(token.lower)
  );
}

/** The clause with one member in the place of the list. The preposition before the list is said before each. */
function withMember(clause: ParsedClause, listing: number, member: number): ParsedClause {
  const { tree, head, words } = clause;
  const isOther = (i: number): boolean => i !== member && baseLabel(tree.tokens[i]?.label ?? "") === "conj";
  const isJoint = (i: number): boolean =>
    tree.tokens[i]?.head === member && /^(?:cc|punct)/.test(tree.tokens[i]?.label ?? "");
  const own = subtree(tree, member, (i) => isOther(i) || isJoint(i));
  const cases = childrenBy(tree, member, "case").length > 0 ? [] : childrenBy(tree, listing, "case");
  const list = new Set(subtree(tree, listing));
  const kept = words.filter((i) => !list.has(i) || own.includes(i) || cases.includes(i));
  const tokens = tree.tokens.map((token, i) => {
    if (i === member) return { ...token, head, label: tree.tokens[listing]?.label ?? token.label };
    return cases.includes(i) ? { ...token, head: member } : token;
  });
  return { ...clause, tree: createTree({ tokens }, tree.text), words: kept };
}
