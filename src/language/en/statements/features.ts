import { toBaseForm } from "../../../domain/search/base-forms.ts";
import type { ParsedToken } from "../parser/parser.ts";
import type { ParsedClause } from "./clauses.ts";
import { baseLabel, childrenBy, type Tree } from "./tree.ts";
import type { ClauseWording } from "./wording.ts";

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
  clause: ParsedClause,
  wording: ClauseWording,
  { isAmongPeople, length }: Surroundings,
): Features {
  const people = isAmongPeople ? "talk" : "chat";
  const form = formOf(clause);
  const signs = [
    people,
    `about:${clause.about}`,
    `role:${baseLabel(clause.role)}`,
    `${people}:${clause.about}`,
    ...form,
    ...(isAmongPeople ? form.map((name) => `talk:${name}`) : []),
    ...lexicalSigns(clause),
    ...wordSigns(clause),
    length > 600 ? "long-message" : "",
  ];
  const found = new Map<string, number>();
  for (const name of signs) if (name !== "") found.set(name, 1);
  if (wording.unresolved > 0) found.set("unresolved", Math.min(3, wording.unresolved));
  found.set("words", Math.min(30, clause.words.length) / 10);
  found.set("message", Math.log10(Math.max(10, length)) - 1);
  return found;
}

/** The predicate, what governs it, the verbs under it, its openers and its arguments. */
function lexicalSigns(clause: ParsedClause): string[] {
  const { tree, head } = clause;
  return [
    `verb:${predicateOf(clause)}`,
    ...clause.governors.slice(0, 2).map((governor) => `under:${governor}`),
    ...innerVerbs(tree, head).map((inner) => `inner:${inner}`),
    ...childrenBy(tree, head, "mark", "advmod")
      .slice(0, 4)
      .map((mark) => `opener:${tree.tokens[mark]?.lower}`),
    ...argumentsOf(clause),
  ];
}

/** What kinds of words stand in the clause, and how many. */
function wordSigns({ tree, words, about }: ParsedClause): string[] {
  const tokens = words.flatMap((i) => tree.tokens[i] ?? []);
  const has = (name: string, fits: (token: ParsedToken) => boolean): string =>
    tokens.some(fits) ? name : "";
  return [
    has("you", ({ lower }) => /^(?:you|your|u|ur|yours)$/.test(lower)),
    has("name", ({ pos }) => pos === "PROPN"),
    has("number", ({ pos }) => pos === "NUM"),
    has("time-phrase", ({ label }) => label === "obl:unmarked"),
    about === "owned" ? "" : has("mentions-own", ({ lower }) => /^(?:my|our)$/.test(lower)),
    words.length <= 3 ? "short" : "",
    words.length > 22 ? "long" : "",
  ];
}

/** Tense, aspect, mood and polarity. */
function formOf(clause: ParsedClause): string[] {
  const { tree, head, auxiliaries, copula } = clause;
  const tag = tree.tokens[head]?.tag ?? "";
  const isHelper = (fits: (token: ParsedToken) => boolean): boolean =>
    auxiliaries.some((i) => tree.tokens[i] !== undefined && fits(tree.tokens[i]));
  const modal = auxiliaries.find((i) => tree.tokens[i]?.tag === "MD");
  const isPerfect =
    copula === undefined && isHelper(({ lower }) => /^(?:have|has|had|'ve|’ve|ve)$/.test(lower));
  const signs: [string, boolean][] = [
    ["negated", clause.negated],
    ["asked", clause.asked],
    ["conditional", clause.conditional],
    [`modal:${tree.tokens[modal ?? -1]?.lower}`, modal !== undefined],
    ["perfect", isPerfect],
    ["progressive", tag === "VBG" && auxiliaries.length > 0],
    [`be:${tree.tokens[head]?.pos}`, copula !== undefined],
    ["passive", isHelper(({ label }) => label === "aux:pass")],
    [tenseOf(clause), true],
  ];
  return signs.flatMap(([name, holds]) => (holds ? [name] : []));
}

function tenseOf({ tree, head, auxiliaries }: ParsedClause): string {
  const finite = tree.tokens[auxiliaries[0] ?? head]?.tag;
  if (finite === "VBD" || tree.tokens[head]?.tag === "VBD") return "past";
  return auxiliaries.some((i) => tree.tokens[i]?.tag === "MD") ? "" : "present";
}

/** The base form of the predicate, with its particle: "give up". */
export function predicateOf({ tree, head }: ParsedClause): string {
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

function argumentsOf({ tree, head }: ParsedClause): string[] {
  return childrenBy(tree, head, "obj", "obl", "xcomp", "ccomp", "iobj").flatMap((i) =>
    argumentSigns(tree, i),
  );
}

function argumentSigns(tree: Tree, at: number): string[] {
  const token = tree.tokens[at];
  if (!token) return [];
  const label = baseLabel(token.label);
  if (label !== "obj" && label !== "obl") return [`has:${label}`];
  const [determiner] = childrenBy(tree, at, "det", "nmod:poss", "nummod");
  const [joint] = childrenBy(tree, at, "case", "mark");
  const kind = tree.tokens[determiner ?? -1]?.lower ?? (token.pos === "PROPN" ? "NAME" : token.tag);
  const signs = [`has:${label}`, `${label}:${token.lower}`, `${label}-det:${kind}`];
  return joint !== undefined && label === "obl" ? [...signs, `obl-with:${tree.tokens[joint]?.lower}`] : signs;
}
