import { listAnsweringRelations, listAttributeRelations } from "../../domain/relations.ts";
import { memoizeByWord } from "../../domain/word-cache.ts";
import { extractTerms, splitWords, stem } from "../../domain/words.ts";
import type { SearchIndex } from "../block/block.ts";

/** What a query seems to ask after, told from its words alone: in microseconds, where a parser takes half a millisecond. */
export interface QueryHints {
  /** Numbers of subjects, with how far each is the one asked after: 0 to 1. */
  readonly subjects: ReadonlyMap<number, number>;
  /** Numbers of relations that would answer it. */
  readonly relations: ReadonlySet<number>;
  /** Search terms of what is asked after, without those that name the subject or the relation. */
  readonly topic: readonly string[];
}

const SELF_WORDS: ReadonlySet<string> = new Set(["i", "my", "me", "mine", "myself", "we", "our", "us"]);
const NO_HINTS: QueryHints = { subjects: new Map(), relations: new Set(), topic: [] };

/** `name`, `work at`: the terms that a relation is recognised by, worked out once for each. */
const MAX_RELATIONS = 5000;
const getRelationTerms = memoizeByWord(MAX_RELATIONS, (relation): readonly string[] =>
  extractTerms(relation),
);

export function findQueryHints(block: SearchIndex, query: string): QueryHints {
  const said = splitWords(query);
  const subjects = findSubjects(block, said);
  if (subjects.size === 0) return NO_HINTS;
  const terms = new Set(extractTerms(query));
  const { relations, spent } = findRelations(block, said, terms);
  const topic = [...terms].filter((term) => !spent.has(term));
  return { subjects, relations, topic };
}

/** Somebody named or owned ("my sister") is asked after before the user; what is theirs counts half. */
function findSubjects(
  { subjects, names }: SearchIndex,
  said: readonly string[],
): ReadonlyMap<number, number> {
  const asked = new Set(said);
  const found = new Map<number, number>();
  const own = new Map<number, number>();
  const isSelf = said.some((word) => SELF_WORDS.has(word));
  for (const subject of subjects) {
    const name = names.all[subject] ?? "";
    const about = matchSubject(name, asked);
    if (about > 0) found.set(subject, about);
    if (isSelf && /^user(?:\/|$)/.test(name)) own.set(subject, name === "user" ? 1 : 0.5);
  }
  return found.size > 0 ? found : own;
}

/** How far a subject other than the user is asked after: "user/sister" by "my sister", "Caroline/cat" by either. */
function matchSubject(subject: string, asked: ReadonlySet<string>): number {
  const [first = "", ...owned] = subject.split("/");
  const isOwned = owned.length > 0 && owned.every((part) => asked.has(part) || asked.has(`${part}s`));
  if (first === "user") return isOwned ? 1 : 0;
  if (!first.split(" ").some((word) => asked.has(word))) return 0;
  return owned.length === 0 || isOwned ? 1 : 0.5;
}

function findRelations(
  { relations, names }: SearchIndex,
  said: readonly string[],
  terms: ReadonlySet<string>,
): { relations: ReadonlySet<number>; spent: ReadonlySet<string> } {
  const spent = new Set<string>();
  const named = new Set<string>();
  for (const word of said) {
    const answers = listAttributeRelations(word);
    for (const relation of answers) named.add(relation);
    if (answers.length > 0) spent.add(stem(word));
  }
  const direct = [...relations.keys()].filter((number) => {
    const needed = getRelationTerms(names.all[number] ?? "");
    if (needed.length === 0 || !needed.every((term) => terms.has(term))) return false;
    for (const term of needed) spent.add(term);
    for (const relation of listAnsweringRelations(names.all[number] ?? "")) named.add(relation);
    return true;
  });
  const found = new Set(direct);
  for (const relation of named) {
    const number = names.find(relation);
    if (number !== undefined) found.add(number);
  }
  return { relations: found, spent };
}
