import { DETERMINERS, FIRST_POSSESSIVE, PREPOSITIONS, THIRD_POSSESSIVE } from "./lexicon.ts";
import type { WordClass } from "./token.ts";

const PRONOUNS = new Set(
  "i you he she it we they me him us them myself yourself someone somebody anyone everybody everyone nobody something nothing everything anything mine yours hers ours theirs there".split(
    " ",
  ),
);
const CONJUNCTIONS = new Set(
  "and but or so yet nor & because cause cuz coz although though unless while whereas if when whenever since as than till until".split(
    " ",
  ),
);
/** Auxiliaries and what stands like one before a verb. */
export const AUXILIARY: ReadonlySet<string> = new Set(
  "am is are was were be been being have has had having do does did can could will would shall should may might must cannot 'm 're 've 'll 'd ain't gonna wanna gotta".split(
    " ",
  ),
);
const ADVERBS = new Set(
  "now still also just always never ever often usually mostly sometimes rarely really very too already recently currently lately finally actually honestly apparently probably maybe perhaps basically badly only even again soon yesterday today tomorrow tonight here there back away home together instead anymore nowadays once twice either tbh btw atm quite pretty almost nearly about ages abroad upstairs downstairs".split(
    " ",
  ),
);
const FREE_POSSESSIVES = new Set(["mine", "ours", "hers", "theirs", "her"]);

interface Word {
  readonly lower: string;
  readonly word: string;
  readonly tags: ReadonlySet<string>;
}

/** The first that fits names the class. Closed classes come before what the tagger says. */
const CLASSES: readonly (readonly [(word: Word) => boolean, WordClass])[] = [
  [({ lower }) => lower === "not" || lower === "n't" || lower === "never", "negation"],
  [({ lower, word, tags }) => lower === "may" && /^May/.test(word) && tags.has("Month"), "noun"],
  [({ lower, tags }) => lower === "will" && tags.has("ProperNoun"), "name"],
  [({ lower }) => AUXILIARY.has(lower), "verb"],
  [({ lower, tags }) => lower === "her" && !tags.has("Possessive"), "pronoun"],
  [({ lower }) => lower === "her" || lower === "your", "possessive"],
  [({ lower }) => isPossessive(lower), "possessive"],
  [({ lower }) => PRONOUNS.has(lower), "pronoun"],
  [({ lower }) => DETERMINERS.has(lower), "determiner"],
  [({ lower, tags }) => tags.has("QuestionWord") || /^(?:who|whom|which|where)$/.test(lower), "question"],
  [({ lower }) => CONJUNCTIONS.has(lower), "conjunction"],
  // The tagger takes it for a participle: "it's been eleven years".
  [({ lower }) => lower === "eleven", "number"],
  [({ lower, tags }) => lower === "like" && tags.has("Verb"), "verb"],
  [({ lower }) => ADVERBS.has(lower), "adverb"],
  [({ lower, tags }) => tags.has("Verb") && !PREPOSITIONS.has(lower), "verb"],
  [({ lower }) => PREPOSITIONS.has(lower), "preposition"],
  [({ word }) => /^[\d.,:/£$€%#+-]*\d/.test(word), "number"],
  [({ tags }) => tags.has("Value") || tags.has("NumericValue"), "number"],
  [({ tags }) => tags.has("Adverb"), "adverb"],
  [({ tags }) => ["ProperNoun", "Person", "Place", "Organization"].some((tag) => tags.has(tag)), "name"],
  [({ tags }) => tags.has("Adjective"), "adjective"],
  [({ tags }) => tags.has("Conjunction"), "conjunction"],
  [({ tags }) => tags.has("Determiner"), "determiner"],
  [({ tags }) => tags.has("Noun") || tags.has("Date"), "noun"],
  [({ tags }) => tags.has("Expression"), "other"],
];

function isPossessive(lower: string): boolean {
  return (FIRST_POSSESSIVE.has(lower) || THIRD_POSSESSIVE.has(lower)) && !FREE_POSSESSIVES.has(lower);
}

/** The class of a word by itself; its neighbours may change it (`repair`). */
export function classOf(word: Word): WordClass {
  return CLASSES.find(([fits]) => fits(word))?.[1] ?? "noun";
}
