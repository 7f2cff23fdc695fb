import { extractTerms, memoizeByWord, splitWords, stem } from "../../../domain/search/search-terms.ts";
import type { Vocabulary } from "../../../ports/language/vocabulary.ts";
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

const SELF_WORDS: ReadonlySet<string> = new Set(["i", "my", "me", "mine", "myself", "we", "our", "us"]);
const NO_HINTS: QueryHints = { subjects: new Map(), relations: new Set(), topic: [] };

/** `name`, `work at`: the terms that identify a relation, computed once for each. */
const MAX_RELATIONS = 5000;
const getRelationTerms = memoizeByWord(MAX_RELATIONS, (relation): readonly string[] =>
  extractTerms(relation),
);

export function findQueryHints(searchIndex: SearchIndex, query: string, vocabulary: Vocabulary): QueryHints {
  const words = splitWords(query);
  const subjects = findSubjects(searchIndex, words);
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
): ReadonlyMap<number, number> {
  const wordSet = new Set(said);
  const found = new Map<number, number>();
  const ownSubjects = new Map<number, number>();
  const isSelf = said.some((word) => SELF_WORDS.has(word));
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

/** The form of a query, judged by its words alone, in microseconds. */
export interface QueryStyle {
  /** It asks for the assistant's words: "What did you recommend?" */
  readonly isAfterAssistant: boolean;
  /** It asks for help or advice, for which standing preferences count. */
  readonly isRequest: boolean;
  /** It asks for one value that may have changed: "How many", "Where do I", "When is". */
  readonly isAfterValue: boolean;
  /** That value is a number or a time. */
  readonly isAfterNumber: boolean;
}

const SAID_VERBS =
  "recommend(?:ed)?|suggest(?:ed)?|tell|told|say|said|mention(?:ed)?|give|gave|given|provide[d]?|list(?:ed)?|explain(?:ed)?|describe[d]?|propose[d]?|write|wrote|share[d]?|offer(?:ed)?|advise[d]?";
const ASSISTANT_QUESTION = new RegExp(
  `\\b(?:did|have|had|that|what|which|where|how|as|when|advice|suggestions?|recommendations?) you (?:\\w+ )?(?:${SAID_VERBS})\\b|\\byou (?:just |had |previously |earlier |once |also |have )?(?:recommended|suggested|told|said|mentioned|gave|provided|listed|explained|described|proposed|wrote|shared|advised|offered|given)\\b|\\bremind me (?:what|of|which|how|about)\\b|\\bour (?:previous|last|earlier|past) (?:chat|conversation|discussion)\\b`,
  "i",
);
const ADVICE_REQUEST =
  /^\s*(?:can|could|would|will) you\b|\bhow (?:do|can|should|would|could|might) i\b|\bhow would you\b|\bwhat (?:steps|libraries|tools|kind|sort|type|should|would|are (?:some|the)|do you)\b|\b(?:suggest|recommend|advice|advise|help me|show me|walk me|explain|tips|ideas)\b|\bif i\b|\b(?:how|where|which|who|when|what)\b[^.?!]{0,30}\b(?:should|shall|would|could) (?:i|we)\b/i;
const VALUE_QUESTION =
  /\b(?:how (?:many|much|long|often)|what|when(?:'s| is| are| do| does| will| should)|where|which|who|currently)\b/i;
const LIST_REQUEST = /\b(?:can you|could you|suggest|recommend|list the order|walk me|summar)/i;
const NUMBER_QUESTION =
  /\bhow (?:many|much|often|long)\b|\b(?:percentage|what time|when|amount|ratio|average|quota|target|deadline|count|score)\b/i;

export function findQueryStyle(query: string): QueryStyle {
  const isAfterAssistant = ASSISTANT_QUESTION.test(query);
  return {
    isAfterAssistant,
    isRequest: !isAfterAssistant && ADVICE_REQUEST.test(query),
    isAfterValue: VALUE_QUESTION.test(query) && !LIST_REQUEST.test(query),
    isAfterNumber: NUMBER_QUESTION.test(query),
  };
}
