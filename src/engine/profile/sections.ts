import type { Memory } from "../../domain/memory.ts";
import { isOfTopic, TOPICS } from "../../domain/topics.ts";
import { isAhead } from "../answer/held.ts";

/** The parts of a profile, in the order in which they are read. */
export const SECTIONS = [
  "person",
  "people",
  "home",
  "work",
  "likes",
  "habits",
  "health",
  "private",
  "plans",
  "instructions",
  "other",
] as const;
export type SectionName = (typeof SECTIONS)[number];

export const SECTION_TITLES: { readonly [name in SectionName]: string } = {
  person: "Who they are",
  people: "People and animals",
  home: "Home",
  work: "Work and study",
  likes: "Likes and dislikes",
  habits: "Habits, hobbies and tools",
  health: "Health (sensitive)",
  private: "Private (sensitive)",
  plans: "Plans and dates",
  instructions: "How to answer",
  other: "Also known",
};

/** By which one goes, and how old one is: the first line. */
export const SELF_RELATIONS: RegExp = /^(?:be called|be nicknamed|be aged|be born (?:in|on))$/;
const PERSON_RELATIONS =
  /^(?:be called|be nicknamed|be aged|be born (?:in|on)|be from|grow up in|speak|be learning|identify as|be known as)$/;
/** What happened, and still says who somebody is. */
const BACKGROUND_RELATIONS =
  /^(?:be born (?:in|on)|grow up in|graduate from|study(?: at)?|major in|qualify as|train as)$/;
const WORK_RELATIONS =
  /^(?:work|teach|report to|freelance|consult|manage|lecture|study|graduate|major|earn a)\b/;
const HABIT_RELATIONS =
  /^(?:use|read|watch|listen|play|run|ride|drive|cycle|walk|swim|sing|go to|train|cook|bake|drink|take|eat|not eat|not drink|take up|collect|commute|subscribe|be subscribed|travel|dance|draw|paint|write|volunteer|belong|be a member|wake|get up|sleep|smoke|not smoke|wear|keep|learn|practise|attend|meditate|knit|garden|fish|climb|hike)\b/;
const HOME_RELATIONS = /^(?:live|rent|share a|move to|own a (?:house|flat))\b/;

/** In which section a memory stands; none where it tells of what is over, or says nothing of itself. */
export function sectionOf(memory: Memory, today: string): SectionName | undefined {
  const { kind, claim } = memory;
  if (claim && SELF_RELATIONS.test(claim.relation) && claim.subject === "user") return "person";
  if (kind === "instruction" || claim?.relation === "wish to be called") return "instructions";
  if (isRecurringDate(memory)) return "plans";
  if (isPast(memory, today)) return undefined;
  if (isPlan(memory, today)) return "plans";
  if (memory.sensitive)
    return isAboutTopic("health", memory) || /\bblood\b/.test(memory.text) ? "health" : "private";
  if (isAboutTopic("health", memory)) return "health";
  if (isOfOther(memory)) return "people";
  if (claim?.subject.includes("/")) return sectionOfThing(memory);
  return sectionOfUser(memory);
}

/** Of the user's own: the first row whose verb, or else topic, it is of. */
const OWN_SECTIONS: readonly (readonly [SectionName, RegExp | undefined, string?])[] = [
  ["people", /^(?:have|own|keep)$/, "pets"],
  ["people", /^(?:have|own|keep)$/, "family"],
  ["person", PERSON_RELATIONS],
  ["home", HOME_RELATIONS],
  ["work", WORK_RELATIONS],
  ["likes", /^(?:like|love|hate|prefer|enjoy|dislike|avoid)\b/],
  ["work", /^be$/, "work"],
  ["person", /^be$/],
  ["habits", HABIT_RELATIONS],
  ["work", undefined, "work"],
  ["work", undefined, "study"],
  ["home", undefined, "home"],
];

function sectionOfUser(memory: Memory): SectionName {
  const relation = (memory.claim?.relation ?? "").replace(/^used to /, "");
  if (memory.kind === "preference") return "likes";
  const row = OWN_SECTIONS.find(
    ([, verb, topic]) =>
      (verb?.test(relation) ?? true) && (topic === undefined || isAboutTopic(topic, memory)),
  );
  return row?.[0] ?? "other";
}

/** What is the user's: somebody, an animal, or a thing. */
function sectionOfThing(memory: Memory): SectionName {
  const { subject = "", relation = "" } = memory.claim ?? {};
  const noun = subject.split("/").at(-1)?.toLowerCase() ?? "";
  const named = { text: noun };
  if (
    ["family", "relationships", "pets"].some((topic) => isAboutTopic(topic, named)) ||
    PERSON_WORDS.test(noun)
  )
    return "people";
  if (/^(?:favou?rite|usual|go-to)\b/.test(noun)) return "likes";
  if (/\b(?:boss|colleague|manager|office|job|company|employer|team)\b/.test(noun)) return "work";
  if (isAboutTopic("home", named)) return "home";
  if (relation === "be called" || /^(?:live|work|be aged|be born|teach|study)/.test(relation))
    return "people";
  return "habits";
}

const PERSON_WORDS =
  /\b(?:friend|neighbou?r|flatmate|teacher|coach|tutor|doctor|dentist|mate|husband|wife|partner|fianc\S*|godson|goddaughter|puppy|kitten|dog|cat|horse|bird|parrot|rabbit|hamster|tortoise|fish|landlord|landlady|therapist|trainer)\b/;

/** Of somebody who goes by a name: where people talk among themselves, or one is told of by name. */
function isOfOther({ claim }: Memory): boolean {
  return claim !== undefined && claim.subject !== "user" && !claim.subject.startsWith("user/");
}

type ClassifiedStatement = Pick<Memory, "text" | "claim"> | { readonly text: string };

/** What was found out of a statement. A version of a memory never changes, and a profile reads all of them each time. */
const CLASSIFIED = new WeakMap<ClassifiedStatement, { [topic: string]: boolean }>();

function isAboutTopic(topic: string, statement: ClassifiedStatement): boolean {
  const known = CLASSIFIED.get(statement) ?? {};
  CLASSIFIED.set(statement, known);
  const found = TOPICS.get(topic);
  known[topic] ??= found !== undefined && isOfTopic(found, statement);
  return known[topic];
}

/** A day of the year that comes again: a birthday, a name day. */
export function isRecurringDate({ claim }: Memory): boolean {
  return claim !== undefined && /\b(?:birthday|anniversary|name day)$/i.test(claim.subject);
}

function isPast(memory: Memory, today: string): boolean {
  const { kind, claim, when, text } = memory;
  const relation = claim?.relation ?? "";
  if (BACKGROUND_RELATIONS.test(relation.replace(/^used to /, ""))) return false;
  if (relation.startsWith("used to ") || /\bno longer\b/.test(text)) return true;
  if (kind !== "event") return kind === "commitment" && when !== undefined && isBefore(when, today);
  return when === undefined ? !/\b(?:is|are) going\b/.test(text) : isBefore(when, today);
}

/** A day, month or year that is over. */
function isBefore(when: string, today: string): boolean {
  return when.slice(0, 10) < today.slice(0, Math.min(10, when.length));
}

function isPlan(memory: Memory, today: string): boolean {
  const { kind, claim, when } = memory;
  if (kind === "commitment" || isAhead(memory, today)) return true;
  if (
    when === undefined ||
    isBefore(when, today) ||
    BACKGROUND_RELATIONS.test((claim?.relation ?? "").replace(/^used to /, ""))
  )
    return false;
  return kind === "event" || memory.validTo === undefined;
}
