import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import { ANIMALS, BE, CATENATIVE, FEMALE, KIN, LASTING, MALE } from "./lexicon.ts";
import { isPersonNoun } from "./persons.ts";
import type { Token, WordClass } from "./token.ts";

interface Spot {
  readonly tokens: readonly Token[];
  readonly i: number;
  readonly current: Token;
  readonly previous: Token | undefined;
  readonly next: Token | undefined;
  /** Nothing follows in its part of the sentence. */
  readonly ends: boolean;
}

const HOMES = /^(?:house|home|place|farm|garden|shop|store|boat|pool)$/;
/** Verbs that are nouns just as often. */
const BOTH_WAYS = new Set(
  (
    "study play draw paint cook camp fish dance surf ski climb garden exercise work watch travel run walk ride drive rest " +
    "sleep visit film design coach train shop hunt plant grill brew craft skate box row race sketch hike swim party start"
  ).split(" "),
);

const QUALITIES = new Set(
  (
    "amazing boring exciting relaxing annoying interesting fascinating disgusting exhausting tiring charming stunning " +
    "terrifying frustrating confusing embarrassing depressing rewarding challenging overwhelming disappointing thrilling " +
    "frightening soothing comforting demanding surprising shocking"
  ).split(" "),
);

/** Verbs that look the same in all forms: the tagger takes "cut sugar" for a noun. */
const UNCHANGING = /^(?:cut|put|set|let|hit|quit|shut|split|shed|cast)$/;
/** What can begin the object of a verb, or what hangs on it. */
const OBJECT = new Set([
  "noun",
  "name",
  "determiner",
  "possessive",
  "pronoun",
  "number",
  "adjective",
  "adverb",
  "preposition",
]);

/** "My wife CUT sugar out", "I've CUT carbs out": behind one person, or "have" in short, and before its object. */
function isUnchangingVerb({ tokens, i, current, previous, next, ends }: Spot): boolean {
  if (!["noun", "adjective", "verb"].includes(current.class) || !UNCHANGING.test(current.lower)) return false;
  if (ends || !next || !OBJECT.has(next.class) || previous?.after.trim() !== "" || previous.owner)
    return false;
  if (previous.contracted === "rest" && /^(?:have|'ve)$/.test(previous.lower)) return true;
  const isOne =
    isPersonNoun(previous.lower) || [KIN, FEMALE, MALE, ANIMALS].some((words) => words.has(previous.lower));
  const isActor = previous.class === "name" || isOne;
  return (
    isActor &&
    !tokens
      .slice(0, i)
      .some(({ class: kind }, k) => kind === "verb" || (kind === "determiner" && k !== i - 2))
  );
}

/** Words whose class one look around settles, before all else. */
const RULES: readonly (readonly [(spot: Spot) => boolean, WordClass])[] = [
  [isUnchangingVerb, "verb"],
  // "I am retired", "we're divorced": a state, and nobody who does it.
  [
    ({ current, tokens, i }) =>
      current.class === "verb" && LASTING.has(current.lower) && isAfterBe(tokens, i),
    "adjective",
  ],
  // "sunsets are amazing": how they are, and not what they do.
  [
    ({ current, tokens, i, ends, next }) =>
      current.class === "verb" &&
      QUALITIES.has(current.lower) &&
      isAfterBe(tokens, i) &&
      (ends || ["preposition", "conjunction", "adverb"].includes(next?.class ?? "")),
    "adjective",
  ],
  // "my hobby is knitting": what it is, and nobody who knits.
  [
    ({ current, tokens, i }) =>
      current.class === "verb" &&
      /[a-z]{2}ing$/.test(current.lower) &&
      isAfterBe(tokens, i) &&
      DOINGS.test(tokens[beBefore(tokens, i) - 1]?.lower ?? ""),
    "noun",
  ],
  // "I myself like games"
  [
    ({ current, previous }) =>
      current.lower === "like" && /^(?:myself|ourselves)$/.test(previous?.lower ?? ""),
    "verb",
  ],
  // "I love FISHING, jazz and old maps": one of the things, and not what is done to them.
  [
    ({ current, previous, next }) =>
      current.class === "verb" &&
      /[a-z]{3}ing$/.test(current.lower) &&
      /^(?:love|like|hate|enjoy|adore|prefer|dislike|into|loves|likes|hates|enjoys)$/.test(
        previous?.lower ?? "",
      ) &&
      previous?.after === " " &&
      (/^,\s*$/.test(current.after) || /^(?:and|or|&)$/.test(next?.lower ?? "")),
    "noun",
  ],
  // "my favourite ANIMAL"
  [
    ({ current, previous, ends }) =>
      current.class === "adjective" && ends && /^(?:favou?rite|fave|fav)$/.test(previous?.lower ?? ""),
    "noun",
  ],
  // "I do not like rain"
  [
    ({ current, tokens, i }) => current.lower === "like" && current.class !== "verb" && isAfterDo(tokens, i),
    "verb",
  ],
  // "just like my father did"
  [
    ({ current, previous, next }) =>
      current.lower === "like" &&
      /^(?:just|exactly|much|more)$/.test(previous?.lower ?? "") &&
      ["possessive", "determiner", "pronoun", "name"].includes(next?.class ?? "") &&
      previous?.after === " " &&
      !/^(?:i|we|they|you)$/.test(next?.lower ?? ""),
    "preposition",
  ],
  // "at my parents house"
  [
    ({ current, previous, tokens, i, ends, next }) =>
      HOMES.test(current.lower) &&
      current.class === "verb" &&
      previous?.class === "noun" &&
      tokens[i - 2]?.class === "possessive" &&
      (ends || ["preposition", "conjunction", "adverb"].includes(next?.class ?? "")),
    "noun",
  ],
  // "my parents still LIVE", "I still LIVE": what the tagger takes for "live music".
  [
    ({ current, previous, next }) =>
      current.lower === "live" &&
      current.class === "adjective" &&
      previous?.class === "adverb" &&
      ["preposition", "adverb"].includes(next?.class ?? ""),
    "verb",
  ],
  // "I do rock climbing"
  [
    ({ current, previous, next, tokens, i }) =>
      current.class === "verb" &&
      /^(?:do|does)$/.test(previous?.lower ?? "") &&
      /^(?:i|we|they|she|he)$/.test(tokens[i - 2]?.lower ?? "") &&
      /[a-z]{3}ing$/.test(next?.lower ?? "") &&
      !CATENATIVE.has(current.lower),
    "noun",
  ],
  // "flowers, especially tulips"
  [
    ({ current, previous }) =>
      current.class === "verb" &&
      /^(?:especially|mostly|mainly|particularly|specifically|including)$/.test(previous?.lower ?? ""),
    "noun",
  ],
  // "we both love fishing"
  [
    ({ current, previous, next }) =>
      /^(?:both|all|each)$/.test(current.lower) &&
      /^(?:we|they|you)$/.test(previous?.lower ?? "") &&
      next !== undefined &&
      !["noun", "possessive", "determiner"].includes(
        next.class === "noun" && toBaseForm(next.lower) === next.lower ? "" : next.class,
      ),
    "adverb",
  ],
  [
    ({ current, previous, tokens, i, next }) =>
      current.class === "noun" &&
      /^(?:love|like|work|live|hate|enjoy|play|need|want)$/.test(current.lower) &&
      previous?.class === "adverb" &&
      /^(?:we|they|you|i)$/.test(tokens[i - 2]?.lower ?? "") &&
      next !== undefined,
    "verb",
  ],
  // "to move to Oslo and STUDY law"
  [
    ({ current, previous, tokens, i, next }) =>
      ["noun", "adjective"].includes(current.class) &&
      BOTH_WAYS.has(current.lower) &&
      (/^(?:and|or)$/.test(previous?.lower ?? "") || previous?.after.includes(",") === true) &&
      (next === undefined ||
        ["noun", "determiner", "possessive", "name", "number", "preposition", "adverb"].includes(
          next.class,
        )) &&
      tokens
        .slice(Math.max(0, i - 8), i)
        .some(
          ({ lower, class: kind }, k, all) =>
            lower === "to" && kind !== "verb" && all[k + 1]?.class === "verb",
        ),
    "verb",
  ],
];

/** "I do not", "we really don't": with a subject before it, so that "what do like minds" is none. */
function isAfterDo(tokens: readonly Token[], i: number): boolean {
  let at = i - 1;
  while (tokens[at]?.class === "adverb" || tokens[at]?.class === "negation") at -= 1;
  return /^(?:do|does|did)$/.test(tokens[at]?.lower ?? "") && tokens[at - 1]?.class !== "question";
}

const DOINGS =
  /^(?:hobby|hobbies|passion|passions|interests?|pastimes?|sports?|activity|activities|job|exercise|workout|obsession)$/;

function isAfterBe(tokens: readonly Token[], i: number): boolean {
  return BE.has(tokens[beBefore(tokens, i)]?.lower ?? "");
}

/** The word before, adverbs and negations skipped. */
function beBefore(tokens: readonly Token[], i: number): number {
  let at = i - 1;
  while (tokens[at]?.class === "adverb" || tokens[at]?.class === "negation") at -= 1;
  return at;
}

/** The class of a word by what stands around it; undefined where that leaves it open. */
export function settled(tokens: readonly Token[], i: number): WordClass | undefined {
  const current = tokens[i];
  if (!current) return undefined;
  const next = tokens[i + 1];
  const spot: Spot = {
    tokens,
    i,
    current,
    previous: tokens[i - 1],
    next,
    ends: !next || current.after.trim() !== "",
  };
  return RULES.find(([fits]) => fits(spot))?.[1];
}
