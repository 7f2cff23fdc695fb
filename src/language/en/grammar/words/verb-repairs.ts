import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import { toThirdPerson } from "../../word-forms.ts";
import { BE, MODALS } from "./lexicon.ts";
import { isPersonNoun } from "./persons.ts";
import { isA, isSmall, type Spot } from "./spot.ts";
import type { WordClass } from "./token.ts";
import { AUXILIARY } from "./word-class.ts";

/** A reading that the tagger misses and the neighbours give away: the first rule that fits changes the class. */
export type Rule = readonly [(spot: Spot) => boolean, WordClass];

const isFiniteForm = ({ current: { tags } }: Spot): boolean =>
  tags.has("Infinitive") || tags.has("PresentTense");

/** "the new one comes on Wednesday": one thing that does something. */
const isDoneByOne = ({ previous, current }: Spot): boolean =>
  previous?.lower === "one" && current.tags.has("PresentTense") && /s$/.test(current.lower);

const takesNoun = (spot: Spot): boolean => takesNounBehind(spot) && !isDoneByOne(spot);

const takesNounBehind = ({ previous, glued }: Spot): boolean =>
  glued &&
  isA(previous, "determiner", "possessive", "adjective", "number") &&
  !["that", "all", "both", "each"].includes(previous?.lower ?? "");

const isParticiple = ({ current: { tags } }: Spot): boolean => tags.has("Gerund") || tags.has("PastTense");

/** Words read as verbs. */
export const VERBS: readonly Rule[] = [
  // "fasting, doctor in Leeds has told her": a person who opens a clause.
  [
    ({ current, previous, next }) =>
      isPersonNoun(current.lower) &&
      (previous === undefined || previous.after.includes(",")) &&
      isA(next, "preposition", "verb"),
    "noun",
  ],
  // "Work is busy", "Coffee keeps me going": a noun that opens the sentence.
  [
    (spot) =>
      !spot.glued &&
      isFiniteForm(spot) &&
      !spot.current.tags.has("Gerund") &&
      isA(spot.next, "verb") &&
      (BE.has(spot.next?.lower ?? "") || spot.next?.tags.has("PastTense") === true),
    "noun",
  ],
  // "I play guitar, DRUMS and bass": with "I" no verb ends in s.
  [isInsideList, "noun"],
  [({ glued }) => !glued, "verb"],
  // "I can't do dairy", "I don't do mornings": no verb follows a "do" that has an auxiliary of its own.
  [isWhatIsDone, "noun"],
  [(spot) => isDone(spot) && (/[^s]s$/.test(spot.current.lower) || spot.current.tags.has("Gerund")), "noun"],
  [(spot) => takesNoun(spot) && isA(spot.previous, "number") && /s$/.test(spot.current.lower), "noun"],
  [
    (spot) => takesNoun(spot) && isA(spot.previous, "adjective") && spot.current.tags.has("PastTense"),
    "verb",
  ],
  [(spot) => takesNoun(spot) && isParticiple(spot) && isA(spot.next, "noun"), "adjective"],
  [(spot) => takesNoun(spot) && isParticiple(spot) && isA(spot.previous, "possessive", "determiner"), "noun"],
  [(spot) => takesNoun(spot) && isParticiple(spot), "verb"],
  [
    (spot) =>
      takesNoun(spot) &&
      isA(spot.previous, "adjective") &&
      spot.current.tags.has("PresentTense") &&
      /s$/.test(spot.current.lower),
    "verb",
  ],
  // "peanuts and bee stings": a bare singular is no subject.
  [isSecondOfNouns, "noun"],
  // "I keep cash in the freezer": two bare verbs do not follow each other.
  [isObjectOfVerb, "noun"],
  [isBehindThird, "noun"],
  // "I drink oat milk because": nor does one follow the noun behind another.
  [isSecondOfObject, "noun"],
  // "got into birdwatching": what one is into.
  [
    ({ previous, current, glued }) => glued && previous?.lower === "into" && current.tags.has("Gerund"),
    "noun",
  ],
  // "the farmers market"
  [isLastOfNouns, "noun"],
  [takesNoun, "noun"],
  [
    (spot) =>
      isA(spot.previous, "preposition") &&
      spot.previous?.lower !== "to" &&
      !spot.current.tags.has("Gerund") &&
      isFiniteForm(spot),
    "noun",
  ],
  [isWayTo, "noun"],
  // "I'm scared of spiders and lifts": with "I" no verb ends in s.
  [
    (spot) =>
      ["and", "or", "&"].includes(spot.previous?.lower ?? "") &&
      isFiniteForm(spot) &&
      /[^s]s$/.test(spot.current.lower) &&
      isMine(spot),
    "noun",
  ],
  [({ previous, current }) => previous?.owner === true && !current.tags.has("PastTense"), "noun"],
];

function isInsideList(spot: Spot): boolean {
  const { previous, current, next } = spot;
  const isListed = previous?.after.includes(",") === true && isA(previous, "noun", "name");
  const goesOn = current.after.includes(",") || ["and", "or", "&"].includes(next?.lower ?? "");
  return isListed && goesOn && isFiniteForm(spot) && /[^s]s$/.test(current.lower) && isMine(spot);
}

function isSecondOfNouns({ tokens, i, current, previous, glued, next }: Spot): boolean {
  const opener = tokens[i - 2];
  const isListed = ["and", "or", "&"].includes(opener?.lower ?? "") || opener?.after.includes(",") === true;
  const isBare = isA(previous, "noun") && isSmall(previous ?? current) && !/s$/.test(previous?.lower ?? "");
  const isEnd = !next || current.after.trim() !== "" || isA(next, "conjunction");
  return glued && isListed && isBare && isEnd && /[^s]s$/.test(current.lower);
}

const TAKES_BARE = new Set([
  "help",
  "go",
  "come",
  "let",
  "make",
  "dare",
  "need",
  "try",
  "have",
  "get",
  "hear",
  "see",
]);

/** "I keep cash", "we sell honey": what a full verb right before it has for an object. */
function isObjectOfVerb({ tokens, i, current, previous, glued }: Spot): boolean {
  if (!glued || !previous || previous.class !== "verb" || AUXILIARY.has(previous.lower)) return false;
  const isBase =
    toBaseForm(current.lower) === current.lower &&
    !current.tags.has("Gerund") &&
    !current.tags.has("PastTense");
  const subject = tokens[i - 2];
  const isPlain = isA(subject, "pronoun") && ["i", "we", "they", "you"].includes(subject?.lower ?? "");
  // "My dog hates RAIN"
  const isThird =
    isA(subject, "noun", "name") && toThirdPerson(toBaseForm(previous.lower)) === previous.lower;
  return isBase && (isPlain || isThird) && !TAKES_BARE.has(toBaseForm(previous.lower));
}

/** "my son plays drums": nor do two verbs in "s". */
function isBehindThird({ current, previous, glued }: Spot): boolean {
  if (!glued || previous?.class !== "verb" || AUXILIARY.has(previous.lower)) return false;
  return /[^s]s$/.test(previous.lower) && /[^s]s$/.test(current.lower) && !AUXILIARY.has(current.lower);
}

/** "I drink oat MILK": the noun behind a bare noun that a full verb acts on; "we help mum move" has two verbs. */
function isSecondOfObject({ tokens, i, current, previous, glued, next }: Spot): boolean {
  const verb = tokens[i - 2];
  const subject = tokens[i - 3];
  if (!glued || !isA(previous, "noun") || verb?.class !== "verb" || AUXILIARY.has(verb.lower)) return false;
  const isBase = toBaseForm(current.lower) === current.lower && !current.tags.has("Gerund");
  const isPlain = ["i", "we", "they", "you"].includes(subject?.lower ?? "");
  const isEnd = next === undefined || current.after.trim() !== "" || isA(next, "conjunction", "preposition");
  return isBase && isPlain && isEnd && !TAKES_BARE.has(toBaseForm(verb.lower));
}

/** "the farmers market", "a car park": a base form that ends a phrase which has no other verb behind it. */
function isLastOfNouns({ tokens, i, current, previous, glued }: Spot): boolean {
  if (!glued || !isA(previous, "noun")) return false;
  if (!current.tags.has("Infinitive") && toBaseForm(current.lower) !== current.lower) return false;
  const opener = tokens[i - 2];
  const before = tokens
    .slice(0, i)
    .some(({ class: kind, lower }) => kind === "verb" && !AUXILIARY.has(lower));
  const joins = isA(tokens[i - 3], "preposition", "conjunction", "verb");
  // "a tour guide": one of a thing takes no such verb.
  const isOne = ["a", "an"].includes(opener?.lower ?? "") && !/s$/.test(current.lower);
  const isMany = before && joins && /s$/.test(previous?.lower ?? "");
  return (
    isA(opener, "determiner") &&
    (isOne || isMany) &&
    (current.after.trim() !== "" ||
      i === tokens.length - 1 ||
      isA(tokens[i + 1], "conjunction", "preposition", "adverb"))
  );
}

/** "I do yoga", "she does pilates": what is done; "I do like it" has a verb. */
export function isDone(spot: Spot): boolean {
  const { tokens, i, previous } = spot;
  if (isWhatIsDone(spot)) return true;
  if (!/^(?:do|does|did)$/.test(previous?.lower ?? "")) return false;
  let at = i - 2;
  while (tokens[at]?.class === "adverb") at -= 1;
  const subject = tokens[at];
  return subject !== undefined && !["question", "negation", "conjunction"].includes(subject.class);
}

/** "can't do DAIRY": the word behind a "do" that is itself the main verb. */
function isWhatIsDone({ tokens, i, previous }: Spot): boolean {
  if (previous?.lower !== "do") return false;
  let at = i - 2;
  while (["adverb", "negation"].includes(tokens[at]?.class ?? "")) at -= 1;
  const helper = tokens[at]?.lower ?? "";
  return MODALS.has(helper) || ["would", "do", "does", "did"].includes(helper);
}

const TRAVELS =
  /^(?:cycle|bike|walk|drive|go|get|commute|run|ride|travel|bus|train|tram|way|metro|tube|ferry|come|back|ebike|scooter|skate|road|on|take|lift|close|near|next)$/;

/** "cycle to work", "the bus to court" */
function isWayTo({ current, previous, tokens, i }: Spot): boolean {
  const isPlace = ["work", "bed", "church", "court", "camp"].includes(current.lower);
  return isPlace && previous?.lower === "to" && TRAVELS.test(toBaseForm(tokens[i - 2]?.lower ?? ""));
}

const SUBJECTS = new Set(["i", "we", "they", "you", "she", "he", "it", "who"]);

/** Whether "I", "we" or "they" is the last subject before a place. */
function isMine({ tokens, i }: Spot): boolean {
  for (let at = i - 1; at >= 0; at -= 1) {
    const token = tokens[at];
    if (!token) return false;
    if (token.class === "pronoun" && SUBJECTS.has(token.lower)) {
      return ["i", "we", "they", "you"].includes(token.lower);
    }
    if (/[;:.]/.test(token.after)) return false;
  }
  return false;
}
