import { selectMemoriesAt } from "../../../domain/memories/current-memories.ts";
import type { Claim, Memory } from "../../../domain/memory.ts";
import { toBaseForm } from "../../../domain/search/base-forms.ts";
import { splitWords } from "../../../domain/search/search-terms.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import { listAttributeRelations, toCanonicalThing } from "../relations/relations.ts";
import { joinList, toSingular } from "../word-forms.ts";
import type { AnswerIndex } from "./answer-index.ts";
import { bag } from "./bags.ts";
import { isOneList, withoutName } from "./choose.ts";
import { holds } from "./essence.ts";
import { isOfKindByAny } from "./evidence/analysis.ts";
import type { Inquiry } from "./evidence/inquiry.ts";
import { PRODUCT } from "./kind.ts";
import { PARTING } from "./parting.ts";
import { sayValue } from "./say.ts";

/** A question for all things of a kind, for their number, or for any. */
export interface ListQuestion {
  readonly asks: "all" | "number" | "any";
  /** The kind, in singular: "pet". */
  readonly kind: string;
  /** Whose they are: a claim's subject. */
  readonly owner: string;
  readonly inquiry: Inquiry;
  readonly question: Question;
}

/** Reads a question for all things of a kind; undefined if it asks for something else. */
export function readListing(inquiry: Inquiry, question: Question): ListQuestion | undefined {
  const { asksPast, parties } = inquiry;
  const { subject } = question;
  // "the names of my children" are asked for as the children are.
  const topic =
    inquiry.topic === "name" && subject?.includes("/") ? toSingular(nounOf(subject)) : inquiry.topic;
  const asks = topic === undefined || asksPast ? undefined : askedOf(inquiry, topic);
  if (topic === undefined || asks === undefined) return undefined;
  // "my pets", "the names of my sisters": the things of the kind are what is asked about.
  const isThing = subject?.includes("/") === true && isThingOf(subject, topic);
  const owner = isThing ? subject.split("/").slice(0, -1).join("/") : subject;
  const isOwn = owner === "user" || (owner === undefined && parties.user);
  return isOwn ? { asks, kind: topic, owner: "user", inquiry, question } : undefined;
}

function askedOf({ text, type, asksMany }: Inquiry, topic: string): ListQuestion["asks"] | undefined {
  if (type === "number") return /\bhow many\b/i.test(text) && !UNCOUNTED.test(topic) ? "number" : undefined;
  // "Am I allergic to anything?": everything is a thing, so that the verb alone tells what is meant.
  if (topic === "thing") return undefined;
  if (type === "yes_no") return /\b(?:any|some)(?:thing)?\b/i.test(text) ? "any" : undefined;
  return asksMany ? "all" : undefined;
}

function isThingOf(subject: string, topic: string): boolean {
  return splitWords(subject.split("/").at(-1) ?? "").some((word) => toSingular(word) === topic);
}

const UNCOUNTED = /^(?:time|hour|minute|day|week|month|year|mile|km|kilometre|kilo|pound|percent)$/;

const LIKING = /^(?:like|love|enjoy|prefer|adore|be into|be a fan|be fond|favou?r)\b/;
const DISLIKING = /^(?:dislike|hate|detest|loathe|avoid|not like|not enjoy|not eat|can(?:not|'t)? stand)\b/;
const UNREAL =
  /^(?:not|never|wish|want|hope|plan|intend|would|might|consider|think|used to|dream|need|have to|must)\b/;

/** Verbs of which one answers for another, by what people do with things of one kind. The first is the one asked with. */
const DOINGS: readonly (readonly string[])[] = [
  ["have", "own", "get", "keep", "buy", "adopt", "inherit", "drive", "ride", "pick", "use", "be", "rescue"],
  ["do", "play", "go", "practise", "practice", "take"],
  ["play", "do", "practise", "practice", "go", "train", "take"],
  ["use", "be", "work", "switch", "write", "code", "plan", "rely", "have"],
  ["drink", "have", "take"],
  ["eat", "have"],
  ["take", "be", "use", "have"],
  ["watch", "be", "follow", "see"],
  ["read", "finish", "be"],
  ["grow", "plant", "raise", "have"],
  ["speak", "know", "be"],
  ["know", "speak", "use", "write", "code"],
  ["visit", "be", "have", "go", "travel", "see"],
  ["follow", "support"],
  ["pay", "be", "subscribe", "have"],
  ["study", "learn", "take"],
  ["collect", "have"],
];

/** What is done with things of a kind: who loves watching something loves a show. */
const OBJECTS: Readonly<Record<string, string>> = {
  watching: "show series film movie programme program",
  reading: "book novel author magazine newspaper comic",
  "listening to": "podcast band album music song artist",
  playing: "game sport instrument",
  eating: "food dish meal",
  drinking: "drink",
};

/** What the user has told of the kind, oldest first: each claim holds now, and is of the polarity that is asked for. */
export function findMembers(
  listing: ListQuestion,
  index: AnswerIndex,
  mayUse: (memory: Memory) => boolean,
  now: string,
): Memory[] {
  const ofKind = memoriesOfKind(listing, index);
  const found = [...new Set([...ofKind, ...ofKind.flatMap((memory) => listMatesOf(memory, index))])].filter(
    mayUse,
  );
  const held = selectMemoriesAt(found, now, undefined).flatMap(({ memory, holds }) =>
    holds && memory.kind !== "instruction" ? memory : [],
  );
  const members = withModifier(listing, held).sort((one, other) => index.place(one) - index.place(other));
  return members.filter((one) => !members.some((other) => isSaidIn(one, other)));
}

/** "I like Thai and Italian food": what one of a list is, the others are, too. */
function listMatesOf(memory: Memory, { sources }: AnswerIndex): Memory[] {
  const [source] = memory.sources;
  return [...(sources.get(source?.message ?? "") ?? [])].filter((other) => isOneList(memory, other));
}

/** "The beagle is called Otto", beside "has a beagle called Otto". */
function isSaidIn(one: Memory, other: Memory): boolean {
  if (one === other || one.claim?.relation !== "be called" || other.claim?.relation === "be called")
    return false;
  const words = splitWords(`${one.claim.value} ${one.claim.subject.split("/").at(-1) ?? ""}`).map(toSingular);
  const said = new Set(splitWords(other.claim?.value ?? "").map(toSingular));
  return words.every((word) => said.has(word));
}

/** "productivity tools": those of which the modifier is said or known, where there are any. */
function withModifier({ inquiry, kind }: ListQuestion, members: readonly Memory[]): Memory[] {
  const { words } = inquiry;
  const modifiers = words.filter(({ isModifier }) => isModifier);
  const narrowed = members.filter((memory) =>
    modifiers.every(
      ({ key, base }) =>
        holds(bag(memory), key) ||
        headsOf(memory.claim?.relation ?? "", memory.claim?.value ?? "").some(
          (word) => base !== kind && isOfKindByAny(word, base),
        ),
    ),
  );
  return narrowed.length > 0 ? narrowed : [...members];
}

function memoriesOfKind(listing: ListQuestion, { slots }: AnswerIndex): Memory[] {
  const { kind, owner, inquiry, question } = listing;
  const fits = verbFit(inquiry, question);
  const asksNames = question.relations[0] === "be called";
  const own = [...(slots.get(owner) ?? [])].flatMap(([relation, memories]) =>
    fits(relation) ? [...memories].filter(({ claim }) => claim && isOf(claim, kind, question)) : [],
  );
  const named = asksNames ? own.filter(({ claim }) => /\p{Lu}/u.test(claim?.value ?? "")) : own;
  return fits("have") ? [...named, ...saidOfThings(listing, slots, asksNames)] : named;
}

/** What is claimed of the owner's things of the kind: "The user's beagle is called Otto." */
function saidOfThings(
  { owner, kind }: ListQuestion,
  slots: AnswerIndex["slots"],
  asksNames: boolean,
): readonly Memory[] {
  return [...slots].flatMap(([subject, relations]) => {
    const isThing = subject.startsWith(`${owner}/`) && !subject.slice(owner.length + 1).includes("/");
    if (!isThing || !isNounOf(subject, kind)) return [];
    return [...(relations.get("be called") ?? []), ...((!asksNames && relations.get("be")) || [])];
  });
}

const DISLIKE =
  /\b(?:dislike|hate|detest|loathe|avoid|can['’]?t (?:stand|bear)|cannot (?:stand|bear)|don['’]?t (?:like|eat|enjoy))\b/i;
const LIKE = /\b(?:like|love|enjoy|prefer|adore|fond|into|favou?rite)\b/i;

/** Whether a relation answers for the verb of a question. */
function verbFit({ words, text }: Inquiry, { relations }: Question): (relation: string) => boolean {
  if (DISLIKE.test(text)) return (relation) => DISLIKING.test(relation);
  if (LIKE.test(text)) return (relation) => LIKING.test(relation);
  const verbs = words.flatMap(({ isVerb, base }) => (isVerb ? toBaseForm(base) : []));
  if (/\b(?:do|does) (?:i|we) do\b|\b(?:i|we) do[?.!]*$/i.test(text)) verbs.push("do");
  const isHad = verbs.length === 0 || verbs.includes("own");
  const heads = new Set(
    (isHad ? ["have"] : verbs).flatMap((verb) => [
      verb,
      ...DOINGS.filter(([first]) => first === verb).flat(),
    ]),
  );
  const asked = new Set(relations.map(toPlainDuty));
  return (relation) => {
    if (asked.has(toPlainDuty(relation))) return true;
    if (UNREAL.test(relation) || DISLIKING.test(relation) || LIKING.test(relation)) return false;
    const [head = ""] = relation.split(" ");
    return (isHad || heads.has(head)) && (heads.has(head) || !PARTING.test(relation));
  };
}

/** "have to buy" is "need to buy". */
function toPlainDuty(relation: string): string {
  return relation.replace(/^(?:have to|must|have got to|get to) /, "need to ");
}

/** Whether a claim is of a thing of a kind: by the head of its value, a name in it, or a relation that says the kind. */
function isOf({ relation, value }: Claim, kind: string, { relations }: Question): boolean {
  if (kind === "thing") return relations.map(toPlainDuty).includes(toPlainDuty(relation));
  const isOwnVerb = listAttributeRelations(kind).includes(relation);
  if (isOwnVerb && !/^(?:be|have|use|do|take|play|like|love|enjoy|own)$/.test(relation)) return true;
  const doing = /^\p{L}+ (?<doing>\p{L}+ing(?: to)?)$/u.exec(relation)?.groups?.doing ?? "";
  if (OBJECTS[doing]?.split(" ").includes(kind)) return true;
  if (PRODUCT.test(kind) && /^(?:an? |the |my )?\p{Lu}/u.test(value) && USING.test(relation)) return true;
  return headsOf(relation, value).some((word) => isOfKindOrSame(word, kind));
}

const USING = /^(?:use|have|own|pick up|buy|get|be subscribed to|switch to|rely on|pay for|be on)$/;

function isOfKindOrSame(word: string, kind: string): boolean {
  return toCanonicalThing(toSingular(word)) === toCanonicalThing(kind) || isOfKindByAny(word, kind);
}

/** Whether a subject ends in a noun of a kind; with `isSame`, in the kind itself. */
export function isNounOf(subject: string, kind: string, isSame = false): boolean {
  const noun = nounOf(subject);
  if (isSame) return toCanonicalThing(toSingular(noun)) === toCanonicalThing(kind);
  return noun !== "" && isOfKindOrSame(noun, kind);
}

/** "user/cat Mimi" -> "cat". */
function nounOf(subject: string): string {
  return splitWords(withoutName(subject).split("/").at(-1) ?? "").at(-1) ?? "";
}

/** "a beagle called Otto and two budgies" -> beagle, budgies; "go bouldering" -> bouldering; "a Honda Jazz" -> honda, jazz. */
function headsOf(relation: string, value: string): string[] {
  const doing = /^(?:go|do|take|start) (?<doing>\p{L}+ing)$/u.exec(relation)?.groups?.doing;
  const parts = value.split(/,| and | & |\b(?:called|named|with|for|in|of|on|from|at|that|who|which)\b/u);
  const heads = parts.flatMap((part) => {
    const words = splitWords(part);
    const names = (part.match(/\p{Lu}[\p{L}\d]*/gu) ?? []).map((name) => name.toLowerCase());
    const last = words.at(-1);
    return last === undefined ? names : [last, ...names];
  });
  return doing ? [doing, ...heads] : heads;
}

const NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

const ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split(" ");

/** The number of things that memories tell of, each once: a claim's number, or one for each name. "a third cat" makes it three. */
export function countMembers(members: readonly Memory[], kind: string, texts: readonly string[]): number {
  const ordinal = new RegExp(`\\b(${ORDINALS.join("|")}) ${kind}\\b`, "i");
  const told = texts.map((text) => ORDINALS.indexOf(ordinal.exec(text)?.[1]?.toLowerCase() ?? "") + 1);
  return Math.max(countThings(members, kind), ...told);
}

function countThings(members: readonly Memory[], kind: string): number {
  const counts = new Map<string, { told: number; named: Set<string> }>();
  for (const { claim } of members) {
    if (!claim) continue;
    for (const { noun, number, names } of thingsIn(claim, kind)) {
      const known = counts.get(noun) ?? { told: 0, named: new Set() };
      known.told = Math.max(known.told, number);
      for (const name of names) known.named.add(name.toLowerCase());
      counts.set(noun, known);
    }
  }
  return [...counts.values()].reduce((sum, { told, named }) => sum + Math.max(told, named.size), 0);
}

interface CountedThing {
  readonly noun: string;
  readonly number: number;
  readonly names: readonly string[];
}

/** The things of a claim: "two budgies" is two of one noun, "Rosa and Felix" for kids two names. */
function thingsIn({ subject, relation, value }: Claim, kind: string): CountedThing[] {
  const parts = value.split(/, | and (?=(?:an?|the|my|two|three|\p{Lu}))/u);
  if (subject.includes("/"))
    return [{ noun: asKind(nounOf(subject), kind), number: 1, names: relation === "be called" ? parts : [] }];
  const things: { noun: string; number: number; names: string[] }[] = [];
  for (const part of parts) {
    const words = splitWords(part.split(/\b(?:called|named|with|for|in|of)\b/u)[0] ?? "");
    const noun = asKind(words.at(-1) ?? "", kind);
    const last = things.at(-1);
    // "three kids, Ada, Bruno and Cleo": names of what was just counted.
    if (last?.noun === kind && /^\p{Lu}/u.test(part)) last.names.push(part);
    else
      things.push({
        noun,
        number: numberIn(words, noun === kind),
        names: noun === kind ? namesIn(part) : [],
      });
  }
  return things;
}

function asKind(word: string, kind: string): string {
  const noun = toCanonicalThing(toSingular(word));
  return noun === toCanonicalThing(kind) ? kind : noun;
}

/** The number of things; 0 for "our alpacas", which are several, and nobody said how many. */
function numberIn(words: readonly string[], isKind: boolean): number {
  const noun = words.at(-1) ?? "";
  const isUncounted = isKind && toSingular(noun) !== noun;
  return numberOf(words[0] ?? "", isUncounted ? 0 : 1);
}

function numberOf(word: string, least: number): number {
  const digits = Number(word);
  return Math.max(least, NUMBERS.indexOf(word), Number.isInteger(digits) && digits < 100 ? digits : 0);
}

function namesIn(part: string): string[] {
  return part.match(/(?<!^)\p{Lu}[\p{L}'’-]+/gu) ?? [];
}

/** "Three: the cello, the ukulele and the church organ." */
export function sayCount(number: number, members: readonly Memory[]): string {
  const word = NUMBERS[number] ?? String(number);
  const values = members.flatMap(({ claim }) => {
    if (!claim) return [];
    const doing = /^(?:go) (?<doing>\p{L}+ing)$/u.exec(claim.relation)?.groups?.doing;
    return doing ?? sayValue(claim.value);
  });
  return `${word.charAt(0).toUpperCase()}${word.slice(1)} that I know of: ${joinList([...new Set(values)])}.`;
}
