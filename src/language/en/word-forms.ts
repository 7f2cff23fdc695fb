import { PARTICIPLE_FORMS, PAST_FORMS, toBaseForm } from "../../domain/search/base-forms.ts";

/**
 * Forms of English words, and the conversion of sentences about the user into the second person. Pure
 * functions; only irregular words are listed.
 */

type GrammaticalPerson = "you" | "third" | "they";

const MODAL = new Set(["can", "could", "will", "would", "shall", "should", "may", "might", "must", "cannot"]);

/** "use" -> "uses", "be" -> "is", "have" -> "has". */
export function toThirdPerson(base: string): string {
  if (base === "be") return "is";
  if (base === "have") return "has";
  if (base === "do") return "does";
  if (MODAL.has(base)) return base;
  if (/(?:s|x|z|ch|sh|[^aeiou]o|^go|^do)$/.test(base)) return `${base}es`;
  if (/[^aeiou]y$/.test(base)) return `${base.slice(0, -1)}ies`;
  return `${base}s`;
}

/** "use" -> "used", "drive" -> "drove". */
export function toPastTense(base: string): string {
  return PAST_FORMS.get(base) ?? toRegularPast(base);
}

/** "use" -> "used", "drive" -> "driven". */
export function toPastParticiple(base: string): string {
  return PARTICIPLE_FORMS.get(base) ?? toRegularPast(base);
}

function toRegularPast(base: string): string {
  if (base.endsWith("e")) return `${base}d`;
  if (/[^aeiou]y$/.test(base)) return `${base.slice(0, -1)}ied`;
  return `${doubleConsonant(base)}ed`;
}

/** "use" -> "using", "run" -> "running". */
export function toGerund(base: string): string {
  if (base === "be") return "being";
  if (/ie$/.test(base)) return `${base.slice(0, -2)}ying`;
  if (/[^eoy]e$/.test(base)) return `${base.slice(0, -1)}ing`;
  return `${doubleConsonant(base)}ing`;
}

function doubleConsonant(base: string): string {
  const short = /^[^aeiou]*[aeiou][bdgklmnprt]$/.test(base);
  return short || /(?:prefer|begin|forget|admit|commit|travel|cancel|control|format|quit)$/.test(base)
    ? `${base}${base.at(-1)}`
    : base;
}

/**
 * Conjugates a relation: `conjugate("live in", "third")` is "lives in", `("be allergic to", "you")` is "are
 * allergic to". A leading `not` or `never` negates it: "do not eat", "have never been to".
 */
export function conjugate(
  relation: string,
  person: GrammaticalPerson,
  tense: "present" | "past" = "present",
): string {
  const [first = "", ...others] = relation.split(" ");
  const rest = others.join(" ");
  if (first === "not" || first === "never") return conjugateNegated(first, rest, person, tense);
  return [conjugateFinite(first, person, tense), rest].filter(Boolean).join(" ");
}

function conjugateFinite(base: string, person: GrammaticalPerson, tense: "present" | "past"): string {
  if (base === "be") {
    if (tense === "past") return person === "third" ? "was" : "were";
    return person === "third" ? "is" : "are";
  }
  if (MODAL.has(base)) return base;
  if (tense === "past") return toPastTense(base);
  return person === "third" ? toThirdPerson(base) : base;
}

function conjugateNegated(
  word: "not" | "never",
  relation: string,
  person: GrammaticalPerson,
  tense: "present" | "past",
): string {
  const [first = "", ...others] = relation.split(" ");
  const rest = others.join(" ");
  const auxiliary =
    first === "be" || MODAL.has(first) || (first === "have" && /^(?:been|had|\w+ed)\b/.test(rest));
  if (auxiliary) return [conjugateFinite(first, person, tense), word, rest].filter(Boolean).join(" ");
  if (word === "never") return `never ${conjugate(relation, person, tense)}`;
  return `${conjugateFinite("do", person, tense)} not ${relation}`;
}

/** "a", "a and b", "a, b and c". */
export function joinList(items: readonly string[], word = "and"): string {
  if (items.length <= 1) return items[0] ?? "";
  return `${items.slice(0, -1).join(", ")} ${word} ${items.at(-1)}`;
}

const PLURALS = new Map(
  Object.entries({
    children: "child",
    people: "person",
    men: "man",
    women: "woman",
    wives: "wife",
    lives: "life",
    knives: "knife",
    wolves: "wolf",
    mice: "mouse",
    geese: "goose",
    feet: "foot",
    teeth: "tooth",
    leaves: "leaf",
    shelves: "shelf",
    halves: "half",
    kids: "kid",
    movies: "movie",
    cookies: "cookie",
    hobbies: "hobby",
    shoes: "shoe",
    news: "news",
    glasses: "glasses",
    buses: "bus",
  }),
);

/** The singular of an English noun, in lower case: "tools" -> "tool", "children" -> "child". */
export function toSingular(noun: string): string {
  const lower = noun.toLowerCase();
  const known = PLURALS.get(lower);
  if (known) return known;
  if (lower.length < 4 || /(?:ss|us|is|ous)$/.test(lower)) return lower;
  if (/ies$/.test(lower)) return `${lower.slice(0, -3)}y`;
  if (/(?:ches|shes|sses|xes|zes|oes)$/.test(lower)) return lower.slice(0, -2);
  return lower.endsWith("s") ? lower.slice(0, -1) : lower;
}

const ADVERBS =
  "always|usually|often|never|still|also|mostly|sometimes|rarely|really|only|just|already|currently|now|recently|generally|probably|apparently|finally|both|mainly|no longer|\\w{3,}ly";
const SUBJECT_USER = new RegExp(`^The user((?: (?:${ADVERBS}))*) ([a-z']+)`, "i");
const SAME = new Set([..."can could will would shall should may might must had did went".split(" ")]);

/** Turns a memory's text about "the user" to the second person: "The user uses Shram." -> "You use Shram." */
export function toSecondPerson(text: string): string {
  // "their" refers to the user if the sentence is about the user and about no other person.
  const secondPerson =
    /^The user\b(?!['’]s)/.test(text) && !/\b(?:the user's|they are)\b/.test(text)
      ? toSecondPersonPronouns(text)
      : text;
  return secondPerson
    .replace(
      SUBJECT_USER,
      (_all, adverbs: string, verb: string) => `You${adverbs} ${toSecondPersonVerb(verb.toLowerCase())}`,
    )
    .replace(/\band the user ([a-z]+)\b/g, (_all, verb: string) => `and you ${toSecondPersonVerb(verb)}`)
    .replace(/\bThe user's\b/g, "Your")
    .replace(/\bthe user's\b/g, "your")
    .replace(/\bThe user\b/g, "You")
    .replace(/\bthe user\b/g, "you")
    .replace(/\bthemself\b/g, "yourself");
}

/** Turns a memory's text about "the user" to one about somebody with a name: "The user uses Shram." -> "ana uses Shram." */
export function nameUser(text: string, name: string): string {
  return text.replace(/\b[Tt]he user\b/g, () => name);
}

function toSecondPersonPronouns(text: string): string {
  return text
    .replace(/\btheir\b/g, "your")
    .replace(/\btheirs\b/g, "yours")
    .replace(/\bthem\b/g, "you")
    .replace(/\bthey\b/g, "you");
}

function toSecondPersonVerb(verb: string): string {
  if (verb === "is") return "are";
  if (verb === "was") return "were";
  if (verb === "has") return "have";
  if (verb === "does") return "do";
  if (SAME.has(verb) || !/s$/.test(verb) || /ss$/.test(verb)) return verb;
  return toBaseForm(verb);
}

/** The first letter in upper case. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Ends with a sentence mark; adds a full stop if there is none. */
export function toSentence(text: string): string {
  const trimmed = text.trim().replace(/[\s,;:–—-]+$/, "");
  return capitalize(/[.!?…”"]$/.test(trimmed) ? trimmed : `${trimmed}.`);
}
