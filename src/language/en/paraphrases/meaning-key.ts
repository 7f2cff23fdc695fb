import type { Memory } from "../../../domain/memory.ts";
import { toBaseForm } from "../../../domain/search/base-forms.ts";
import { toCanonicalJson } from "../../../domain/text/canonical-json.ts";
import { toComparedFields, tokenizeStatement } from "../statement-key.ts";
import { toPastParticiple, toPastTense, toSingular } from "../word-forms.ts";
import { listSynonyms, type Synonym } from "./synonyms.ts";

/** A longer text says more than one thing. */
const MAX_WORDS = 30;

/**
 * A key that memories share if they say the same in other words: "The user bought a bike", "User purchased a bicycle".
 * Undefined if a memory may not be compared.
 *
 * Memories with the same key have the same names, numbers, dates, negations, tenses and degrees, the same persons in the
 * same roles, and the same kind, validity, origin and agent. They differ in synonyms, in the spelling, in the order of
 * phrases with a preposition, or in the order around "is". A word that is in no row of synonyms is in both.
 */
export function toMeaningKey(memory: Memory): string | undefined {
  const fields = toComparedFields(memory);
  const wording = fields && toCanonicalWording(memory.text);
  if (wording === undefined) return undefined;
  const { at, evidence, validFrom } = memory;
  return toCanonicalJson({
    ...fields,
    // Without a stated beginning, a memory is valid from when it was said.
    validFrom: evidence === 1 && validFrom !== at ? validFrom : undefined,
    day: RELATIVE_TIMES.test(memory.text) ? at.slice(0, 10) : undefined,
    says: wording,
  });
}

/** Words that mean another time when they are said on another day. */
const RELATIVE_TIMES =
  /\b(?:today|tonight|tomorrow|yesterday|last|next|this|coming|ago|recent|recently|lately|just|soon|new|later|already|yet|still|weeks?|months?) ?/i;

/** "The user has two.": it is not said of what. */
const UNNAMED_COUNT =
  /\b(?:have|has|had|owns?|owned|keeps?|wants?|needs?|gets?|got|buys?|bought) (?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)[.!]?$/i;

/** The wording that stands for all that mean the same. Undefined for a question, a quote, several sentences, or a count of nothing named. */
function toCanonicalWording(text: string): string | undefined {
  if (/["“”«»()?;:*_|/\\]|[.!]\s+\S/u.test(text) || UNNAMED_COUNT.test(text)) return undefined;
  const words = tokenizeStatement(respell(reword(text))).flatMap(splitPossessive);
  if (words.length < 2 || words.length > MAX_WORDS) return undefined;
  return toOrderedWording(simplifyVerbs(replaceSynonyms(words.map(toWordFormAt))));
}

/** A word: its base form and its ending. A name and a number are their own base form. */
interface WordForm {
  readonly surface: string;
  readonly base: string;
  /** "s" for a plural and for the third person, "ed" for a past form, "ing", or none. */
  readonly form: "" | "s" | "ed" | "ing" | "en";
}

/** Sentences that differ from others in more than words. */
const REWORDINGS: readonly (readonly [wording: RegExp, rewording: string])[] = [
  [/\bthe ([\p{Ll}-]+) of (the user|\p{Lu}\p{Ll}+)(?=[ .,]|$)/gu, "$2's $1"],
  [/\bname of (the user's [\p{Ll}-]+) is\b/giu, "$1 is called"],
  [/\b(user's [\p{Ll}-]+)'s name is\b/giu, "$1 is called"],
  [/\bha(?:s|ve) an? ([\p{Ll}]+) allergy\b/gu, "is allergic to $1s"],
  [/\bha(?:s|ve) an? ([\p{Ll}]+) intolerance\b/gu, "is $1 intolerant"],
  [/\bintolerant (?:to|of) ([\p{Ll}]+)/gu, "$1 intolerant"],
  [
    /\b(?:whose name is|which is called|who is called|that is called|called|who goes by)(?= \p{Lu})/gu,
    "named",
  ],
  [/\b(is|are|was|were) named(?= \p{Lu})/gu, "$1 called"],
  [/\bco-worker/gu, "coworker"],
  [/\bof the time\b/gu, "of time"],
];

function reword(text: string): string {
  return REWORDINGS.reduce((reworded, [wording, rewording]) => reworded.replace(wording, rewording), text);
}

/** British and American spellings of one word. */
function respell(text: string): string {
  return text.replace(/\p{Ll}{4,}/gu, (word) =>
    word
      .replace(/^(colo|favo|flavo|neighbo|humo|labo|harbo|hono|behavio|rumo)ur/, "$1r")
      .replace(/^(cent|theat|lit|fib)re(s?)$/, "$1er$2")
      .replace(/(\p{Ll}{3})is(e[ds]?|ing|ation)$/u, respellEnding)
      .replace(/^(licen|defen|offen)ce/, "$1se")
      .replace(/^(jewel|cancel|travel|label|model|counsel|quarrel|fuel|dial|signal)l(?=[ei])/, "$1")
      .replace(/^programme(s?)$/, "program$1")
      .replace(/^grey/, "gray"),
  );
}

function respellEnding(whole: string, before: string, ending: string): string {
  return /(?:prom|exerc|advert|superv|surpr|adv|rev|telev|dev|ra|no|clo|lo|cho|prai|plea|cau|ri)$/.test(
    before,
  ) || !/(?:al|an|en|er|ic|il|im|in|ol|om|on|or|at|gn|yp|ys)$/.test(before)
    ? whole
    : `${before}iz${ending}`;
}

/** "user's" as two words, so that the second is the same for every owner. */
function splitPossessive(token: string): string[] {
  const owner = /^(.+?)(?:'s|(?<=s)')$/u.exec(token)?.[1];
  if (owner === undefined) return [token];
  return /^(?:he|she|it|that|there|who|what)$/i.test(owner) ? [owner, "is"] : [owner, "'s"];
}

const FIXED_FORMS: ReadonlyMap<string, readonly [base: string, form: WordForm["form"]]> = new Map([
  ["am", ["be", "s"]],
  ["is", ["be", "s"]],
  ["are", ["be", "s"]],
  ["was", ["be", "ed"]],
  ["were", ["be", "ed"]],
  ["been", ["be", "en"]],
  ["has", ["have", "s"]],
  ["does", ["do", "s"]],
  ["can", ["can", "s"]],
  ["must", ["must", "s"]],
  ["would", ["would", "s"]],
]);
/** Words that have one form, whatever they end in. */
const HAS_ONE_FORM: ReadonlySet<string> = new Set(
  (
    "this his hers its yes always besides perhaps as us thus across less unless plus during morning evening nothing anything " +
    "something everything thing king ring spring string wedding bring sing red bed need indeed seed speed feed weed hundred could " +
    "should might may shall will news christmas left found lay saw fall gas bus glasses"
  ).split(" "),
);

/** The first word of a sentence may be a name, which stays as it is. */
function toWordFormAt(word: string, at: number): WordForm {
  return at === 0 ? { surface: word, base: word, form: "" } : toWordForm(word);
}

function toWordForm(word: string): WordForm {
  const known = FIXED_FORMS.get(word);
  if (known) return { surface: word, base: known[0], form: known[1] };
  // Names and numbers stay as they are.
  if (!/^\p{Ll}[\p{Ll}']*$/u.test(word) || HAS_ONE_FORM.has(word) || word.length < 3)
    return { surface: word, base: word, form: "" };
  return { surface: word, ...splitEnding(word) };
}

function splitEnding(word: string): Pick<WordForm, "base" | "form"> {
  if (word.endsWith("ing")) {
    const base = toBaseForm(word);
    return base === word ? { base, form: "" } : { base, form: "ing" };
  }
  const singular = toSingular(word);
  if (singular !== word) return { base: singular, form: "s" };
  const base = toBaseForm(word);
  if (base === word) return { base, form: "" };
  const isPast = word.endsWith("ed") || toPastTense(base) === word || toPastParticiple(base) === word;
  return isPast ? { base, form: "ed" } : { base: word, form: "" };
}

interface PreparedSynonym {
  readonly words: readonly string[];
  readonly canonical: readonly string[];
  readonly head: Synonym["head"];
}

/** By the first word, the longest wordings first. */
let preparedSynonyms: ReadonlyMap<string, readonly PreparedSynonym[]> | undefined;

function getSynonyms(): ReadonlyMap<string, readonly PreparedSynonym[]> {
  preparedSynonyms ??= Map.groupBy(
    listSynonyms()
      .map(({ words, canonical, head }) => {
        const toMatched = (all: readonly string[]): string[] =>
          dropArticles(all.map(respell)).map((word) => (head === "none" ? word : toWordForm(word).base));
        return { words: toMatched(words), canonical: toMatched(canonical), head };
      })
      .sort((one, other) => other.words.length - one.words.length),
    ({ words }) => words[0] ?? "",
  );
  return preparedSynonyms;
}

const ARTICLES: ReadonlySet<string> = new Set(["a", "an", "the"]);

function dropArticles(words: readonly string[]): string[] {
  return words.filter((word) => !ARTICLES.has(word));
}

/** Puts the canonical wording in the place of each wording. Then articles are dropped. */
function replaceSynonyms(all: readonly WordForm[]): WordForm[] {
  const words = keepQuantities(all).filter(({ surface }) => !ARTICLES.has(surface));
  const replaced: WordForm[] = [];
  let at = 0;
  while (at < words.length) {
    const found = findSynonym(words, at);
    if (found) replaced.push(...toCanonical(found, words.slice(at, at + found.words.length)));
    else replaced.push(words[at] as WordForm);
    at += found?.words.length ?? 1;
  }
  return replaced;
}

/** "a little" and "a few" are not "little" and "few". */
function keepQuantities(words: readonly WordForm[]): WordForm[] {
  return words.map((word, i) => {
    const isQuantity = /^(?:few|little|bit|lot)$/.test(word.surface) && words[i - 1]?.surface === "a";
    return isQuantity ? { ...word, surface: `a-${word.surface}`, base: `a-${word.base}` } : word;
  });
}

function findSynonym(words: readonly WordForm[], at: number): PreparedSynonym | undefined {
  const synonyms = getSynonyms();
  const { surface, base } = words[at] as WordForm;
  const candidates = [
    ...(synonyms.get(surface) ?? []),
    ...(base === surface ? [] : (synonyms.get(base) ?? [])),
  ];
  return candidates
    .filter((one) =>
      one.words.every((word, i) => {
        const there = words[at + i];
        return there !== undefined && (one.head === "none" ? there.surface : there.base) === word;
      }),
    )
    .sort((one, other) => other.words.length - one.words.length)[0];
}

function toCanonical({ canonical, head }: PreparedSynonym, words: readonly WordForm[]): WordForm[] {
  const form = head === "none" ? "" : (words.at(head === "first" ? 0 : -1)?.form ?? "");
  const formed = head === "first" ? 0 : canonical.length - 1;
  return canonical.map((base, i) => ({ surface: base, base, form: i === formed ? form : "" }));
}

/** Verbs after which "to swim" and "swimming" are the same. */
const TAKES_BOTH: ReadonlySet<string> = new Set(["like", "love", "hate", "dislike", "begin", "favor"]);

/** "goes swimming" is "swims"; "likes to swim" is "likes swimming". */
function simplifyVerbs(words: readonly WordForm[]): WordForm[] {
  const simple: WordForm[] = [];
  for (const word of words) {
    const last = simple.at(-1);
    if (last?.base === "go" && word.form === "ing") simple[simple.length - 1] = { ...word, form: last.form };
    else simple.push(word);
    const added = simple.at(-1);
    const isInfinitive = added && added.form === "" && added.base !== "be" && added.base !== "go";
    const to = simple.length - 2;
    if (isInfinitive && simple[to]?.base === "to" && TAKES_BOTH.has(simple[to - 1]?.base ?? ""))
      simple.splice(to, 2, { ...added, form: "ing" });
  }
  return simple;
}

const PREPOSITIONS: ReadonlySet<string> = new Set(
  "in at on to from with for by near beside during before after until since about into under over between through without".split(
    " ",
  ),
);
/** In a sentence with one of these, the order of words is part of the meaning. */
const JOINS_CLAUSES: ReadonlySet<string> = new Set(
  "and or but because if when while that who which whose where although so than not never nor neither unless only then what how why".split(
    " ",
  ),
);
const ADVERBS: ReadonlySet<string> = new Set(
  (
    "often usually rarely always sometimes now daily weekly monthly yearly twice weekends mornings afternoons evenings nights " +
    "Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays alone abroad"
  ).split(" "),
);

/** The words in an order that equal statements share. */
function toOrderedWording(words: readonly WordForm[]): string {
  if (words.some(({ base }) => JOINS_CLAUSES.has(base))) return words.map(formatWord).join(" ");
  const at = words.findIndex(({ base }) => base === "be");
  const others = words.toSpliced(at, 1);
  if (at > 0 && isWithoutVerbs(others)) {
    const sides = [words.slice(0, at), words.slice(at + 1)].map((side) => side.map(formatWord).join(" "));
    return [formatWord(words[at] as WordForm), ...sides.map((side) => side.toLowerCase()).sort()].join(" | ");
  }
  return toPhrases(moveFrontedPhrase(words));
}

function formatWord({ base, form }: WordForm): string {
  return form === "" ? base : `${base}+${form}`;
}

/** Whether "is" is the only verb, as far as endings tell: "is living" and "is called" have another. */
function isWithoutVerbs(words: readonly WordForm[]): boolean {
  return words.every(
    ({ form, base }) =>
      form !== "ing" && form !== "ed" && base !== "be" && base !== "to" && !ADVERBS.has(base),
  );
}

/** "On Mondays the user swims" begins with the user, as "The user swims on Mondays" does. */
function moveFrontedPhrase(words: readonly WordForm[]): readonly WordForm[] {
  const at = words.findIndex(({ base }) => base === "user");
  const isFronted = at > 0 && (isPreposition(words[0]) || ADVERBS.has(words[0]?.base ?? ""));
  return isFronted ? [...words.slice(at), ...words.slice(0, at)] : words;
}

function isPreposition(word: WordForm | undefined): boolean {
  return word !== undefined && PREPOSITIONS.has(word.base);
}

/** The adverbs, and the phrases that begin with a preposition, apart from their order; the rest in order. */
function toPhrases(words: readonly WordForm[]): string {
  const head: string[] = [];
  const phrases: string[][] = [];
  const adverbs: string[] = [];
  for (const word of words) {
    if (ADVERBS.has(word.base)) adverbs.push(word.base);
    else if (isPreposition(word)) phrases.push([formatWord(word)]);
    else (phrases.at(-1) ?? head).push(formatWord(word));
  }
  return [head, ...phrases]
    .map((phrase) => phrase.join(" "))
    .map((phrase, i) => (i === 0 ? phrase : `| ${phrase}`))
    .toSorted(
      (one, other) => Number(one.startsWith("|")) - Number(other.startsWith("|")) || (one < other ? -1 : 1),
    )
    .concat(adverbs.toSorted())
    .join(" ");
}
