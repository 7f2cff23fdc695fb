import type { Claim, Memory } from "../../../domain/memory.ts";
import { splitWords } from "../../../domain/search/search-terms.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import { isKindOf, toCanonicalThing } from "../relations/relations.ts";
import { toSingular } from "../word-forms.ts";
import type { AnswerIndex } from "./answer-index.ts";
import { key } from "./essence.ts";

/** Says of a claim's subject whether it is the one a question means: 1 surely, less where it may be, 0 not. */
type SubjectFit = (subject: string) => number;

/**
 * Finds the subjects that a question's subject can mean. "my tortoise" is also the pet that is a tortoise, "my
 * sister" also "my little sister", and a name also the person who is called so. `mayUse` bounds what is looked at.
 */
export function subjectFit(
  asked: string | undefined,
  index: AnswerIndex,
  mayUse: (memory: Memory) => boolean,
): SubjectFit {
  if (asked === undefined) return () => 0.8;
  const said = (subject: string, relation: string): Claim[] =>
    [...(index.slots.get(subject)?.get(relation) ?? [])].flatMap((memory) =>
      memory.claim && mayUse(memory) ? [memory.claim] : [],
    );
  const names = aliases(
    asked,
    [...index.slots.keys()].flatMap((subject) => said(subject, "be called")),
  );
  const plain = plainer(asked, index, mayUse);
  const fit = (subject: string): number => {
    if (subject.toLowerCase() === asked.toLowerCase() || names.has(subject)) return 1;
    if (samePath(asked, subject, () => said(subject, "be"))) return 0.9;
    return subject === plain ? 0.7 : 0;
  };
  const known = new Map<string, number>();
  return (subject) => {
    const score = known.get(subject) ?? fit(subject);
    known.set(subject, score);
    return score;
  };
}

/** "my pottery teacher" is the teacher, where pottery is something that the user does: the path of that one. */
function plainer(asked: string, index: AnswerIndex, mayUse: (memory: Memory) => boolean): string | undefined {
  const [root = "", thing = "", ...rest] = asked.split("/");
  const [modifier = "", noun = "", ...more] = splitWords(thing);
  if (rest.length > 0 || root !== "user" || more.length > 0 || noun === "") return undefined;
  const isDone = [...(index.words.get(key(modifier)) ?? [])].some(
    (memory) =>
      memory.claim?.subject === "user" && mayUse(memory) && splitWords(memory.claim.value).includes(modifier),
  );
  return isDone ? `user/${noun}` : undefined;
}

/** Paths of those who are called what the question names, and names of those it gives a path for. */
function aliases(asked: string, namings: readonly Claim[]): Set<string> {
  const found = new Set<string>();
  const [root = "", ...rest] = asked.split("/");
  for (const claim of namings) {
    if (root !== "user" && meets(claim.value, root)) found.add([claim.subject, ...rest].join("/"));
    if (claim.subject === asked) found.add(claim.value);
  }
  return found;
}

function meets(one: string, other: string): boolean {
  const a = splitWords(one);
  const b = splitWords(other);
  return (
    a.length > 0 &&
    b.length > 0 &&
    (a.every((word) => b.includes(word)) || b.every((word) => a.includes(word)))
  );
}

function samePath(asked: string, subject: string, claims: () => readonly Claim[]): boolean {
  const a = asked.split("/");
  const b = subject.split("/");
  if (a.length !== b.length || a.length < 2) return false;
  return a.every((part, i) => {
    const other = b[i] ?? "";
    return i === 0
      ? part.toLowerCase() === other.toLowerCase()
      : sameThing(part, other, subject, i === b.length - 1, claims);
  });
}

function sameThing(
  asked: string,
  held: string,
  subject: string,
  isLast: boolean,
  claims: () => readonly Claim[],
): boolean {
  if (toCanonicalThing(asked) === toCanonicalThing(held) || isKindOf(held, asked)) return true;
  const [one, other] = [bare(asked), bare(held)];
  // "my flight" is the flight to Oslo; the one to Lisbon is not.
  if (one.tail !== "" || other.tail !== "") {
    return (
      (one.tail === "" || other.tail === "" || one.tail === other.tail) &&
      sameThing(one.noun, other.noun, subject, isLast, claims)
    );
  }
  if (toSingular(asked) === toSingular(held) || isKindOf(toSingular(held), toSingular(asked))) return true;
  // "colleague Ana" is a colleague; "big brother", "phone number" against "number".
  const a = splitWords(asked).map(toSingular);
  const b = splitWords(held).map(toSingular);
  if (a.length > 0 && a.length < b.length && a.every((word) => b.includes(word)) && isPart(a, b, held))
    return true;
  if (
    b.length > 0 &&
    b.length < a.length &&
    b.every((word) => a.includes(word)) &&
    a.at(-1) === b.at(-1) &&
    (LOOSE.has(a.find((word) => !b.includes(word)) ?? "") || isFavourite(a, b))
  )
    return true;
  if (!isLast) return false;
  // "my tortoise": the pet of which it is said that it is one.
  return claims().some(
    (claim) =>
      claim.subject === subject &&
      claim.relation === "be" &&
      splitWords(claim.value)
        .map(toSingular)
        .some((word) => word === a.at(-1) || isKindOf(word, a.at(-1) ?? "")) &&
      !/\b(?:my|his|her|their|our)\b/i.test(claim.value),
  );
}

/** "usual coffee order" and "usual order". */
function isFavourite(one: readonly string[], other: readonly string[]): boolean {
  return ["usual", "favourite", "favorite", "go-to"].some(
    (word) => one.includes(word) && other.includes(word),
  );
}

function bare(thing: string): { noun: string; tail: string } {
  const found = /^(.+?) ((?:to|from|with|for) \p{Lu}.*)$/u.exec(thing);
  return { noun: found?.[1] ?? thing, tail: (found?.[2] ?? "").toLowerCase() };
}

/** Adjectives that tell little apart. */
const LOOSE = new Set(
  "little big younger older elder new old personal current own best close work driving piano local family next upcoming".split(
    " ",
  ),
);

/** "colleague Ana": a capital after the noun; "birthday party" is a party. "Shoe size" is no shoe. */
function isPart(asked: readonly string[], held: readonly string[], text: string): boolean {
  if (/ \p{Lu}/u.test(text)) return asked[0] === held[0];
  return asked.at(-1) === held.at(-1);
}

export interface AskedQuestion {
  readonly text: string;
  readonly question: Question;
  readonly fits: SubjectFit;
  /** The words around a memory: of the message it came from. */
  readonly around: (memory: Memory) => string;
}
