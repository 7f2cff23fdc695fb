import { HOME_RELATIONS } from "./relations/home.ts";
import { PEOPLE_RELATIONS } from "./relations/people.ts";
import { PERSON_RELATIONS } from "./relations/person.ts";
import { PLANS_RELATIONS } from "./relations/plans.ts";
import { PRIVATE_RELATIONS } from "./relations/private.ts";
import type { RelationArea, RelationRow } from "./relations/row.ts";
import { THING_KINDS, THING_SYNONYMS } from "./relations/same-things.ts";
import { TASTES_RELATIONS } from "./relations/tastes.ts";
import { THINGS_RELATIONS } from "./relations/things.ts";
import { WORK_RELATIONS } from "./relations/work.ts";

/** What is known about a relation: the verb phrase of a claim, in its base form. */
export type RelationInfo = Pick<RelationRow, "relation" | "holds" | "kind" | "sensitive">;

/**
 * The table of relations, by area, a file each. To add one, add a row to the area that fits. A relation that has no row
 * holds many values and is a fact. `be` is special: whether it holds one value depends on what is said (see
 * `attributeHoldsOne`).
 */
export const RELATION_AREAS: readonly RelationArea[] = [
  PERSON_RELATIONS,
  HOME_RELATIONS,
  WORK_RELATIONS,
  PEOPLE_RELATIONS,
  THINGS_RELATIONS,
  TASTES_RELATIONS,
  PLANS_RELATIONS,
  PRIVATE_RELATIONS,
];

const ROWS: readonly RelationRow[] = RELATION_AREAS.flatMap(({ relations }) => relations);

/** The table by relation. */
export const RELATIONS: ReadonlyMap<string, RelationRow> = new Map(ROWS.map((row) => [row.relation, row]));

/** What is known about a relation; a plain fact of many values where nothing is. */
export function getRelation(relation: string): RelationInfo {
  return RELATIONS.get(relation) ?? { relation, holds: "many", kind: "fact" };
}

const STORED_AS: ReadonlyMap<string, string> = new Map(
  ROWS.flatMap(({ relation, also = [] }) => also.map((other) => [other, relation] as const)),
);

/** The name under which a relation is stored. */
export function toCanonicalRelation(relation: string): string {
  return STORED_AS.get(relation) ?? relation;
}

/** The relations that answer a question with this one, itself first. */
export function listAnsweringRelations(relation: string): string[] {
  const stored = toCanonicalRelation(relation);
  return [stored, ...(RELATIONS.get(stored)?.answeredBy ?? [])];
}

const NOUNS: ReadonlyMap<string, readonly string[]> = new Map(
  RELATION_AREAS.flatMap(({ nouns }) => Object.entries(nouns)),
);

/** Relations that answer a question for an attribute of somebody ("job"); none where the noun is no known attribute. */
export function listAttributeRelations(noun: string): readonly string[] {
  return NOUNS.get(noun) ?? [];
}

/** What is one at a time of a person or a thing: `user/salary` `be` one value. */
const ONE_VALUE =
  /^(?:.*\b(?:number|name|password|email|e-mail|address|birthday|anniversary|salary|rent|wage|income|age|height|weight|size|budget|deadline|appointment|flight|party|wedding|interview|exam|test|meeting|date|type|code|username|handle|postcode|zip|plate|due date|shift|schedule|gym|dentist|doctor|gp|landlord|landlady|therapist|boss|manager|trainer|coach|teacher|tutor|job title|title|role|gate|terminal|seat|score|limit|goal|target|pin|broker|bank|provider|plan|mortgage|pension|insurance|locker|desk|room|floor|mechanic|accountant|lawyer|vet|hairdresser|barber|employer|company|school|university|hometown|nickname|timezone|capacity|price|fee|course|dose|dosage|blood type|prescription)s?|(?:\w+ )*(?:favou?rite|fave|usual|preferred|go-to) .*)$/;

/** Whether `be` of this thing ("salary", "favourite book", "phone number") holds one value at a time. */
export function isSingleValued(thing: string): boolean {
  return ONE_VALUE.test(thing.toLowerCase());
}

const SAME_THING_AS = new Map<string, string>();
for (const [first = "", ...others] of THING_SYNONYMS) {
  if (!SAME_THING_AS.has(first)) SAME_THING_AS.set(first, first);
  for (const other of others) if (!SAME_THING_AS.has(other)) SAME_THING_AS.set(other, first);
}

/** One name for things of several: `canonicalThing("mum")` and `("mother")` are equal. Lower case. */
export function toCanonicalThing(thing: string): string {
  let lower = thing.toLowerCase().trim();
  // Most things have nothing to do with either, and this is asked of every word.
  if (lower.includes("fav")) lower = lower.replace(/\bfavorite\b|\bfave\b/g, "favourite");
  if (lower.includes("col")) lower = lower.replace(/\bcolou?rs?\b/g, "color");
  return SAME_THING_AS.get(lower) ?? lower;
}

/** Whether a thing is of the kind that is asked for: `isKindOf("tortoise", "pet")`. Everything is of its own kind. */
export function isKindOf(thing: string, kind: string): boolean {
  const one = toCanonicalThing(thing);
  const other = toCanonicalThing(kind);
  if (one === other) return true;
  return Object.hasOwn(THING_KINDS, other) && (THING_KINDS[other] ?? []).includes(one);
}
