import { BE } from "./lexicon.ts";
import { NOUNS } from "./noun-repairs.ts";
import { settled } from "./settled-words.ts";
import { hasParticiple, unshortened } from "./short-forms.ts";
import { ends, isA, type Spot } from "./spot.ts";
import type { Token, WordClass } from "./token.ts";
import { type Rule, VERBS } from "./verb-repairs.ts";
import { AUXILIARY } from "./word-class.ts";
import {
  apart,
  type IsProper,
  joined,
  namedInSmall,
  unmarked,
  withoutPlaceIs,
  withoutStrayIs,
} from "./word-joints.ts";

export function repair(read: Token[], isProper: IsProper): Token[] {
  const whole = apart(joined(withoutPlaceIs(withoutStrayIs(unmarked(unshortened(read))))));
  const tokens = namedInSmall(whole, isProper);
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
  // "unemployed right now"
  [
    ({ current, next }) => current.lower === "right" && /^(?:now|here|there|away)$/.test(next?.lower ?? ""),
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

/** Verbs of change as they are often mistyped, and as they are meant. Add freely. */
export const MISSPELLINGS: ReadonlyMap<string, string> = new Map(
  (
    "stoped stopped|stoping stopping|swaped swapped|swoped swapped|swithced switched|swtiched switched|switced switched|swiched switched|" +
    "droped dropped|droping dropping|quited quit|quitted quit|cancled cancelled|canceld cancelled|cancelld cancelled|canelled cancelled|" +
    "selled sold|solded sold|moveing moving|movd moved|leaved left|useing using|useed used|repalced replaced|replacd replaced|" +
    "chnaged changed|chagned changed|changd changed|delted deleted|deletd deleted|unistalled uninstalled|uninstaled uninstalled|" +
    "ditchd ditched|finishd finished|startd started|strated started|moove move|anymor anymore|anymroe anymore|anynore anymore|" +
    "completly completely|definately definitely|tomorow tomorrow|tommorow tomorrow|recieve receive|realy really|begining beginning"
  )
    .split("|")
    .map((pair) => {
      const [wrong = "", meant = ""] = pair.split(" ");
      return [wrong, meant] as const;
    }),
);
