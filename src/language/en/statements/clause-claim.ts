import type { Claim } from "../../../domain/memory.ts";
import { toBaseForm } from "../../../domain/search/base-forms.ts";
import type { ParsedClause } from "./clauses.ts";
import { predicateOf } from "./features.ts";
import { baseLabel, childrenBy, subtree, type Tree } from "./tree.ts";
import { type Names, wordPhrase } from "./wording.ts";

/**
 * The claim of a clause: "I live in Leeds with my dog" gives user, `live in`, `Leeds`, qualifier `with their dog`. Undefined where the
 * clause has no simple form: a modal, a chain of verbs, a past, no object.
 */
export function claimOfClause(clause: ParsedClause, names: Names, speakerPath: string): Claim | undefined {
  const { tree, head, auxiliaries, copula, words } = clause;
  const subject = subjectPath(clause, speakerPath);
  if (subject === undefined) return undefined;
  if (
    auxiliaries.some((i) => tree.tokens[i]?.tag === "MD") ||
    childrenBy(tree, head, "xcomp", "ccomp").length > 0
  )
    return undefined;
  const isPast = [head, ...auxiliaries].some((i) => tree.tokens[i]?.tag === "VBD");
  if (isPast || auxiliaries.some((i) => tree.tokens[i]?.label === "aux:pass")) return undefined;
  if (isHalfNegated(clause)) return undefined;
  const deny = clause.negated || isRare(clause) ? "not " : "";
  const inClause = (i: number): boolean => words.includes(i);
  const [object] = childrenBy(tree, head, "obj").filter(inClause);
  const obliques = childrenBy(tree, head, "obl").filter((i) => inClause(i) && i > head);
  const phrase = (at: number): string =>
    wordPhrase(
      clause,
      names,
      subtree(tree, at, (i) => !inClause(i)),
    );
  const qualifier = (but: number | undefined): string =>
    [
      ...obliques,
      ...childrenBy(tree, head, "advmod").filter(
        (i) => inClause(i) && i > head && tree.tokens[i]?.lower !== "not",
      ),
    ]
      .filter((i) => i !== but && !/^(?:n't|nt|anymore|now|too|also)$/.test(tree.tokens[i]?.lower ?? ""))
      .sort((a, b) => a - b)
      .map(phrase)
      .join(" ");
  const made = (relation: string, value: string, rest: string): Claim | undefined =>
    value === "" || value.length > 120
      ? undefined
      : { subject, relation: `${deny}${relation}`, value, ...(rest === "" ? {} : { qualifier: rest }) };
  if (copula !== undefined) return copulaClaim(clause, names, made);
  if (object !== undefined) return made(predicateOf(clause), phrase(object), qualifier(undefined));
  const [first] = obliques.filter((i) => childrenBy(tree, i, "case").length === 1);
  if (first === undefined) return undefined;
  const [joint] = childrenBy(tree, first, "case");
  const value = wordPhrase(
    clause,
    names,
    subtree(tree, first, (i) => !inClause(i) || i === joint),
  );
  return made(`${predicateOf(clause)} ${tree.tokens[joint as number]?.lower}`, value, qualifier(first));
}

/** "I don't only eat meat", "I don't always wear glasses": neither told nor denied. */
function isHalfNegated({ tree, head }: ParsedClause): boolean {
  return (tree.children[head] ?? []).some(
    (i) =>
      /^(?:not|n't|n’t|nt)$/.test(tree.tokens[i]?.lower ?? "") &&
      /^(?:only|just|merely|simply|always|necessarily|all)$/.test(tree.tokens[i + 1]?.lower ?? ""),
  );
}

/** "I rarely eat meat", "I hardly ever drink": as good as not. */
function isRare({ tree, head }: ParsedClause): boolean {
  return childrenBy(tree, head, "advmod").some((i) => {
    const [word, next] = [tree.tokens[i]?.lower ?? "", tree.tokens[i + 1]?.lower];
    return (
      i < head &&
      (/^(?:rarely|seldom)$/.test(word) ||
        (/^(?:hardly|barely|scarcely)$/.test(word) && next === "ever") ||
        (word === "ever" && /^(?:hardly|barely|scarcely)$/.test(tree.tokens[i - 1]?.lower ?? "")))
    );
  });
}

/** "I'm a nurse", "I'm allergic to nuts": `be` with a noun, or with an adjective and what it is joined to. */
function copulaClaim(
  clause: ParsedClause,
  names: Names,
  made: (relation: string, value: string, rest: string) => Claim | undefined,
): Claim | undefined {
  const { tree, head, copula, words } = clause;
  const own = (i: number): boolean => words.includes(i) && i !== copula;
  const isLeft = (i: number): boolean => {
    const label = baseLabel(tree.tokens[i]?.label ?? "");
    return (
      !own(i) ||
      ["nsubj", "aux", "cop", "advcl", "mark"].includes(label) ||
      (label === "advmod" && i < head && tree.tokens[i]?.lower === "not")
    );
  };
  const [joined] = childrenBy(tree, head, "obl").filter((i) => own(i) && i > head);
  const [joint] = joined === undefined ? [] : childrenBy(tree, joined, "case");
  if (tree.tokens[head]?.pos === "ADJ" && joined !== undefined && joint !== undefined) {
    const value = wordPhrase(
      clause,
      names,
      subtree(tree, joined, (i) => !own(i) || i === joint),
    );
    return made(`be ${tree.tokens[head]?.lower} ${tree.tokens[joint]?.lower}`, value, "");
  }
  const value = wordPhrase(clause, names, subtree(tree, head, isLeft));
  const [preposition] = childrenBy(tree, head, "case");
  if (preposition !== undefined)
    return made(`be ${tree.tokens[preposition]?.lower}`, value.replace(/^\S+\s+/, ""), "");
  return made("be", value, "");
}

/** `user`, `user/sister`, `user/sister/dog`, or the name of somebody else. */
function subjectPath({ tree, subject, about }: ParsedClause, speakerPath: string): string | undefined {
  if (about === "speaker" || about === "group" || about === "dropped") return speakerPath;
  if (subject === undefined) return undefined;
  if (about === "named") return tree.tokens[subject]?.text;
  return about === "owned" ? ownedPath(tree, subject, speakerPath) : undefined;
}

function ownedPath(tree: Tree, at: number, speakerPath: string): string | undefined {
  const [owner] = childrenBy(tree, at, "nmod").filter((i) => tree.tokens[i]?.label === "nmod:poss");
  const lower = tree.tokens[owner ?? -1]?.lower;
  if (owner === undefined || lower === undefined) return undefined;
  const base = lower === "my" || lower === "our" ? speakerPath : ownedPath(tree, owner, speakerPath);
  if (base === undefined) return undefined;
  const compounds = childrenBy(tree, at, "compound", "amod").map((i) => tree.tokens[i]?.lower);
  return `${base}/${[...compounds, toBaseFormOfNoun(tree, at)].join(" ")}`;
}

function toBaseFormOfNoun(tree: Tree, at: number): string {
  const token = tree.tokens[at];
  return token?.tag === "NNS"
    ? token.lower.replace(/ies$/, "y").replace(/(?<=[sx]|ch|sh)es$|s$/, "")
    : (token?.lower ?? toBaseForm(""));
}
