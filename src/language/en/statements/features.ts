import { toBaseForm } from "../../../domain/text/english-forms.ts";
import type { Clause } from "./clauses.ts";
import { baseLabel, childrenBy, type Tree } from "./tree.ts";
import type { Wording } from "./wording.ts";

/** The signs by which it is scored whether a clause is worth keeping, by name. */
export type Features = ReadonlyMap<string, number>;

/** What stands around a clause. */
export interface Surroundings {
  /** People talk among themselves: the speaker has a name. */
  readonly isAmongPeople: boolean;
  /** The length of the message in characters. */
  readonly length: number;
}

/** The signs of a clause: its form, who it is about, what governs it, its predicate and arguments, what surrounds it. */
export function clauseFeatures(
  clause: Clause,
  wording: Wording,
  { isAmongPeople, length }: Surroundings,
): Features {
  const { tree, head, about, role, words } = clause;
  const found = new Map<string, number>();
  const add = (name: string, value = 1): void => {
    found.set(name, value);
  };
  const people = isAmongPeople ? "talk" : "chat";
  add(people);
  add(`about:${about}`);
  add(`role:${baseLabel(role)}`);
  add(`${people}:${about}`);
  for (const name of formOf(clause)) {
    add(name);
    if (isAmongPeople) add(`talk:${name}`);
  }
  const predicate = predicateOf(clause);
  add(`verb:${predicate}`);
  for (const [k, governor] of clause.governors.entries()) if (k < 2) add(`under:${governor}`);
  for (const inner of innerVerbs(tree, head)) add(`inner:${inner}`);
  for (const mark of childrenBy(tree, head, "mark", "advmod").slice(0, 4))
    add(`opener:${tree.tokens[mark]?.lower}`);
  for (const name of argumentsOf(clause)) add(name);
  if (wording.unresolved > 0) add("unresolved", Math.min(3, wording.unresolved));
  const texts = words.map((i) => tree.tokens[i]);
  if (texts.some((token) => token && /^(?:you|your|u|ur|yours)$/.test(token.lower))) add("you");
  if (texts.some((token) => token?.pos === "PROPN")) add("name");
  if (texts.some((token) => token?.pos === "NUM")) add("number");
  if (texts.some((token) => token?.label === "obl:unmarked")) add("time-phrase");
  if (texts.some((token) => token && /^(?:my|our)$/.test(token.lower)) && about !== "owned")
    add("mentions-own");
  add("words", Math.min(30, words.length) / 10);
  if (words.length <= 3) add("short");
  if (words.length > 22) add("long");
  add("message", Math.log10(Math.max(10, length)) - 1);
  if (length > 600) add("long-message");
  return found;
}

/** Tense, aspect, mood and polarity. */
function formOf(clause: Clause): string[] {
  const { tree, head, auxiliaries, copula } = clause;
  const tag = tree.tokens[head]?.tag ?? "";
  const helpers = auxiliaries.map((i) => tree.tokens[i]?.lower ?? "");
  const modal = auxiliaries.find((i) => tree.tokens[i]?.tag === "MD");
  const isPerfect =
    helpers.some((word) => /^(?:have|has|had|'ve|’ve|ve)$/.test(word)) && copula === undefined;
  const isProgressive = tag === "VBG" && helpers.length > 0;
  const form = [
    clause.negated ? "negated" : "",
    clause.asked ? "asked" : "",
    clause.conditional ? "conditional" : "",
    modal === undefined ? "" : `modal:${tree.tokens[modal]?.lower}`,
    isPerfect ? "perfect" : "",
    isProgressive ? "progressive" : "",
    copula === undefined ? "" : `be:${tree.tokens[head]?.pos}`,
    auxiliaries.some((i) => tree.tokens[i]?.label === "aux:pass") ? "passive" : "",
  ];
  const opening = auxiliaries[0] ?? head;
  const finite = tree.tokens[opening]?.tag ?? "";
  form.push(/^(?:VBD)$/.test(finite) || tag === "VBD" ? "past" : modal === undefined ? "present" : "");
  return form.filter((name) => name !== "");
}

/** The base form of the predicate, with its particle: "give up". */
export function predicateOf({ tree, head }: Clause): string {
  const token = tree.tokens[head];
  if (!token) return "";
  const particle = childrenBy(tree, head, "compound:prt").map((i) => tree.tokens[i]?.lower);
  const base = token.pos === "VERB" || token.pos === "AUX" ? toBaseForm(token.lower) : token.lower;
  return [base, ...particle].join(" ");
}

/** The verbs under the predicate: "want [to learn]", "thinking of [selling]". */
function innerVerbs(tree: Tree, head: number): string[] {
  return childrenBy(tree, head, "xcomp", "ccomp", "advcl")
    .filter((i) => i > head && childrenBy(tree, i, "nsubj").length === 0)
    .map((i) => toBaseForm(tree.tokens[i]?.lower ?? ""));
}

function argumentsOf({ tree, head }: Clause): string[] {
  const names: string[] = [];
  for (const i of childrenBy(tree, head, "obj", "obl", "xcomp", "ccomp", "iobj")) {
    const token = tree.tokens[i];
    if (!token) continue;
    const label = baseLabel(token.label);
    const [determiner] = childrenBy(tree, i, "det", "nmod:poss", "nummod");
    const [joint] = childrenBy(tree, i, "case", "mark");
    names.push(`has:${label}`);
    if (label === "obj" || label === "obl") {
      names.push(`${label}:${token.lower}`);
      names.push(
        `${label}-det:${tree.tokens[determiner ?? -1]?.lower ?? (token.pos === "PROPN" ? "NAME" : token.tag)}`,
      );
    }
    if (joint !== undefined && label === "obl") names.push(`obl-with:${tree.tokens[joint]?.lower}`);
  }
  return names;
}
