import { BE } from "./lexicon.ts";
import { ends, isA, isLastOfList, isSmall, type Spot } from "./spot.ts";
import { isCapital, type Token } from "./token.ts";
import { isDone, type Rule } from "./verb-repairs.ts";

const HELPERS = new Set(
  ["do", "does", "did", "can", "could", "will", "would", "should", "might", "must", "'ll", "'d", "cannot"], //
);

const QUALITIES = new Set(
  "interesting boring exciting annoying amazing loving charming willing missing living freezing boiling surprising tiring confusing disappointing relaxing outstanding stunning thrilling terrifying overwhelming challenging demanding rewarding embarrassing depressing disgusting".split(
    " ",
  ),
);

const GOES_ON = new Set(
  "work live study play teach sing run drive walk dance cook end start begin last cost close open finish expire leave arrive take need want hate love cover include depart fit bark snore drop rise fall jump".split(
    " ",
  ),
);

const goesOn = ({ current }: Spot): boolean =>
  current.class === "noun" && /s$/.test(current.lower) && GOES_ON.has(current.lower.slice(0, -1));

/** "my son", one person. */
const isOwnPerson = ({ tokens, i, previous }: Spot): boolean =>
  previous?.tags.has("Actor") === true && !previous.owner && isA(tokens[i - 2], "possessive");

const isAfterBe = ({ helper, glued, current }: Spot): boolean =>
  glued &&
  isA(helper, "verb") &&
  BE.has(helper?.lower ?? "") &&
  /[a-z]{2}ing$/.test(current.lower) &&
  !QUALITIES.has(current.lower);

const LAST_WORD =
  /^(?:least|most|best|first|last|all|general|particular|short|full|total|public|private|secret)$/;

/** Words read as nouns, names and adjectives. */
export const NOUNS: readonly Rule[] = [
  // "my son plays drums"
  [(spot) => goesOn(spot) && spot.glued && isOwnPerson(spot), "verb"],
  // "my parents-in-law live in Bath"
  [
    ({ current, previous, next }) =>
      current.lower === "live" &&
      current.class === "adjective" &&
      previous?.tags.has("Actor") === true &&
      isA(next, "preposition"),
    "verb",
  ],
  // "bagels, pretzels and stollen": what ends a list of nouns.
  [isLastOfList, "noun"],
  // "replaced toast with yoghurt": what opens a sentence that has no other verb.
  [isOpeningPast, "verb"],
  // "can't open jars"
  [
    (spot) =>
      spot.glued &&
      isA(spot.helper, "verb") &&
      HELPERS.has(spot.helper?.lower ?? "") &&
      spot.current.class !== "name" &&
      isSmall(spot.current) &&
      !isDone(spot),
    "verb",
  ],
  // "allergic to nuts"
  [
    (spot) =>
      spot.glued &&
      spot.current.class === "adjective" &&
      isA(spot.previous, "preposition") &&
      (ends(spot) || isA(spot.next, "conjunction")) &&
      !LAST_WORD.test(spot.current.lower),
    "noun",
  ],
  [(spot) => isAfterBe(spot) && spot.current.class === "adjective", "verb"],
  // "who lives in Porto, works as a florist"
  [
    (spot) =>
      goesOn(spot) &&
      spot.previous?.after.includes(",") === true &&
      (isA(spot.next, "preposition") || spot.next?.lower === "as"),
    "verb",
  ],
  [(spot) => goesOn(spot) && spot.glued && followsSubject(spot), "verb"],
  [(spot) => isAfterBe(spot) && isActing(spot), "verb"],
  [
    (spot) =>
      isAfterI(spot) &&
      isA(spot.next, "determiner", "possessive", "name", "number", "pronoun", "preposition", "noun"),
    "verb",
  ],
  [isInfinitive, "verb"],
];

function isOpeningPast({ i, current, next, tokens }: Spot): boolean {
  if (i !== 0 || current.class !== "adjective" || !/[a-z]ed$/.test(current.lower)) return false;
  return (
    isA(next, "noun", "name") &&
    !tokens.some(({ class: kind, lower }) => kind === "verb" && !/ing$/.test(lower))
  );
}

function followsSubject({ previous, next, tokens, i }: Spot): boolean {
  const isOwned = isA(previous, "adjective") && isA(tokens[i - 2], "possessive");
  const isSubject =
    isOwned || isA(previous, "name", "noun") || previous?.lower === "who" || previous?.lower === "and";
  // "My dog hates RAIN": the tagger takes the object for the verb.
  const isOwner = tokens[i - 2]?.class === "possessive" || i === 1;
  const isBareObject =
    isOwner && next?.class === "verb" && next.tags.has("Infinitive") && tokens[i + 2]?.class !== "verb";
  return (
    isSubject &&
    (isBareObject ||
      isA(next, "preposition", "determiner", "number") ||
      /^(?:as|until|till)$/.test(next?.lower ?? ""))
  );
}

/** "I'm thinking of": a pronoun acts; "my hobby is painting" names. */
function isActing({ tokens, helper, current }: Spot): boolean {
  const actor = helper && tokens[tokens.indexOf(helper) - 1];
  return (
    isA(actor, "pronoun") &&
    current.class === "noun" &&
    isSmall(current) &&
    /[a-z]{3}ing$/.test(current.lower)
  );
}

function isAfterI({ previous, glued, current }: Spot): boolean {
  if (!glued || !previous || previous.contracted !== undefined || previous.class !== "pronoun") return false;
  return ["i", "we", "they", "you"].includes(previous.lower) && current.class !== "name" && isSmall(current);
}

/** "need to water the plants" */
function isInfinitive({ previous, tokens, i, next, current }: Spot): boolean {
  if (previous?.lower !== "to" || !isA(tokens[i - 2], "verb") || current.class !== "noun") return false;
  const isBase = /^[a-z]+$/.test(current.word) && !/s$/.test(current.lower) && !current.tags.has("Plural");
  return isBase && isA(next, "determiner", "possessive", "number", "pronoun");
}

/** Small words inside a title. */
const JOINT = /^(?:a|an|the|of|and|or|in|on|at|to|for|from|with|by|vs)$/;

/** The words of a title in quotation marks, "Becoming Nicole", are one name whatever each is by itself. */
export function nameTitles(tokens: readonly Token[]): void {
  for (let from = 0; from < tokens.length; from += 1) {
    if (!tokens[from]?.quoted || tokens[from - 1]?.quoted) continue;
    let to = from;
    while (tokens[to]?.quoted) to += 1;
    const words = tokens.slice(from, to);
    if (isTitle(words)) for (const word of words) word.class = "name";
    from = to;
  }
}

function isTitle(words: readonly Token[]): boolean {
  if (words.length === 0 || words.length > 8) return false;
  if (words.some(({ lower, contracted }) => lower === "i" || contracted !== undefined)) return false;
  return (
    isCapital(words[0]) &&
    words.every((word) => isCapital(word) || JOINT.test(word.lower) || /^\d/.test(word.word))
  );
}
