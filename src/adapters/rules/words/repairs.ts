import { baseForm } from "../../../domain/english.ts";
import { BE } from "./lexicon.ts";
import { MISSPELLINGS } from "./misspellings.ts";
import { settled } from "./settled-words.ts";
import { hasParticiple, unshortened } from "./short-forms.ts";
import { ends, isA, isLastOfList, isSmall, type Spot } from "./spot.ts";
import type { Token, WordClass } from "./token.ts";
import { AUXILIARY } from "./word-class.ts";
import { apart, joined, namedInSmall, unmarked, withoutStrayIs } from "./word-joints.ts";

/** A reading that the tagger misses and the neighbours give away: the first rule that fits changes the class. */
type Rule = readonly [(spot: Spot) => boolean, WordClass];

export function repair(read: Token[]): Token[] {
  const tokens = namedInSmall(apart(joined(withoutStrayIs(unmarked(unshortened(read))))));
  for (const [i, raw] of tokens.entries()) {
    const current = isShortAnd(tokens, i)
      ? { ...raw, lower: "and", class: "conjunction" as const }
      : spelt(raw);
    tokens[i] = current;
    if (current.lower === "no" && tokens[i + 1]?.lower === "longer") {
      current.class = "negation";
      continue;
    }
    current.class = settled(tokens, i) ?? repaired(tokens, i, current);
    if (current.contracted === "rest" && current.lower === "has" && !hasParticiple(tokens, i)) {
      tokens[i] = { ...current, word: "is", lower: "is" };
    }
  }
  return tokens;
}

/** "stoped" is "stopped", and a verb. */
function spelt(token: Token): Token {
  const lower = MISSPELLINGS.get(token.lower);
  if (lower === undefined) return token;
  const isVerb = /(?:ed|ing|sold|quit|left)$/.test(lower);
  const tags = new Set([...token.tags, "Verb", /ing$/.test(lower) ? "Gerund" : "PastTense"]);
  return isVerb ? { ...token, lower, word: lower, class: "verb", tags } : { ...token, lower, word: lower };
}

/** "salt n pepper" */
function isShortAnd(tokens: readonly Token[], i: number): boolean {
  const isN = /^['’]?n['’]?$/.test(tokens[i]?.lower ?? "");
  return isN && tokens[i - 1]?.after.trim() === "" && tokens[i + 1] !== undefined;
}

function repaired(tokens: readonly Token[], i: number, current: Token): WordClass {
  const previous = tokens[i - 1];
  const skips = previous?.class === "negation" || previous?.class === "adverb";
  const spot: Spot = {
    tokens,
    i,
    current,
    previous,
    next: tokens[i + 1],
    glued: previous?.after.trim() === "",
    helper: skips ? tokens[i - 2] : previous,
  };
  const isVerb = current.class === "verb" && !AUXILIARY.has(current.lower);
  const isNoun = ["noun", "adjective", "name"].includes(current.class);
  const rules = [...LITTLE_WORDS, ...(isVerb ? VERBS : []), ...(isNoun ? NOUNS : []), ...ANY];
  return rules.find(([fits]) => fits(spot))?.[1] ?? current.class;
}

const LITTLE_WORDS: readonly Rule[] = [
  [
    (spot) =>
      spot.current.lower === "her" &&
      spot.current.class === "possessive" &&
      (ends(spot) || isA(spot.next, "preposition", "determiner")),
    "pronoun",
  ],
  [
    ({ current, next }) =>
      current.lower === "her" && current.class === "pronoun" && isA(next, "noun", "adjective"),
    "possessive",
  ],
  [(spot) => isThat(spot) && isA(spot.next, "noun", "adjective", "name"), "determiner"],
  [(spot) => isThat(spot) && BE.has(spot.next?.lower ?? ""), "pronoun"],
  [(spot) => isThat(spot) && isA(spot.next, "pronoun", "possessive", "determiner", "verb"), "conjunction"],
  [isThat, "pronoun"],
  [
    (spot) =>
      spot.current.class === "determiner" &&
      ["this", "these", "those"].includes(spot.current.lower) &&
      (ends(spot) || isA(spot.next, "verb")),
    "pronoun",
  ],
  [isMonthOfMay, "noun"],
  // "like six cups": about as many.
  [
    ({ current, next, previous }) =>
      current.lower === "like" &&
      (isA(next, "number") || ["super", "really", "twice", "half"].includes(next?.lower ?? "")) &&
      !["i", "we", "they", "you"].includes(previous?.lower ?? ""),
    "adverb",
  ],
  // "next Friday" is no place, "next to the station" is.
  [({ current, next }) => current.lower === "next" && next?.lower === "to", "preposition"],
  // "at home", "from work"
  [
    ({ current, previous, glued }) =>
      current.class === "adverb" &&
      ["home", "work", "once", "night", "noon"].includes(current.lower) &&
      isA(previous, "preposition") &&
      glued,
    "noun",
  ],
];

function isThat({ current, next }: Spot): boolean {
  return current.lower === "that" && next !== undefined && current.class === "determiner";
}

function isMonthOfMay({ current, previous, next }: Spot): boolean {
  if (current.lower !== "may" || !/^May/.test(current.word)) return false;
  const opens = ["last", "next", "this", "since", "until", "till"].includes(previous?.lower ?? "");
  return opens || isA(previous, "number", "preposition") || isA(next, "number");
}

const isFiniteForm = ({ current: { tags } }: Spot): boolean =>
  tags.has("Infinitive") || tags.has("PresentTense");
const takesNoun = ({ previous, glued }: Spot): boolean =>
  glued &&
  isA(previous, "determiner", "possessive", "adjective", "number") &&
  !["that", "all", "both", "each"].includes(previous?.lower ?? "");
const isParticiple = ({ current: { tags } }: Spot): boolean => tags.has("Gerund") || tags.has("PastTense");

/** Words read as verbs. */
const VERBS: readonly Rule[] = [
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
  [({ glued }) => !glued, "verb"],
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
    baseForm(current.lower) === current.lower &&
    !current.tags.has("Gerund") &&
    !current.tags.has("PastTense");
  const subject = tokens[i - 2];
  const isPlain = isA(subject, "pronoun") && ["i", "we", "they", "you"].includes(subject?.lower ?? "");
  return isBase && isPlain && !TAKES_BARE.has(baseForm(previous.lower));
}

/** "the farmers market", "a car park": a base form that ends a phrase which has no other verb behind it. */
function isLastOfNouns({ tokens, i, current, previous, glued }: Spot): boolean {
  if (!glued || !isA(previous, "noun")) return false;
  if (!current.tags.has("Infinitive") && baseForm(current.lower) !== current.lower) return false;
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
function isDone({ tokens, i, previous }: Spot): boolean {
  if (!/^(?:do|does|did)$/.test(previous?.lower ?? "")) return false;
  let at = i - 2;
  while (tokens[at]?.class === "adverb") at -= 1;
  const subject = tokens[at];
  return subject !== undefined && !["question", "negation", "conjunction"].includes(subject.class);
}

const TRAVELS =
  /^(?:cycle|bike|walk|drive|go|get|commute|run|ride|travel|bus|train|tram|way|metro|tube|ferry|come|back|ebike|scooter|skate|road|on|take|lift|close|near|next)$/;

/** "cycle to work", "the bus to court" */
function isWayTo({ current, previous, tokens, i }: Spot): boolean {
  const isPlace = ["work", "bed", "church", "court", "camp"].includes(current.lower);
  return isPlace && previous?.lower === "to" && TRAVELS.test(baseForm(tokens[i - 2]?.lower ?? ""));
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

const HELPERS = new Set(
  ["do", "does", "did", "can", "could", "will", "would", "should", "might", "must", "'ll", "'d", "cannot"], //
);
const QUALITIES = new Set(
  "interesting boring exciting annoying amazing loving charming willing missing living freezing boiling surprising tiring confusing disappointing relaxing outstanding stunning thrilling terrifying overwhelming challenging demanding rewarding embarrassing depressing disgusting".split(
    " ",
  ),
);
const GOES_ON = new Set(
  "work live study play teach sing run drive walk dance cook end start begin last cost close open finish expire leave arrive take need want hate love cover include depart fit bark snore".split(
    " ",
  ),
);

const goesOn = ({ current }: Spot): boolean =>
  current.class === "noun" && /s$/.test(current.lower) && GOES_ON.has(current.lower.slice(0, -1));
const isAfterBe = ({ helper, glued, current }: Spot): boolean =>
  glued &&
  isA(helper, "verb") &&
  BE.has(helper?.lower ?? "") &&
  /[a-z]{2}ing$/.test(current.lower) &&
  !QUALITIES.has(current.lower);

const LAST_WORD =
  /^(?:least|most|best|first|last|all|general|particular|short|full|total|public|private|secret)$/;

/** Words read as nouns, names and adjectives. */
const NOUNS: readonly Rule[] = [
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
  return isSubject && (isA(next, "preposition", "determiner", "number") || next?.lower === "as");
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

const ANY: readonly Rule[] = [
  // "I'm so excited": how much, and no new clause.
  [
    ({ current, helper, next, glued }) =>
      glued &&
      ["so", "too", "super", "all", "kinda", "totally", "extra"].includes(current.lower) &&
      BE.has(helper?.lower ?? "") &&
      next !== undefined &&
      current.after.trim() === "" &&
      (isA(next, "adjective", "adverb") || /(?:ed|en|ing)$/.test(next.lower)),
    "adverb",
  ],
  // "a courier firm"
  [
    ({ current, previous }) => current.lower === "firm" && isA(previous, "noun", "adjective", "determiner"),
    "noun",
  ],
  [
    ({ current, previous }) =>
      !isA(current, "noun", "adjective", "name", "verb") &&
      current.tags.has("Verb") &&
      previous?.lower === "to",
    "verb",
  ],
];
