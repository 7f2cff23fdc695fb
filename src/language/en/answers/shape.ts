import type { Claim, Memory } from "../../../domain/memory.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import { findKind, isOfKind } from "../categories.ts";
import { toSingular } from "../word-forms.ts";

/** What is asked for has to be there: a number for "how many", a time for "when", a name or a person for "who". */
export function shapeFits(question: Question, memory: Memory, claim: Claim): boolean {
  const value = `${claim.value} ${claim.qualifier ?? ""}`;
  if (claim.relation === "be") return shapeOfBeing(question, memory, claim, value);
  switch (question.asks) {
    case "how_many":
      return isCounted(question, memory, value);
    case "when":
      return isTimed(question, memory, value);
    case "where":
      return (
        claim.relation !== "be born on" &&
        PLACE.test(`${claim.relation} ${value}`) &&
        kindShape(question, claim)
      );
    case "who":
      if (isWithAsked(question) && !/\bwith\b/.test(`${claim.relation} ${value}`)) return false;
      return (question.subject === undefined || PERSON.test(value)) && kindShape(question, claim);
    default:
      return kindShape(question, claim);
  }
}

/** "Who did I go to Naples with?": somebody has to be there for it. */
function isWithAsked({ relations }: Question): boolean {
  return relations[0]?.endsWith(" with") === true;
}

function shapeOfBeing(question: Question, memory: Memory, claim: Claim, value: string): boolean {
  const { asks, relations } = question;
  if (relations[0] === "be from") return isOfKind(claim.value, "nationality") === true;
  if (asks === "how_many") return isSizeAsked(question, value) && isCounted(question, memory, value);
  if (asks === "when") return isTimed(question, memory, value);
  if (asks === "where") return /\b(?:in|at|on|near|opposite|under|behind|next to)\b/.test(value);
  if (asks === "who") return /\p{Lu}/u.test(claim.value) || isManyOf(claim) || !NOBODY.test(claim.value);
  return kindShape(question, claim);
}

/** "a size 12", "a 34B": of clothes, and no height, age or weight. */
function isSizeAsked({ topic = "" }: Question, value: string): boolean {
  return !/\bsizes?\b|^an? \d+[A-K]{1,2}$/.test(value.trim()) || /\bsize/i.test(topic);
}

const NOBODY = /^(?:an?|the) |^(?:married|engaged|single)\b/i;

/** "my clients are a bakery chain": one of several may have no name. */
function isManyOf({ subject }: Claim): boolean {
  const noun = subject.split(/[/ ]/).at(-1) ?? "";
  return subject.includes("/") && toSingular(noun) !== noun;
}

function isCounted({ topic = "" }: Question, { text }: Memory, value: string): boolean {
  return (/^often/i.test(topic) ? OFTEN : COUNTED).test(`${value} ${text}`);
}

function isTimed({ topic = "" }: Question, memory: Memory, value: string): boolean {
  if (/^(?:time|hour)/i.test(topic))
    return (memory.when?.length ?? 0) > 10 || HOUR.test(`${value} ${memory.text.replace(DATE, "")}`);
  return memory.when !== undefined || TIMED.test(value) || memory.validFrom !== memory.at;
}

const DATE = /\b\d{1,2} \p{Lu}\p{L}+ \d{4}\b/gu;
const HOUR =
  /\d|\b(?:at|around|by|until|before|after|from|between|past|to) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|quarter)\b|\b(?:noon|midnight|dawn|dusk|morning|afternoon|evening|lunchtime|sunrise|sunset)s?\b/i;
const PERSON =
  /\p{Lu}|\b(?:my|our|their|his|her|friends?|mates?|partner|brother|sister|mum|mom|mother|dad|father|wife|husband|boyfriend|girlfriend|cousin|neighbou?r|boss|colleagues?|parents|kids|son|daughter|someone|guy|girl|woman|man|people|nobody)\b/u;
const PLACE =
  /\p{Lu}|\b(?:in|at|on|near|to|from|by|under|behind|opposite|outside|inside|around|off|over|above|below|between|through|into|for|with|abroad|home|here|there|upstairs|downstairs|everywhere|next)\b/u;
const OFTEN =
  /\b(?:every|each|daily|weekly|monthly|once|twice|times|day|days|week|weeks|always|never|\w+days?)\b/i;
const COUNTED =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|half|a couple|several|hundred|thousand|few|single|both|twins?)\b/i;
const TIMED =
  /\bat (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|quarter|noon|midnight|dawn)\b|\d|day|week|month|year|morning|evening|night|january|february|march|april|may|june|july|august|september|october|november|december/i;

/** A colour, a size, a breed: known kinds have to be met where the claim only says what the thing is. */
function kindShape(question: Question, claim: Claim): boolean {
  const topic = question.topic ?? "";
  if (!/^be(?: (?!going)|$)/.test(claim.relation) || topic === "") return true;
  const kind = findKind(topic);
  if (!kind || !/^(?:color|breed|material)$/.test(kind.name)) {
    if (/\b(?:size|plate|number|age|price|height|weight|length|cost)\b/i.test(topic))
      return /\d|\b[A-Z]{1,3}\b/.test(claim.value);
    return true;
  }
  return (
    isOfKind(claim.value, topic) === true || (kind.name === "breed" && /^(?:an?|the) /i.test(claim.value))
  );
}
