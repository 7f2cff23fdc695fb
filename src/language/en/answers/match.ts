import type { MemoryAtTime } from "../../../domain/memories/current-memories.ts";
import type { Claim, Memory } from "../../../domain/memory.ts";
import { splitWords, stem } from "../../../domain/search/search-terms.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import { findKind, isOfKind } from "../categories.ts";
import { listAttributeRelations, toCanonicalThing } from "../relations/relations.ts";
import { toSingular } from "../word-forms.ts";
import { bag } from "./bags.ts";
import { bagOf, coverage, essence, holds, key } from "./essence.ts";
import { attributeOf, isWide, kindFits, PRODUCT } from "./kind.ts";
import { meetsNarrowing, metObject, narrowScore } from "./narrow.ts";
import { shapeFits } from "./shape.ts";
import type { AskedQuestion } from "./subjects.ts";

/** A memory that can answer, and how well. */
export interface Match {
  readonly memory: Memory;
  /** Whether it holds at the time that is asked about. */
  readonly holds: boolean;
  /** By its claim's relation, by the thing named in its value, or by its words. */
  readonly by: "relation" | "thing" | "words";
  readonly score: number;
  /** Whether the kind of thing asked for was found: true, not known (undefined), or another kind (false). */
  readonly kind: boolean | undefined;
  /** Whether it meets what narrows the question ("for work"). */
  readonly isNarrowed: boolean;
}

/** All memories that can answer a question, best first. */
export function matches(asked: AskedQuestion, held: readonly MemoryAtTime[]): Match[] {
  const found: Match[] = [];
  for (const one of held) {
    const { claim } = one.memory;
    if (!claim) continue;
    const match =
      byLiving(asked, one, claim) ??
      byRelation(asked, one, claim) ??
      byMeans(asked, one, claim) ??
      byThing(asked, one, claim) ??
      byWords(asked, one, claim);
    if (match) found.push(match);
  }
  return found.sort((a, b) => b.score - a.score || compare(b.memory.at, a.memory.at));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function byRelation(asked: AskedQuestion, one: MemoryAtTime, claim: Claim): Match | undefined {
  const { question } = asked;
  const attribute = asAttribute(asked, claim);
  const subject = attribute ? 0.9 : asked.fits(claim.subject);
  if (subject === 0 || question.relations.length === 0) return undefined;
  const bare = claim.relation.replace(/^used to /, "");
  const isPastState = bare !== claim.relation;
  const rank = attribute ? 0 : relationRank(question, bare);
  if (rank < 0) return undefined;
  const isPastAsked = question.past === true || question.tense === "past";
  if (isPastState && !isPastAsked && one.isThen !== true) return undefined;
  if (!meetsQuestion(asked, one, claim) || !isMeant(question, bare, claim)) return undefined;
  const kind = kindFits(asked, one.memory, claim);
  if (kind === false && question.asks !== "yes_no") return undefined;
  if (!saysMore(question, claim)) return undefined;
  const narrow = narrowScore(asked, one.memory);
  const score = 3 + subject + (kind ? 0.6 : 0) + 0.4 / (1 + rank) + narrow;
  return { memory: one.memory, holds: one.holds, by: "relation", score, kind, isNarrowed: narrow >= 0.5 };
}

function isMeant(question: Question, relation: string, claim: Claim): boolean {
  return isMeantByHaving(question, relation, claim) && isMeantByDoing(question, claim);
}

/** "What am I allergic to?" is answered by "have a nut allergy", and not by all that one has. */
function isMeantByHaving(question: Question, relation: string, { value }: Claim): boolean {
  const [asked = ""] = question.relations;
  const isOpen =
    question.asks === "value" || (question.asks === "yes_no" && ANYTHING.test(question.value ?? ""));
  const isBare = isOpen && question.topic === undefined && question.narrows === undefined;
  if (!isBare || !POSSESSION.test(relation) || POSSESSION.test(asked)) return true;
  const telling = essence(asked);
  if (telling.length > 0 && coverage(bagOf(value), telling) > 0) return true;
  return attributeOf(value).includes(asked) || (asked === "drive" && isOfKind(value, "vehicle") === true);
}

const ANYTHING = /^(?:(?:any|some)(?:thing|body|one|where)?)?$/i;

/** "Do I drink?": no answer is that meat is not liked, and none to "Do I eat?" that fish is not eaten. */
function isMeantByDoing({ asks, value, narrows, relations }: Question, claim: Claim): boolean {
  const [asked = ""] = relations;
  if (asks !== "yes_no" || value !== undefined || narrows !== undefined || claim.value === "") return true;
  const bare = claim.relation.replace(/^(?:not|never) /, "");
  if (bare === asked) return !(bare === "eat" && bare !== claim.relation);
  return !FEELING.test(bare) || FEELING.test(asked) || coverage(bagOf(claim.value), essence(asked)) > 0;
}

/** "Am I allergic to anything?": a job that one has is no answer. */
function isMeantByWide({ relations }: Question, { relation, value }: Claim): boolean {
  const [asked = ""] = relations;
  if (relation === asked || !isWide(relation)) return true;
  return coverage(bagOf(value), essence(asked)) > 0 || attributeOf(value).includes(asked);
}

const FEELING = /^(?:like|love|enjoy|prefer|hate|dislike|adore|avoid)$/;

const POSSESSION = /^(?:have|own|keep|get|hold)$/;

/** Time, value, what narrows the question, and the shape of what it asks for. */
function meetsQuestion(asked: AskedQuestion, { memory, isThen }: MemoryAtTime, claim: Claim): boolean {
  const { question } = asked;
  if (!(isThen || tenseFits(question, memory, claim)) || !valueFits(question, claim)) return false;
  return meetsNarrowing(asked, memory) && metObject(asked, memory) && shapeFits(question, memory, claim);
}

/** "a film" tells nothing to "What film did I see?". */
function saysMore({ asks, topic, subject }: Question, { value, relation, qualifier = "" }: Claim): boolean {
  const isOpen = topic === undefined || subject === undefined || !["value", "who"].includes(asks);
  if (isOpen || relation.startsWith("be called")) return true;
  const own = new Set(splitWords(topic).map(key));
  // "the gym at FitBox"
  const more = /^(?:at|in|by|from|called|named|on|for) .*\p{Lu}|\d/u.test(qualifier) ? qualifier : "";
  return splitWords(`${value} ${more}`).some(
    (word) => !own.has(key(word)) && !/^(?:an?|the|my|our|some|new|old|another|this|that)$/.test(word),
  );
}

/** "What do I do for work?": the user fixes lifts "for a living". */
function byLiving(asked: AskedQuestion, one: MemoryAtTime, claim: Claim): Match | undefined {
  const { question } = asked;
  const isAsked = question.relations[0] === "work as" && asked.fits(claim.subject) > 0;
  if (!isAsked || !/\b(?:for a living|for work|professionally)\b/.test(claim.qualifier ?? ""))
    return undefined;
  return { memory: one.memory, holds: one.holds, by: "relation", score: 4.5, kind: true, isNarrowed: true };
}

/** "What do I use for my invoices?": the user does all their invoicing "in Ledgerly". */
function byMeans(asked: AskedQuestion, one: MemoryAtTime, claim: Claim): Match | undefined {
  const { question } = asked;
  if (
    !question.relations.includes("use") ||
    (question.narrows === undefined && !PRODUCT.test(question.topic ?? "")) ||
    asked.fits(claim.subject) === 0 ||
    one.memory.kind === "event"
  )
    return undefined;
  if (!/^(?:in|with|on|via|through|using|by) /.test(claim.qualifier ?? "")) return undefined;
  const topic = (question.topic ?? "").replace(PRODUCT, "");
  const telling = essence(question.narrows ?? topic);
  const isMet = telling.length > 0 && coverage(bagOf(`${claim.relation} ${claim.value}`), telling) === 1;
  return isMet
    ? { memory: one.memory, holds: one.holds, by: "relation", score: 3.5, kind: true, isNarrowed: true }
    : undefined;
}

/** "What ring size do I have?", "What's my car?": what is said of the thing itself answers too. */
function asAttribute({ question }: AskedQuestion, claim: Claim): boolean {
  return /^be(?: called)?$/.test(claim.relation) && isAttributeOf(question, claim.subject);
}

/** Whether a subject is the thing that the question asks for: `user/ring size`, `user/car`. */
export function isAttributeOf(question: Question, subject: string): boolean {
  if (question.subject === undefined || !subject.startsWith(`${question.subject}/`)) return false;
  if (question.asks === "yes_no" || question.asks === "when" || question.asks === "how_many") return false;
  const last = subject.split("/").at(-1) ?? "";
  if (subject !== `${question.subject}/${last}`) return false;
  const plural = splitWords(last).at(-1) ?? "";
  const isOne = toSingular(plural);
  const named = / \p{Lu}[^/]*$/u.exec(last);
  if (named && question.topic !== undefined && /^(?:have|own|keep)$/.test(question.relations[0] ?? ""))
    return toCanonicalThing(last.slice(0, named.index)) === toCanonicalThing(toSingular(question.topic));
  if (isOne !== plural && listAttributeRelations(isOne).includes(question.relations[0] ?? "")) return true;
  return (
    question.topic !== undefined && toCanonicalThing(last) === toCanonicalThing(question.topic.toLowerCase())
  );
}

/** Whether a relation, or what is denied or over of it, is among those that answer. */
export function mayRank(question: Question, relation: string): boolean {
  return relationRank(question, relation.replace(/^used to /, "")) >= 0;
}

/** Its place among the relations that answer; a relation with another joint ("teach at" for "teach") comes last. */
function relationRank({ relations, asks }: Question, relation: string): number {
  const exact = relations.indexOf(relation);
  if (exact >= 0) return exact;
  if (/^(?:not|never) /.test(relation)) {
    return asks === "yes_no" && relations.includes(relation.replace(/^(?:not|never) /, "")) ? 1 : -1;
  }
  if (answersPlan(relations, relation)) return 5;
  const [head = "", ...rest] = relation.split(" ");
  const [wanted = "", ...joint] = (relations[0] ?? "").split(" ");
  if (head === "be" || wanted === "be" || head === "have") return -1;
  if (head === wanted && (joint.length === 0 || rest.length === 0)) return 6;
  const tail = relation.split(" to ").at(-1) ?? "";
  return relation.includes(" to ") && relations.includes(tail) ? 5 : -1;
}

const PLAN = /^(?:plan|want|hope|intend|be going|need|have|aim|decide|promise) to /;

/** "plan to hike" answers "hike" and "plan to do". */
function answersPlan(relations: readonly string[], relation: string): boolean {
  if (!relation.includes(" to ")) return false;
  if (relations.includes(`${relation.split(" to ")[0]} to`)) return true;
  const tail = relation.split(" to ").at(-1) ?? "";
  return PLAN.test(relation) && (relations.includes(tail) || relations.includes(tail.split(" ")[0] ?? tail));
}

/** A present question is not answered by an event that is over, nor a plan by a habit. */
function tenseFits(question: Question, memory: Memory, claim: Claim): boolean {
  if (question.asks === "when" || question.asks === "yes_no" || question.tense !== "present") return true;
  if (memory.kind !== "event" || (memory.when === undefined && isPlanned(claim))) return true;
  if (
    /^(?:be|be on|be due on|move to|have been to|visit|come|arrive|start|get|fly to|go to|go with|go for|choose|opt for|settle on|buy|adopt|rescue|order|pick|pick up|receive|upgrade to|switch to|sign up for|join|take up|inherit|bring home)$/.test(
      claim.relation,
    )
  )
    return true;
  return (
    /\b(?:is|are|has|have)\b/.test(memory.text.split(" ").slice(2, 6).join(" ")) ||
    ACQUIRED.has(claim.relation)
  );
}

const ACQUIRED = new Set(["buy", "adopt", "get", "pick up", "inherit", "take up", "join", "start"]);

function isPlanned(claim: Claim): boolean {
  return /^(?:plan|want|hope|be going|intend)/.test(claim.relation);
}

/** A value that the question names itself has to be there, for "yes" as for "no". */
function valueFits(question: Question, claim: Claim): boolean {
  if (question.asks !== "yes_no" || question.value === undefined) return true;
  if (ANYTHING.test(question.value)) return isMeantByWide(question, claim);
  const telling = essence(question.value).filter((word) => word !== "food");
  if (telling.length === 0) return true;
  const all = bagOf(`${claim.value} ${claim.qualifier ?? ""} ${claim.relation}`);
  const asked = alternatives(question);
  return (
    asked.some((one) => essence(one).length > 0 && coverage(all, essence(one)) === 1) ||
    (!isWide(claim.relation) && attributeOf(question.value).includes(claim.relation)) ||
    isOfKind(claim.value, question.value) === true
  );
}

/** "coeliac or diabetic" */
export function alternatives(question: Question): string[] {
  const text = question.narrows && / or /.test(question.narrows) ? question.narrows : (question.value ?? "");
  return text
    .split(/ or |, /)
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** "What brand is my trackball?": the user uses "a Kensington mouse". */
function byThing(asked: AskedQuestion, one: MemoryAtTime, claim: Claim): Match | undefined {
  const { question } = asked;
  const parts = (question.subject ?? "").split("/");
  const thing = parts.pop() ?? "";
  if (parts.length === 0 || !question.relations.includes("be") || asked.fits(claim.subject) > 0)
    return undefined;
  if (claim.subject !== parts.join("/")) return undefined;
  if (one.memory.kind === "event" && question.asks !== "when") return undefined;
  if (!namesThing(question, claim, thing) || !isDeadline(question, one.memory)) return undefined;
  if (!shapeFits(question, one.memory, claim) || !informs(question, claim, thing)) return undefined;
  const isItself = (question.topic ?? "").toLowerCase() === thing.toLowerCase();
  const kind = isItself ? undefined : kindFits(asked, one.memory, claim);
  if (kind === false) return undefined;
  const score = 2 + (kind ? 0.5 : 0);
  return { memory: one.memory, holds: one.holds, by: "thing", score, kind, isNarrowed: false };
}

/** "When is my essay due?" is answered by what has to be done by then, and not by when it was begun. */
function isDeadline({ relations }: Question, { text }: Memory): boolean {
  const asksDue = relations[0]?.startsWith("be due") === true;
  return !asksDue || /\b(?:by|before|until|till|due|deadline|must|has to|had to|needs to)\b/.test(text);
}

/** The thing stands in the value; or, for "who", in the verb. */
function namesThing(question: Question, claim: Claim, thing: string): boolean {
  const telling = splitWords(thing).map((word) => key(word));
  const value = bagOf(`${claim.value} ${claim.qualifier ?? ""} ${claim.relation}`);
  if (telling.length > 0 && telling.every((word) => holds(value, word))) return true;
  return telling.length === 1 && question.asks === "who" && bagOf(claim.relation).has(telling[0] ?? "");
}

/** The claim says more of the thing than that there is one. */
function informs(question: Question, claim: Claim, thing: string): boolean {
  const own = new Set(splitWords(thing).map(stem));
  const more = splitWords(claim.value).filter(
    (word) => !own.has(stem(word)) && !/^(?:an?|the|my|new|old|some|our)$/.test(word),
  );
  if (question.asks === "when" || question.asks === "where") return true;
  if (question.asks === "who") return /\p{Lu}/u.test(claim.value);
  return more.length > 0;
}

/** All telling words of the question are in the memory. */
function byWords(asked: AskedQuestion, one: MemoryAtTime, claim: Claim): Match | undefined {
  const { question } = asked;
  if (!mayAnswerByWords(asked, claim)) return undefined;
  const telling = essenceFor(asked, one.memory);
  const isEnough = telling.length > 1 || ["when", "unknown", "who"].includes(question.asks);
  if (telling.length === 0 || !isEnough) return undefined;
  if (coverage(bag(one.memory), telling) < 1) return undefined;
  if (!shapeFits(question, one.memory, claim) || !tenseFits(question, one.memory, claim)) return undefined;
  if (!saysMore(question, claim)) return undefined;
  const named = question.subject?.includes("/") ? asked.fits(claim.subject) : 0.5;
  const score = 2 + 0.3 * named;
  return { memory: one.memory, holds: one.holds, by: "words", score, kind: undefined, isNarrowed: true };
}

/** Whether it is about whom the question asks, and not about what is denied or over. */
function mayAnswerByWords(asked: AskedQuestion, { subject, relation, ...rest }: Claim): boolean {
  const { question } = asked;
  if (question.relations.length === 1 && question.relations[0] === "be called") return false;
  const root = (question.subject ?? "user").split("/")[0] ?? "user";
  if (subject !== root && !subject.startsWith(`${root}/`) && asked.fits(subject) === 0) return false;
  if (!isOwnerNamed(asked, subject)) return false;
  const isOver = /^(?:not|never|used to) /.test(relation);
  if (isOver && question.asks !== "yes_no" && question.past !== true) return false;
  // Of the user's sister is not of the user, unless the question names her.
  return question.subject !== "user" || !isOtherPerson({ subject, relation, ...rest }, wordsOf(asked).bag);
}

/** "When is my flight?" is not asked of the husband's flight: whoever stands between has to be named. */
function isOwnerNamed(asked: AskedQuestion, subject: string): boolean {
  const between = subject.split("/").slice(1, -1);
  if (between.length === 0 || !asked.question.subject?.startsWith("user")) return true;
  const { owners } = wordsOf(asked);
  return between.every((thing) => splitWords(thing).some((word) => holds(owners, key(word))));
}

const MEASURES = new Set(
  [
    "strength",
    "size",
    "height",
    "length",
    "price",
    "cost",
    "weight",
    "speed",
    "dose",
    "dosage",
    "capacity",
    "rate",
    "score",
    "level",
    "distance",
    "duration",
    "strengths",
    "colour",
    "color",
  ].map(key),
);

/** What is compared with every memory of a question. */
interface AskedWords {
  readonly telling: readonly string[];
  /** Of the kind that is asked for, if it is a known one. */
  readonly kind: readonly string[] | undefined;
  readonly bag: ReadonlySet<string>;
  /** With the words of the subject. */
  readonly owners: ReadonlySet<string>;
}

const askedWords = new WeakMap<AskedQuestion, AskedWords>();

/** The words of a question, made once for all memories that are held against them. */
function wordsOf(asked: AskedQuestion): AskedWords {
  const known = askedWords.get(asked);
  if (known) return known;
  const { text, question } = asked;
  const { topic = "", subject = "" } = question;
  const made = {
    telling: essence(text),
    kind: topic !== "" && findKind(topic) !== undefined ? essence(topic) : undefined,
    bag: bagOf(text),
    owners: bagOf(`${text} ${subject}`),
  };
  askedWords.set(asked, made);
  return made;
}

/** The telling words, without the kind that is asked for where the memory holds one of it. */
function essenceFor(asked: AskedQuestion, memory: Memory): string[] {
  const { telling, kind: ofTopic } = wordsOf(asked);
  const isMet = ofTopic !== undefined && isOfKind(memory.text, asked.question.topic ?? "") === true;
  const kind = new Set(isMet ? ofTopic : []);
  const hasNumber = /\d/.test(memory.text);
  return telling.filter((word) => !kind.has(word) && !(hasNumber && MEASURES.has(word)));
}

/** The telling words that need not stand in every memory that answers. */
export function droppable({ topic = "" }: Question): ReadonlySet<string> {
  return new Set([...(findKind(topic) ? essence(topic) : []), ...MEASURES]);
}

function isOtherPerson(claim: Claim, all: ReadonlySet<string>): boolean {
  if (!claim.subject.includes("/")) return claim.subject !== "user";
  const thing = claim.subject.split("/").slice(1).join(" ");
  return !splitWords(thing).some((word) => holds(all, key(word)));
}
