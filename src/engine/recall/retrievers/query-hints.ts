import { extractTerms, memoizeByWord, splitWords, stem } from "../../../domain/search/search-terms.ts";
import type { PhraseReader, Vocabulary } from "../../../ports/language/vocabulary.ts";
import type { SearchIndex } from "../../search-index/search-index.ts";

/**
 * What a query asks for, judged by its words alone: microseconds, where a parser takes half a millisecond.
 */
export interface QueryHints {
  /** Numbers of subjects, each with its match to the query's subject: 0 to 1. */
  readonly subjects: ReadonlyMap<number, number>;
  /** Numbers of relations that would answer the query. */
  readonly relations: ReadonlySet<number>;
  /** Search terms of the topic, without those that name the subject or the relation. */
  readonly topic: readonly string[];
}

const NO_HINTS: QueryHints = { subjects: new Map(), relations: new Set(), topic: [] };

/** `name`, `work at`: the terms that identify a relation, computed once for each. */
const MAX_RELATIONS = 5000;
const getRelationTerms = memoizeByWord(MAX_RELATIONS, (relation): readonly string[] =>
  extractTerms(relation),
);

export function findQueryHints(searchIndex: SearchIndex, query: string, vocabulary: Vocabulary): QueryHints {
  const words = splitWords(query);
  const subjects = findSubjects(searchIndex, words, vocabulary.phrases);
  if (subjects.size === 0) return NO_HINTS;
  const terms = new Set(extractTerms(query));
  const { relations, spent } = findRelations(searchIndex, words, terms, vocabulary);
  const topic = [...terms].filter((term) => !spent.has(term));
  return { subjects, relations, topic };
}

/** A named or related person ("my sister") takes priority over the user; what belongs to them counts half. */
function findSubjects(
  { subjects, names }: SearchIndex,
  said: readonly string[],
  phrases: PhraseReader,
): ReadonlyMap<number, number> {
  const wordSet = new Set(said);
  const found = new Map<number, number>();
  const ownSubjects = new Map<number, number>();
  const isSelf = said.some((word) => phrases.isSelfWord(word));
  for (const subject of subjects) {
    const name = names.all[subject] ?? "";
    const about = matchSubject(name, wordSet);
    if (about > 0) found.set(subject, about);
    if (isSelf && /^user(?:\/|$)/.test(name)) ownSubjects.set(subject, name === "user" ? 1 : 0.5);
  }
  return found.size > 0 ? found : ownSubjects;
}

/**
 * How well a subject other than the user matches: "user/sister" by "my sister", "Caroline/cat" by either
 * word.
 */
function matchSubject(subject: string, queryWords: ReadonlySet<string>): number {
  const [first = "", ...owned] = subject.split("/");
  const isOwned =
    owned.length > 0 && owned.every((part) => queryWords.has(part) || queryWords.has(`${part}s`));
  if (first === "user") return isOwned ? 1 : 0;
  if (!first.split(" ").some((word) => queryWords.has(word))) return 0;
  return owned.length === 0 || isOwned ? 1 : 0.5;
}

function findRelations(
  { relations, names }: SearchIndex,
  said: readonly string[],
  terms: ReadonlySet<string>,
  vocabulary: Vocabulary,
): { relations: ReadonlySet<number>; spent: ReadonlySet<string> } {
  const spent = new Set<string>();
  const named = new Set<string>();
  for (const word of said) {
    const answers = vocabulary.listAttributeRelations(word);
    for (const relation of answers) named.add(relation);
    if (answers.length > 0) spent.add(stem(word));
  }
  const direct = [...relations.keys()].filter((number) => {
    const needed = getRelationTerms(names.all[number] ?? "");
    if (needed.length === 0 || !needed.every((term) => terms.has(term))) return false;
    for (const term of needed) spent.add(term);
    for (const relation of vocabulary.listAnsweringRelations(names.all[number] ?? "")) named.add(relation);
    return true;
  });
  const found = new Set(direct);
  for (const relation of named) {
    const number = names.find(relation);
    if (number !== undefined) found.add(number);
  }
  return { relations: found, spent };
}
