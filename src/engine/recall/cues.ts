import { answeringRelations, attributeRelations } from "../../domain/relations.ts";
import { byWord } from "../../domain/word-cache.ts";
import { analyse, stem, words } from "../../domain/words.ts";
import type { Block } from "../block/block.ts";

/** What a query seems to ask after, told from its words alone: in microseconds, where a parser takes half a millisecond. */
export interface Cues {
  /** Numbers of subjects, with how far each is the one asked after: 0 to 1. */
  readonly subjects: ReadonlyMap<number, number>;
  /** Numbers of relations that would answer it. */
  readonly relations: ReadonlySet<number>;
  /** Search terms of what is asked after, without those that name the subject or the relation. */
  readonly topic: readonly string[];
}

const SELF: ReadonlySet<string> = new Set(["i", "my", "me", "mine", "myself", "we", "our", "us"]);
const EMPTY: Cues = { subjects: new Map(), relations: new Set(), topic: [] };

/** `name`, `work at`: the terms that a relation is recognised by, worked out once for each. */
const MOST_RELATIONS = 5000;
const termsOf = byWord(MOST_RELATIONS, (relation): readonly string[] => analyse(relation));

export function cuesOf(block: Block, query: string): Cues {
  const said = words(query);
  const subjects = subjectsIn(block, said);
  if (subjects.size === 0) return EMPTY;
  const terms = new Set(analyse(query));
  const { relations, spent } = relationsIn(block, said, terms);
  const topic = [...terms].filter((term) => !spent.has(term));
  return { subjects, relations, topic };
}

/** Somebody named or owned ("my sister") is asked after before the user; what is theirs counts half. */
function subjectsIn({ subjects, names }: Block, said: readonly string[]): ReadonlyMap<number, number> {
  const asked = new Set(said);
  const found = new Map<number, number>();
  const own = new Map<number, number>();
  const isSelf = said.some((word) => SELF.has(word));
  for (const subject of subjects) {
    const name = names.all[subject] ?? "";
    const about = aboutOf(name, asked);
    if (about > 0) found.set(subject, about);
    if (isSelf && /^user(?:\/|$)/.test(name)) own.set(subject, name === "user" ? 1 : 0.5);
  }
  return found.size > 0 ? found : own;
}

/** How far a subject other than the user is asked after: "user/sister" by "my sister", "Caroline/cat" by either. */
function aboutOf(subject: string, asked: ReadonlySet<string>): number {
  const [first = "", ...owned] = subject.split("/");
  const isOwned = owned.length > 0 && owned.every((part) => asked.has(part) || asked.has(`${part}s`));
  if (first === "user") return isOwned ? 1 : 0;
  if (!first.split(" ").some((word) => asked.has(word))) return 0;
  return owned.length === 0 || isOwned ? 1 : 0.5;
}

function relationsIn(
  { relations, names }: Block,
  said: readonly string[],
  terms: ReadonlySet<string>,
): { relations: ReadonlySet<number>; spent: ReadonlySet<string> } {
  const spent = new Set<string>();
  const named = new Set<string>();
  for (const word of said) {
    const answers = attributeRelations(word);
    for (const relation of answers) named.add(relation);
    if (answers.length > 0) spent.add(stem(word));
  }
  const direct = [...relations.keys()].filter((number) => {
    const needed = termsOf(names.all[number] ?? "");
    if (needed.length === 0 || !needed.every((term) => terms.has(term))) return false;
    for (const term of needed) spent.add(term);
    for (const relation of answeringRelations(names.all[number] ?? "")) named.add(relation);
    return true;
  });
  const found = new Set(direct);
  for (const relation of named) {
    const number = names.find(relation);
    if (number !== undefined) found.add(number);
  }
  return { relations: found, spent };
}
