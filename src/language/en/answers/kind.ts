import type { Claim, Memory } from "../../../domain/memory.ts";
import { splitWords } from "../../../domain/search/search-terms.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import { isOfKind } from "../categories.ts";
import { getRelation, listAttributeRelations } from "../relations/relations.ts";
import { toSingular } from "../word-forms.ts";
import { bag } from "./bags.ts";
import { bagOf, coverage, essence } from "./essence.ts";
import type { AskedQuestion } from "./subjects.ts";

/** Relations so wide that the kind of thing asked for has to be found too. */
const WIDE = new Set(
  "use|have|own|like|love|prefer|take|do|get|be|want|need|make|see|keep|buy|know|be on|be with|find|bring|enjoy|put|hate|avoid|dislike|switch to|rely on|work with|go to".split(
    "|",
  ),
);

/** Whether a relation is so wide that the kind asked for must be found. */
export function isWide(relation: string): boolean {
  return WIDE.has(relation.replace(/^used to /, "")) && getRelation(relation).relation === relation;
}

/** The relations that answer for an attribute of somebody, by its last word: "my job title". */
export function attributeOf(text: string): readonly string[] {
  return listAttributeRelations(toSingular(splitWords(text).at(-1) ?? ""));
}

const LOOSE_TOPIC =
  /\b(?:kind|type|sort|day|date|time|many|much|far|long|old|often|tall|big|heavy|name|thing|person|people|place|city|country|town|street|village|company|job|work|way|far|high|fast|early|late)\b/gi;

const JOB_WORD = /^(?:job|occupation|profession|trade|career|role|work)$/;
const PRODUCT_RELATION = /^(?:use|have|own|switch to|rely on|be on|be subscribed to|pay for|work with)$/;

/** Whether what is said is of the kind that is asked for. */
export function kindFits(asked: AskedQuestion, memory: Memory, claim: Claim): boolean | undefined {
  const { question } = asked;
  if (JOB_WORD.test(question.topic ?? "") && claim.relation === "be") return isJob(claim.value);
  const topic = (question.topic ?? "")
    .replace(LOOSE_TOPIC, " ")
    .replace(/\b(?:the|of|a|my|in|month|week|year)\b/gi, " ")
    .trim();
  if (topic === "" || question.asks === "how_many") return undefined;
  if (saysKind(memory, claim, topic) || isOwnRelation(question, claim, topic) || isProduct(claim, topic))
    return true;
  const known = ofKind(claim, topic);
  if (known !== undefined) return known;
  // The shape of the value was looked at before.
  if (/\bbreed\b/i.test(topic) && claim.relation === "be") return true;
  const telling = essence(topic).slice(-1);
  return telling.length > 0 && coverage(bagOf(asked.around(memory)), telling) === 1 ? true : undefined;
}

/** "fish oil" is no fish: of another kind is only what its last word says. */
function ofKind({ value, qualifier = "" }: Claim, topic: string): boolean | undefined {
  if (isOfKind(`${value} ${qualifier}`, topic) === true) return true;
  return isOfKind(splitWords(value).at(-1) ?? "", topic) === false ? false : undefined;
}

function saysKind(memory: Memory, { subject, value, qualifier }: Claim, topic: string): boolean {
  const telling = essence(topic);
  if (coverage(bag(memory), telling) < 1) return false;
  const said = bagOf(`${value} ${qualifier ?? ""} ${subject.split("/").at(-1) ?? ""}`);
  return telling.length > 0 && coverage(said, telling) === 1;
}

/** A relation that says what kind of thing it is of: "be subscribed to" for "subscriptions". */
function isOwnRelation({ relations }: Question, { relation }: Claim, topic: string): boolean {
  return relations.includes(relation) && attributeOf(topic).includes(relation) && !WIDE.has(relation);
}

/** What goes by a name of its own may be of any kind of product. */
function isProduct(claim: Claim, topic: string): boolean {
  const isNamed = PRODUCT.test(topic) && /\p{Lu}/u.test(claim.value) && PRODUCT_RELATION.test(claim.relation);
  return isNamed && isOfKind(claim.value, "vehicle") !== true;
}

/** "a nurse", and not "a vegetarian", "a member of the choir". */
function isJob(value: string): boolean {
  return (
    !/\b(?:vegan|vegetarian|member|fan|person|father|mother|dad|mum|mom|parent|twin|beginner|owner|morning|night|homebody|introvert|extrovert|citizen|lover|smoker|drinker|survivor|widow|widower|christian|muslim|catholic|buddhist|atheist|jew)\b/i.test(
      value,
    ) && /^(?:an?|the) |(?:er|or|ist|ian|man|nurse|chef)$/i.test(value)
  );
}

/** Things that go by names of their own, so that any name may be one. */
export const PRODUCT: RegExp =
  /\b(?:apps?|tools?|software|programs?|services?|platforms?|sites?|websites?|products?|brands?|gadgets?|devices?|subscriptions?|magazines?|newspapers?|papers?)$/i;
