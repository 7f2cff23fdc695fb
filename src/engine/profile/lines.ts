import { capital, joinList } from "../../domain/english.ts";
import type { Memory } from "../../domain/memory.ts";
import { eachInSlices, flatMapInSlices } from "../in-slices.ts";
import { SELF, type SectionName, sectionOf } from "./sections.ts";

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
export async function linesOf(memories: readonly Memory[], today: string): Promise<DraftLine[]> {
  const names = namesOf(memories);
  const called = new Set([...names].flatMap(([path, name]) => (path.startsWith("user/") ? [name] : [])));
  const groups = new Map<string, { section: SectionName; subject: string; memories: Memory[] }>();
  await eachInSlices(memories, (memory) => {
    const section = sectionOf(memory, today);
    if (section === undefined || isRepeated(memory, called)) return;
    const { subject = "user", relation = memory.id } = memory.claim ?? {};
    const isOwn = subject === "user" || section === "plans" || section === "instructions";
    const isSelf = subject === "user" && SELF.test(relation);
    const key = JSON.stringify([section, subject, isOwn && !isSelf ? slotOf(memory, relation) : ""]);
    const group = groups.get(key) ?? { section, subject, memories: [] };
    group.memories.push(memory);
    groups.set(key, group);
  });
  const said = new Map<Memory, string>();
  const plain = new Map<Memory, string>();
  await eachInSlices(memories, (memory) => {
    const told = predicate(memory, names);
    said.set(memory, told);
    plain.set(memory, bare(told));
  });
  const telling: Telling = { names, said, plain };
  return flatMapInSlices(groups.values(), ({ section, subject, memories: held }) => {
    const text = textOf(section, subject, held, telling);
    return text === ""
      ? []
      : [
          {
            section,
            text,
            memories: held,
            weight: held.reduce((most, memory) => Math.max(most, weightOf(memory)), 0),
            withOnly: (some) => textOf(section, subject, some, telling),
          },
        ];
  });
}

function textOf(section: SectionName, subject: string, held: readonly Memory[], telling: Telling): string {
  if (section === "instructions") return sentences(held.map(orderOf));
  if (section === "plans") return sentences(held.map(({ text }) => text.replace(/^The user(?:'s)? /, "")));
  if (held.every(({ claim }) => claim?.subject === "user" && SELF.test(claim.relation)))
    return selfLine(held, telling);
  return subject === "user" ? ownLine(held, telling) : subjectLine(subject, held, telling);
}

/** "Wants the assistant never to suggest recipes" -> "Never suggest recipes". */
function orderOf({ text, claim }: Memory): string {
  if (claim?.relation === "wish to be called") return `Call them ${claim.value}`;
  return text
    .replace(
      /^The user wants the assistant (?:to (?=always|never))?(?:(always|never|not) )?to /,
      (_all, how?: string) => (how === "not" ? "Do not " : how === undefined ? "" : `${how} `),
    )
    .replace(/^The user /, "");
}

/** "Ottilie Brandt; was born on 14 June 1987." An age grows old: it is told where the birth is not known. */
function selfLine(held: readonly Memory[], { names, plain }: Telling): string {
  const isBorn = held.some(({ claim }) => claim?.relation === "be born on");
  const name = names.get("user");
  const told = held.filter(
    ({ claim }) => claim?.relation !== "be called" && !(isBorn && claim?.relation === "be aged"),
  );
  const said = [...new Set(told.map((memory) => plain.get(memory) ?? ""))];
  return sentences([[...(name === undefined ? [] : [name]), ...said].join("; ")]);
}

function slotOf({ id, claim, kind }: Memory, relation: string): string {
  return kind === "event" || kind === "commitment" || kind === "instruction"
    ? id
    : JSON.stringify([relation, claim?.qualifier ?? ""]);
}

/** Path -> what the one is called. */
type Names = ReadonlyMap<string, string>;

/** What lines are put together from: names, and what each memory says of its subject. */
interface Telling {
  readonly names: Names;
  readonly said: ReadonlyMap<Memory, string>;
  /** The same without what ends a sentence. */
  readonly plain: ReadonlyMap<Memory, string>;
}

function namesOf(memories: readonly Memory[]): Names {
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
function ownLine(memories: readonly Memory[], { said: saidOf }: Telling): string {
  const [first] = memories;
  if (!first) return "";
  const said = saidOf.get(first) ?? "";
  const values = [...new Set(memories.map(({ claim }) => theirs(claim?.value ?? "")))];
  const [value = ""] = values;
  if (values.length < 2 || value === "" || !said.includes(value)) {
    return sentences(memories.map((memory) => saidOf.get(memory) ?? ""));
  }
  return sentences([said.replace(value, joinList(values))]);
}

function theirs(value: string): string {
  return value.replace(/\b(?:my|our)\b/gi, "their");
}

/** "Daughter Femke: is 9 years old; has a peanut allergy." */
function subjectLine(subject: string, memories: readonly Memory[], { names, plain }: Telling): string {
  const told = memories.filter(({ claim }) => claim?.relation !== "be called");
  const label = labelOf(subject, names);
  const said = [...new Set(told.map((memory) => plain.get(memory) ?? ""))];
  const name = names.get(subject);
  if (said.length === 0) return name === undefined ? "" : `${bare(label.replace(name, ""))}: ${name}.`;
  return `${label}: ${said.join("; ")}.`;
}

/** "user/daughter" -> "Daughter Femke", "user/sister/cat" -> "Sister Hanne's cat". */
function labelOf(subject: string, names: Names): string {
  const [root = "", ...parts] = subject.split("/");
  let path = root;
  const said = parts.map((part, i) => {
    path = `${path}/${part}`;
    const name = names.get(path);
    const whole = name === undefined || part.includes(name) ? part : `${part} ${name}`;
    return i < parts.length - 1 ? `${whole}'s` : whole;
  });
  const own = root === "user" ? said : [parts.length > 0 ? `${root}'s` : root, ...said];
  return capital(own.join(" "));
}

/** What is said of the subject, without naming it again: "lives in Trier", "a Gazelle". */
function predicate({ text, claim }: Memory, names: Names): string {
  const plain = text.replace(/\.$/, "");
  if (!claim) return plain.replace(/^The user /, "");
  const { subject } = claim;
  if (subject === "user") return plain.replace(/^The user(?:'s (?=\S+ (?:is|are)\b))? ?/, "");
  const [root = "", ...parts] = subject.split("/");
  let path = root;
  const owned = parts.map((part) => {
    path = `${path}/${part}`;
    const name = names.get(path);
    return `'s ${escaped(part)}(?: ${escaped(name ?? part)})?`;
  });
  const said = plain.replace(
    new RegExp(`^${root === "user" ? "The user" : escaped(root)}${owned.join("")} `, "u"),
    "",
  );
  // What a thing is needs no verb.
  return said === plain ? said : said.replace(/^(?:is|are) (?=an? |the |\d|\p{Lu})/u, "");
}

function bare(text: string): string {
  return text.replace(/[.\s]+$/, "");
}

function sentences(said: readonly string[]): string {
  return [...new Set(said.map((one) => `${capital(bare(one))}.`))].join(" ");
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
