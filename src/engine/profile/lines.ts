import { capitalize, joinList } from "../../domain/english.ts";
import type { Memory } from "../../domain/memory.ts";
import { flatMapInSlices, forEachInSlices } from "../in-slices.ts";
import { SELF_RELATIONS, type SectionName, sectionOf } from "./sections.ts";

/** One line of a profile: a sentence or a few, and the memories it was merged from. */
export interface DraftLine {
  readonly section: SectionName;
  readonly text: string;
  readonly memories: readonly Memory[];
  readonly weight: number;
  /** The same line of some of its memories. */
  withOnly(some: readonly Memory[]): string;
}

/** How much it matters and how well it is known: importance, confidence, and how often it was said. */
export function weightOf({ importance, confidence, evidence }: Memory): number {
  return importance * confidence * (1 + Math.log2(evidence) / 4);
}

/** The memories as lines: what is said with one verb is one line, and so is all that is said of one person or thing. */
export async function buildLines(memories: readonly Memory[], today: string): Promise<DraftLine[]> {
  const names = findNames(memories);
  const called = new Set([...names].flatMap(([path, name]) => (path.startsWith("user/") ? [name] : [])));
  const groups = new Map<string, { section: SectionName; subject: string; memories: Memory[] }>();
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
  const said = new Map<Memory, string>();
  const plain = new Map<Memory, string>();
  await forEachInSlices(memories, (memory) => {
    const told = formatPredicate(memory, names);
    said.set(memory, told);
    plain.set(memory, toBareText(told));
  });
  const telling: LineContext = { names, said, plain };
  return flatMapInSlices(groups.values(), ({ section, subject, memories: held }) => {
    const text = formatSection(section, subject, held, telling);
    return text === ""
      ? []
      : [
          {
            section,
            text,
            memories: held,
            weight: held.reduce((most, memory) => Math.max(most, weightOf(memory)), 0),
            withOnly: (some) => formatSection(section, subject, some, telling),
          },
        ];
  });
}

function formatSection(
  section: SectionName,
  subject: string,
  held: readonly Memory[],
  telling: LineContext,
): string {
  if (section === "instructions") return joinSentences(held.map(formatInstruction));
  if (section === "plans")
    return joinSentences(held.map(({ text }) => text.replace(/^The user(?:'s)? /, "")));
  if (held.every(({ claim }) => claim?.subject === "user" && SELF_RELATIONS.test(claim.relation)))
    return formatSelfLine(held, telling);
  return subject === "user" ? formatOwnLine(held, telling) : formatSubjectLine(subject, held, telling);
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

/** "Ottilie Brandt; was born on 14 June 1987." An age grows old: it is told where the birth is not known. */
function formatSelfLine(held: readonly Memory[], { names, plain }: LineContext): string {
  const isBorn = held.some(({ claim }) => claim?.relation === "be born on");
  const name = names.get("user");
  const told = held.filter(
    ({ claim }) => claim?.relation !== "be called" && !(isBorn && claim?.relation === "be aged"),
  );
  const said = [...new Set(told.map((memory) => plain.get(memory) ?? ""))];
  return joinSentences([[...(name === undefined ? [] : [name]), ...said].join("; ")]);
}

function slotOf({ id, claim, kind }: Memory, relation: string): string {
  return kind === "event" || kind === "commitment" || kind === "instruction"
    ? id
    : JSON.stringify([relation, claim?.qualifier ?? ""]);
}

/** Path -> what the one is called. */
type NamesByPath = ReadonlyMap<string, string>;

/** What lines are put together from: names, and what each memory says of its subject. */
interface LineContext {
  readonly names: NamesByPath;
  readonly said: ReadonlyMap<Memory, string>;
  /** The same without what ends a sentence. */
  readonly plain: ReadonlyMap<Memory, string>;
}

function findNames(memories: readonly Memory[]): NamesByPath {
  const names = new Map<string, string>();
  for (const { claim } of memories) {
    if (claim?.relation === "be called") names.set(claim.subject, claim.value);
  }
  return names;
}

/** "has a dog called Knoop", where a line tells of the dog; and a name alone, which stands at the head of its line. */
function isRepeated({ claim }: Memory, called: ReadonlySet<string>): boolean {
  if (claim?.subject !== "user" || !/^(?:have|own|be married to)$/.test(claim.relation)) return false;
  return claim.value.split(/\W+/).some((word) => called.has(word));
}

/** "Speaks Dutch, German and French." */
function formatOwnLine(memories: readonly Memory[], { said: saidOf }: LineContext): string {
  const [first] = memories;
  if (!first) return "";
  const said = saidOf.get(first) ?? "";
  const values = [...new Set(memories.map(({ claim }) => toTheirs(claim?.value ?? "")))];
  const [value = ""] = values;
  if (values.length < 2 || value === "" || !said.includes(value)) {
    return joinSentences(memories.map((memory) => saidOf.get(memory) ?? ""));
  }
  return joinSentences([said.replace(value, joinList(values))]);
}

function toTheirs(value: string): string {
  return value.replace(/\b(?:my|our)\b/gi, "their");
}

/** "Daughter Femke: is 9 years old; has a peanut allergy." */
function formatSubjectLine(
  subject: string,
  memories: readonly Memory[],
  { names, plain }: LineContext,
): string {
  const told = memories.filter(({ claim }) => claim?.relation !== "be called");
  const label = formatLabel(subject, names);
  const said = [...new Set(told.map((memory) => plain.get(memory) ?? ""))];
  const name = names.get(subject);
  if (said.length === 0) return name === undefined ? "" : `${toBareText(label.replace(name, ""))}: ${name}.`;
  return `${label}: ${said.join("; ")}.`;
}

/** "user/daughter" -> "Daughter Femke", "user/sister/cat" -> "Sister Hanne's cat". */
function formatLabel(subject: string, names: NamesByPath): string {
  const [root = "", ...parts] = subject.split("/");
  let path = root;
  const said = parts.map((part, i) => {
    path = `${path}/${part}`;
    const name = names.get(path);
    const whole = name === undefined || part.includes(name) ? part : `${part} ${name}`;
    return i < parts.length - 1 ? `${whole}'s` : whole;
  });
  const own = root === "user" ? said : [parts.length > 0 ? `${root}'s` : root, ...said];
  return capitalize(own.join(" "));
}

/** What is said of the subject, without naming it again: "lives in Trier", "a Gazelle". */
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
  const said = plain.replace(
    new RegExp(`^${root === "user" ? "The user" : escapeText(root)}${owned.join("")} `, "u"),
    "",
  );
  // What a thing is needs no verb.
  return said === plain ? said : said.replace(/^(?:is|are) (?=an? |the |\d|\p{Lu})/u, "");
}

function toBareText(text: string): string {
  return text.replace(/[.\s]+$/, "");
}

function joinSentences(said: readonly string[]): string {
  return [...new Set(said.map((one) => `${capitalize(toBareText(one))}.`))].join(" ");
}

function escapeText(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
