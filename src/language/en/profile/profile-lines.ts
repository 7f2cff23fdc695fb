import { isAboutLater } from "../../../domain/memories/current-memories.ts";
import { type ProfileSection, weightOf } from "../../../domain/memories/profile.ts";
import type { Memory } from "../../../domain/memory.ts";
import { memoizeByWord } from "../../../domain/search/search-terms.ts";
import { forEachInSlices, runAtOnce, runInSlices } from "../../../domain/time-slicing.ts";
import type { DraftLine, ProfileWriter } from "../../../ports/language/profile-writer.ts";
import { topicsOf } from "../topics.ts";
import { capitalize, joinList } from "../word-forms.ts";

/** Writes the lines of a profile in English. */
export const englishProfileWriter: ProfileWriter = {
  titleOf: (section) => SECTION_TITLES[section],
  buildLines,
};

/**
 * Formats memories as lines: statements with one verb share a line, and so do statements about one person or
 * thing.
 */
async function buildLines(memories: readonly Memory[], today: string): Promise<DraftLine[]> {
  const names = await findNames(memories);
  const called = new Set([...names].flatMap(([path, name]) => (path.startsWith("user/") ? [name] : [])));
  const groups = new Map<string, { section: ProfileSection; subject: string; memories: Memory[] }>();
  await forEachInSlices(memories, (memory) => {
    const section = sectionOf(memory, today);
    if (section === undefined || isRepeated(memory, called)) return;
    const { subject = "user", relation = memory.id } = memory.claim ?? {};
    const isOwn = subject === "user" || section === "plans" || section === "instructions";
    const isSelf = subject === "user" && SELF_RELATIONS.test(relation);
    const key = JSON.stringify([section, subject, isOwn && !isSelf ? slotOf(memory, relation) : ""]);
    const group = groups.get(key) ?? { section, subject, memories: [] };
    group.memories.push(memory);
    groups.set(key, group);
  });
  const predicates = new Map<Memory, string>();
  const plain = new Map<Memory, string>();
  await forEachInSlices(memories, (memory) => {
    const predicate = formatPredicate(memory, names);
    predicates.set(memory, predicate);
    plain.set(memory, toBareText(predicate));
  });
  const telling: LineContext = { names, said: predicates, plain };
  return runInSlices(draftLines(groups.values(), telling));
}

interface LineGroup {
  readonly section: ProfileSection;
  readonly subject: string;
  readonly memories: readonly Memory[];
}

function* draftLines(groups: Iterable<LineGroup>, telling: LineContext): Generator<void, DraftLine[], void> {
  const lines: DraftLine[] = [];
  for (const { section, subject, memories } of groups) {
    const text = yield* formatSection(section, subject, memories, telling);
    if (text === "") continue;
    let weight = 0;
    for (const memory of memories) {
      weight = Math.max(weight, weightOf(memory));
      yield;
    }
    const withOnly = (some: readonly Memory[]): string =>
      runAtOnce(formatSection(section, subject, some, telling));
    lines.push({ section, text, memories, weight, withOnly });
  }
  return lines;
}

/** The text of a line, step by step: a line may merge all memories of a user. */
type LineText = Generator<void, string, void>;

function* formatSection(
  section: ProfileSection,
  subject: string,
  held: readonly Memory[],
  telling: LineContext,
): LineText {
  if (section === "instructions") return yield* joinSentences(held, formatInstruction);
  if (section === "plans")
    return yield* joinSentences(held, ({ text }) => text.replace(/^The user(?:'s)? /, ""));
  if (held.every(({ claim }) => claim?.subject === "user" && SELF_RELATIONS.test(claim.relation)))
    return yield* formatSelfLine(held, telling);
  return yield* subject === "user" ? formatOwnLine(held, telling) : formatSubjectLine(subject, held, telling);
}

/** The distinct texts of memories, in their order. */
function* collectTexts(
  memories: readonly Memory[],
  textOf: (memory: Memory) => string | undefined,
): Generator<void, string[], void> {
  const texts = new Set<string>();
  for (const memory of memories) {
    const text = textOf(memory);
    if (text !== undefined) texts.add(text);
    yield;
  }
  return [...texts];
}

/** "Wants the assistant never to suggest recipes" -> "Never suggest recipes". */
function formatInstruction({ text, claim }: Memory): string {
  if (claim?.relation === "wish to be called") return `Call them ${claim.value}`;
  return text
    .replace(
      /^The user wants the assistant (?:to (?=always|never))?(?:(always|never|not) )?to /,
      (_all, how?: string) => (how === "not" ? "Do not " : how === undefined ? "" : `${how} `),
    )
    .replace(/^The user /, "");
}

/**
 * "Ottilie Brandt; was born on 14 June 1987." An age becomes outdated, so it is shown only if the birth date
 * is unknown.
 */
function* formatSelfLine(memories: readonly Memory[], { names, plain }: LineContext): LineText {
  const isBorn = memories.some(({ claim }) => claim?.relation === "be born on");
  const name = names.get("user");
  const statements = yield* collectTexts(memories, (memory) => {
    const relation = memory.claim?.relation;
    if (relation === "be called" || (isBorn && relation === "be aged")) return undefined;
    return plain.get(memory) ?? "";
  });
  return toSentence([...(name === undefined ? [] : [name]), ...statements].join("; "));
}

function slotOf({ id, claim, kind }: Memory, relation: string): string {
  return kind === "event" || kind === "commitment" || kind === "instruction"
    ? id
    : JSON.stringify([relation, claim?.qualifier ?? ""]);
}

/** Path -> name of the person or thing. */
type NamesByPath = ReadonlyMap<string, string>;

/** Input of all lines: names, and what each memory says about its subject. */
interface LineContext {
  readonly names: NamesByPath;
  readonly said: ReadonlyMap<Memory, string>;
  /** The same without final punctuation. */
  readonly plain: ReadonlyMap<Memory, string>;
}

async function findNames(memories: readonly Memory[]): Promise<NamesByPath> {
  const names = new Map<string, string>();
  await forEachInSlices(memories, ({ claim }) => {
    if (claim?.relation === "be called") names.set(claim.subject, claim.value);
  });
  return names;
}

/**
 * "has a dog called Knoop", if another line describes the dog; and a name alone, which is at the head of its
 * line.
 */
function isRepeated({ claim }: Memory, called: ReadonlySet<string>): boolean {
  if (claim?.subject !== "user" || !/^(?:have|own|be married to)$/.test(claim.relation)) return false;
  return claim.value.split(/\W+/).some((word) => called.has(word));
}

/** "Speaks Dutch, German and French." */
function* formatOwnLine(memories: readonly Memory[], { said: saidOf }: LineContext): LineText {
  const [first] = memories;
  if (!first) return "";
  const predicate = saidOf.get(first) ?? "";
  const values = yield* collectTexts(memories, ({ claim }) => toTheirs(claim?.value ?? ""));
  const [value = ""] = values;
  if (values.length < 2 || value === "" || !predicate.includes(value)) {
    return yield* joinSentences(memories, (memory) => saidOf.get(memory) ?? "");
  }
  return toSentence(predicate.replace(value, joinList(values)));
}

function toTheirs(value: string): string {
  return value.replace(/\b(?:my|our)\b/gi, "their");
}

/** "Daughter Femke: is 9 years old; has a peanut allergy." */
function* formatSubjectLine(
  subject: string,
  memories: readonly Memory[],
  { names, plain }: LineContext,
): LineText {
  const label = formatLabel(subject, names);
  const statements = yield* collectTexts(memories, (memory) =>
    memory.claim?.relation === "be called" ? undefined : (plain.get(memory) ?? ""),
  );
  const name = names.get(subject);
  if (statements.length === 0)
    return name === undefined ? "" : `${toBareText(label.replace(name, ""))}: ${name}.`;
  return `${label}: ${statements.join("; ")}.`;
}

/** "user/daughter" -> "Daughter Femke", "user/sister/cat" -> "Sister Hanne's cat". */
function formatLabel(subject: string, names: NamesByPath): string {
  const [root = "", ...parts] = subject.split("/");
  let path = root;
  const labels = parts.map((part, i) => {
    path = `${path}/${part}`;
    const name = names.get(path);
    const whole = name === undefined || part.includes(name) ? part : `${part} ${name}`;
    return i < parts.length - 1 ? `${whole}'s` : whole;
  });
  const own = root === "user" ? labels : [parts.length > 0 ? `${root}'s` : root, ...labels];
  return capitalize(own.join(" "));
}

/** The statement without its subject: "lives in Trier", "a Gazelle". */
function formatPredicate({ text, claim }: Memory, names: NamesByPath): string {
  const plain = text.replace(/\.$/, "");
  if (!claim) return plain.replace(/^The user /, "");
  const { subject } = claim;
  if (subject === "user") return plain.replace(/^The user(?:'s (?=\S+ (?:is|are)\b))? ?/, "");
  const [root = "", ...parts] = subject.split("/");
  let path = root;
  const owned = parts.map((part) => {
    path = `${path}/${part}`;
    const name = names.get(path);
    return `'s ${escapeText(part)}(?: ${escapeText(name ?? part)})?`;
  });
  const statement = plain.replace(
    new RegExp(`^${root === "user" ? "The user" : escapeText(root)}${owned.join("")} `, "u"),
    "",
  );
  // A noun phrase needs no verb.
  return statement === plain ? statement : statement.replace(/^(?:is|are) (?=an? |the |\d|\p{Lu})/u, "");
}

function toBareText(text: string): string {
  return text.replace(/[.\s]+$/, "");
}

function* joinSentences(memories: readonly Memory[], textOf: (memory: Memory) => string): LineText {
  return (yield* collectTexts(memories, (memory) => toSentence(textOf(memory)))).join(" ");
}

function toSentence(text: string): string {
  return `${capitalize(toBareText(text))}.`;
}

function escapeText(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

const SECTION_TITLES: { readonly [name in ProfileSection]: string } = {
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

/** Name and age: the first line. */
const SELF_RELATIONS: RegExp = /^(?:be called|be nicknamed|be aged|be born (?:in|on))$/;
const PERSON_RELATIONS =
  /^(?:be called|be nicknamed|be aged|be born (?:in|on)|be from|grow up in|speak|be learning|identify as|be known as)$/;
/** Past events that still describe a person. */
const BACKGROUND_RELATIONS =
  /^(?:be born (?:in|on)|grow up in|graduate from|study(?: at)?|major in|qualify as|train as)$/;
const WORK_RELATIONS =
  /^(?:work|teach|report to|freelance|consult|manage|lecture|study|graduate|major|earn a)\b/;
const HABIT_RELATIONS =
  /^(?:use|read|watch|listen|play|run|ride|drive|cycle|walk|swim|sing|go to|train|cook|bake|drink|take|eat|not eat|not drink|take up|collect|commute|subscribe|be subscribed|travel|dance|draw|paint|write|volunteer|belong|be a member|wake|get up|sleep|smoke|not smoke|wear|keep|learn|practise|attend|meditate|knit|garden|fish|climb|hike)\b/;
const HOME_RELATIONS = /^(?:live|rent|share a|move to|own a (?:house|flat))\b/;

/** The section of a memory; undefined if it is about the past or says nothing by itself. */
function sectionOf(memory: Memory, today: string): ProfileSection | undefined {
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

/** For the user's own statements: the first row that matches the verb or else the topic. */
const OWN_SECTIONS: readonly (readonly [ProfileSection, RegExp | undefined, string?])[] = [
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

function sectionOfUser(memory: Memory): ProfileSection {
  const relation = (memory.claim?.relation ?? "").replace(/^used to /, "");
  if (memory.kind === "preference") return "likes";
  const row = OWN_SECTIONS.find(
    ([, verb, topic]) =>
      (verb?.test(relation) ?? true) && (topic === undefined || isAboutTopic(topic, memory)),
  );
  return row?.[0] ?? "other";
}

/** Belongs to the user: a person, an animal, or a thing. */
function sectionOfThing(memory: Memory): ProfileSection {
  const { subject = "", relation = "" } = memory.claim ?? {};
  const noun = subject.split("/").at(-1)?.toLowerCase() ?? "";
  if (
    ["family", "relationships", "pets"].some((topic) => topicsOfNoun(noun).has(topic)) ||
    PERSON_WORDS.test(noun)
  )
    return "people";
  if (/^(?:favou?rite|usual|go-to)\b/.test(noun)) return "likes";
  if (/\b(?:boss|colleague|manager|office|job|company|employer|team)\b/.test(noun)) return "work";
  if (topicsOfNoun(noun).has("home")) return "home";
  if (relation === "be called" || /^(?:live|work|be aged|be born|teach|study)/.test(relation))
    return "people";
  return "habits";
}

const PERSON_WORDS =
  /\b(?:friend|neighbou?r|flatmate|teacher|coach|tutor|doctor|dentist|mate|husband|wife|partner|fianc\S*|godson|goddaughter|puppy|kitten|dog|cat|horse|bird|parrot|rabbit|hamster|tortoise|fish|landlord|landlady|therapist|trainer)\b/;

/** About a named person: in talk between people, or mentioned by name. */
function isOfOther({ claim }: Memory): boolean {
  return claim !== undefined && claim.subject !== "user" && !claim.subject.startsWith("user/");
}

/**
 * Cached classification of memories. A version of a memory never changes, and each profile reads all of them.
 * Only stored memories are keys: a map of many thousand keys that come and go takes long to grow.
 */
const CLASSIFIED = new WeakMap<Memory, ReadonlySet<string>>();

function isAboutTopic(topic: string, memory: Memory): boolean {
  let topics = CLASSIFIED.get(memory);
  if (!topics) {
    topics = topicsOf(memory);
    CLASSIFIED.set(memory, topics);
  }
  return topics.has(topic);
}

const NOUNS_CACHED = 2_000;
const topicsOfNoun = memoizeByWord(NOUNS_CACHED, (noun) => topicsOf({ text: noun }));

/** A recurring day of the year: a birthday, a name day. */
function isRecurringDate({ claim }: Memory): boolean {
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

/** A day, month or year in the past. */
function isBefore(when: string, today: string): boolean {
  return when.slice(0, 10) < today.slice(0, Math.min(10, when.length));
}

function isPlan(memory: Memory, today: string): boolean {
  const { kind, claim, when } = memory;
  if (kind === "commitment" || isAboutLater(memory, today)) return true;
  if (
    when === undefined ||
    isBefore(when, today) ||
    BACKGROUND_RELATIONS.test((claim?.relation ?? "").replace(/^used to /, ""))
  )
    return false;
  return kind === "event" || memory.validTo === undefined;
}
