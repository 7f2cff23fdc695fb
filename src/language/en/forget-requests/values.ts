import type { ErasedValue } from "../../../domain/erasure-selection.ts";
import type { Message } from "../../../domain/message.ts";
import { extractTerms, splitWords, stem } from "../../../domain/search/search-terms.ts";
import { findExactPhrase, listSpellings, type ValueShape } from "../../../domain/text/phrase-index.ts";
import { splitSentences, type TextSpan } from "../../../domain/text/split-text.ts";
import { filterInSlices, flatMapInSlices } from "../../../domain/time-slicing.ts";
import { findShapedValues, isDistinctValue } from "../value-shapes.ts";
import { complementsIn } from "./complements.ts";
import { isKin, stemsMet } from "./kin.ts";
import { toldOfThing } from "./told-of-thing.ts";
import type { Wanted } from "./wanted.ts";

/** A text in which values are looked for: a message, or a memory that came from none. */
export interface Said {
  readonly text: string;
  readonly by?: string;
  readonly role: Message["role"];
}

interface Candidate extends ErasedValue {
  readonly rating: number;
  /** How much of the description stands right beside it, 0 to 1. */
  readonly close: number;
  /** Where it stands in the order in which things were said. */
  readonly at: number;
  readonly isCurrent: boolean;
  readonly isPast: boolean;
}

const CURRENT = /\b(?:current|currently|now|new|newer|latest|updated|active|from now on|replaces|instead)\b/i;
const PAST =
  /\b(?:old|older|earlier|previous|previously|prior|former|formerly|expired|outdated|was|used to be|initial|original|no longer|draft|first)\b/i;
const LESS = 0.8;
/** How much of a description must be met where it is not met whole. */
const MOST_OF_IT = 0.66;

/** The values that a phrase means, out of everything that was said. */
export async function valuesMeant(
  said: readonly Said[],
  wanted: Wanted,
  asker: string | undefined,
): Promise<ErasedValue[]> {
  const named = [
    ...wanted.named.map(({ text, shape }) => valueFrom(text, shape)),
    ...wanted.called.map((name) => nameValue(said, name)),
    ...following(said, wanted),
    ...leading(said, wanted),
    ...asItStands(said, wanted),
  ];
  if (wanted.part) named.push(...ofPart(said, wanted.part));
  if (named.length > 0) return named;
  if (wanted.slots.length === 0) return [];
  if (wanted.head?.isName) return onlyName(said);
  const own =
    wanted.isOwn && asker !== undefined ? await filterInSlices(said, (one) => isBy(one, asker)) : said;
  const found = await described(own, wanted);
  return found.length > 0 || own === said ? found : described(said, wanted);
}

function valueFrom(text: string, shape: ValueShape | undefined): ErasedValue {
  const bare = text.replace(/^["“'‘]|["”'’]$/g, "");
  const isOne = shape === undefined ? splitWords(bare).length > 1 : isDistinctValue({ shape, text });
  return { text: bare, ...(shape ? { shape } : {}), isDistinct: isOne };
}

function nameValue(said: readonly Said[], name: string): ErasedValue {
  const all = splitWords(name);
  const isBorrowed =
    all.length === 1 && said.some(({ by }) => by !== undefined && splitWords(by).includes(all[0] ?? ""));
  return { text: name, isDistinct: true, isName: true, ...(isBorrowed ? { isBorrowed } : {}) };
}

/** "the alias": the one name that was given as one, if there is no other. */
function onlyName(said: readonly Said[]): ErasedValue[] {
  const names = said.flatMap(({ text }) =>
    Array.from(text.matchAll(GIVEN_NAME), ({ groups }) => groups?.name ?? ""),
  );
  const [name, ...others] = new Set(names);
  return name === undefined || others.length > 0 ? [] : [nameValue(said, name)];
}

const GIVEN_NAME =
  /\b(?:ask(?:ing)? for|alias|under the name|pseudonym)\s+["“'‘]?(?<name>\p{Lu}[\p{L}'’-]+)/gu;

/** Words that name no noun of information, where they were said before as they stand; of many, the last ones will do. */
function asItStands(said: readonly Said[], { run, isOwn }: Wanted): ErasedValue[] {
  if (run === undefined || isOwn) return [];
  const isSaid = (text: string): boolean => said.some((one) => findExactPhrase(one.text, text).length > 0);
  const text = [run, ...lastRuns(run.split(/\s+/))].find(isSaid);
  return text === undefined ? [] : [{ text, isDistinct: true }];
}

/** The last words of a description, the longest first, up to a name: that says whose they are. */
function lastRuns(all: readonly string[]): string[] {
  const name = all.findIndex(
    (word) =>
      /^\p{Lu}/u.test(word) && !/day$|^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)/.test(word),
  );
  const count = name < 0 ? all.length : name + 1;
  const starts = Array.from({ length: Math.max(0, count - 1) }, (_, i) => i + 1);
  return starts.flatMap((from) => {
    const text = all.slice(from).join(" ");
    const isPlain = /^(?:the|a|an|of|at|in|on|to|for|and)$/i.test(all[from] ?? "");
    return isPlain || extractTerms(text).length < LEAST_RUN ? [] : [text];
  });
}

/** Fewer last words of a description are no value by themselves. */
const LEAST_RUN = 3;

/** The words before a noun of place, as far as they were said before in one run of two and more. */
function leading(said: readonly Said[], { leads }: Wanted): ErasedValue[] {
  if (leads === undefined) return [];
  const all = leads.split(/[\s-]+/).filter((word) => word !== "");
  for (let length = all.length; length >= 2; length -= 1) {
    for (let from = all.length - length; from >= 0; from -= 1) {
      const run = all.slice(from, from + length);
      // Capitals are the name of something, not a place in it.
      if (
        run.every((word) => /^\p{Lu}/u.test(word)) ||
        /^(?:the|my|our|old|former|earlier)$/i.test(run[0] ?? "")
      )
        continue;
      const text = run.join(" ");
      if (said.some((one) => findExactPhrase(one.text, text).length > 0)) return [{ text, isDistinct: true }];
    }
  }
  return [];
}

function isBy({ by, role, text }: Said, asker: string): boolean {
  if (role === "user" && by === asker) return true;
  const names = splitWords(asker).filter((word) => word.length > 2);
  return role !== "user" && names.some((name) => splitWords(text).includes(name));
}

/** The words behind the noun, as far as they were said before in one run. */
function following(said: readonly Said[], wanted: Wanted): ErasedValue[] {
  const { follows } = wanted;
  if (follows === undefined) return [];
  const told = toldOfThing(said, follows, wanted);
  if (told.length > 0) return told;
  const run = follows.split(/\s+/);
  for (let length = run.length; length > 0; length -= 1) {
    const text = run.slice(0, length).join(" ");
    if (length === 1 && /^\p{Lu}?\p{Ll}{0,3}$/u.test(text)) return [];
    if (said.some((one) => findExactPhrase(one.text, text).length > 0)) {
      const isName = length === 1 && /^\p{Lu}/u.test(text);
      return isName ? [] : [{ text, isDistinct: length > 1 }];
    }
  }
  return [];
}

function ofPart(said: readonly Said[], { at, text }: NonNullable<Wanted["part"]>): ErasedValue[] {
  const found = new Map<string, ErasedValue>();
  const bare = (one: string): string => one.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
  for (const one of said) {
    for (const shaped of findShapedValues(one.text)) {
      const whole = bare(shaped.text);
      const fits = at === "end" ? whole.endsWith(bare(text)) : whole.startsWith(bare(text));
      if (fits) found.set(whole, valueFrom(shaped.text, shaped.shape));
    }
  }
  return [...found.values()];
}

/** The values that a description fits best. */
async function described(said: readonly Said[], wanted: Wanted): Promise<ErasedValue[]> {
  const candidates = await flatMapInSlices<[number, Said], Candidate>(said.entries(), ([at, one]) =>
    candidatesIn(one, said.slice(Math.max(0, at - BEFORE), at), at, wanted),
  );
  const best = candidates.reduce((most, { rating }) => Math.max(most, rating), 0);
  if (best === 0) return [];
  const closest = candidates.reduce((most, { close }) => Math.max(most, close), 0);
  const byText = Map.groupBy(
    candidates.filter(({ rating, close }) => rating >= best - 0.75 && close >= closest / 2),
    ({ text }) => splitWords(text).join(" "),
  );
  const values = [...byText.values()].map((all) => ({ all, first: all[0], last: all.at(-1) }));
  const going = wanted.isOld ? withoutCurrent(values.map(({ all }) => all)) : values.map(({ all }) => all);
  return going.flatMap(([one]) => (one ? [valueFrom(one.text, one.shape)] : []));
}

/** Of several values all but the newest, or all that are told to be past. */
function withoutCurrent(values: readonly (readonly Candidate[])[]): (readonly Candidate[])[] {
  if (values.length < 2)
    return values.filter((all) => !all.at(-1)?.isCurrent || all.some(({ isPast }) => isPast));
  const first = (all: readonly Candidate[]): number => all[0]?.at ?? 0;
  const ordered = values.toSorted((one, other) => first(one) - first(other));
  return ordered.slice(0, -1);
}

/** So many messages before one can say what it is about. */
const BEFORE = 2;

function candidatesIn(one: Said, before: readonly Said[], at: number, wanted: Wanted): Candidate[] {
  const { text } = one;
  const stems = [...new Set([...extractTerms(text), ...(one.by ? splitWords(one.by).map(stem) : [])])];
  const own = coverage(wanted.terms, stems);
  const isOwnName = wanted.names.every((name) => stemsMet(stems, name));
  if (own < MOST_OF_IT && (wanted.names.length === 0 || !slotMet(stems, wanted))) return [];
  const around = [...stems, ...before.flatMap((other) => extractTerms(other.text))];
  if (!wanted.names.every((name) => stemsMet(around, name))) return [];
  // What the messages before say counts for less than what the message says itself.
  const far = isOwnName ? own : coverage(wanted.terms, around) * LESS;
  if (far < MOST_OF_IT * LESS) return [];
  const isMeant = slotMet(stems, wanted);
  return splitSentences(text)
    .flatMap(({ start, end }) => valuesIn(text.slice(start, end), wanted))
    .flatMap(({ value, near }) => {
      const rating = ratingOf(near, wanted, isMeant);
      // A description that is met whole needs no noun beside it: "the draft bid figure", "the draft bid is €800".
      const isWhole = own === 1 && wanted.terms.length > 1;
      const isTold =
        wanted.terms.length > 0
          ? isMeant || isWhole || value.isDistinct
          : slotMet(extractTerms(near), wanted);
      if (!isTold) return [];
      const isPast = PAST.test(near);
      const close = coverage(wanted.terms, extractTerms(near));
      return { ...value, at, close, rating: far + rating, isCurrent: CURRENT.test(near) && !isPast, isPast };
    });
}

/** How well the words around a value fit the description. */
function ratingOf(near: string, wanted: Wanted, isMeant: boolean): number {
  const stems = extractTerms(near);
  const slot = slotMet(stems, wanted) ? 1 : 0.5 * Number(isMeant);
  return 2 * coverage(wanted.terms, stems) + slot;
}

/** The values of the looks wanted, each with the words that it stands among; else the words that the text gives for it. */
function valuesIn(sentence: string, wanted: Wanted): { value: ErasedValue; near: string }[] {
  const looks = new Set(wanted.head?.shapes ?? wanted.slots.flatMap(({ slot }) => slot.shapes));
  const shaped = findShapedValues(sentence).filter(({ shape }) => looks.has(shape));
  if (shaped.length > 0) {
    return shaped.map(({ start, end, text, shape }, i) => ({
      value: valueFrom(text, shape),
      near: around(
        sentence,
        { start, end },
        shaped[i - 1]?.end ?? 0,
        shaped[i + 1]?.start ?? sentence.length,
      ),
    }));
  }
  if (!wanted.slots.some(({ slot }) => slot.isWords)) return [];
  const isPlace = wanted.slots.some(({ slot }) => slot.isPlace);
  return complementsIn(sentence, isPlace).map(({ text, before }) => ({
    value: { text, isDistinct: splitWords(text).length > 2 },
    near: before,
  }));
}

/** From the value before to the next break behind, or to the value behind. */
function around(sentence: string, { start, end }: TextSpan, from: number, to: number): string {
  const behind = sentence.slice(end, to);
  const stop = to < sentence.length ? /[,;.]|\band\b/.exec(behind)?.index : /[;.]/.exec(behind)?.index;
  const before = sentence.slice(from, start).replace(/^[^,;]*?\b(?=and\b)|^[^;]*;/, "");
  return `${before} ${behind.slice(0, stop ?? behind.length)}`;
}

function coverage(terms: readonly string[], stems: readonly string[]): number {
  if (terms.length === 0) return 1;
  return terms.filter((term) => stemsMet(stems, term)).length / terms.length;
}

/** Whether the noun of information stands there, or another one for the same look. */
function slotMet(stems: readonly string[], { slots }: Wanted): boolean {
  return slots.some(({ noun }) => stems.some((one) => isKin(one, noun)));
}

/** Where a value stands in a text, in all the ways in which it can be written. */
export function placesOfValue(text: string, value: ErasedValue): TextSpan[] {
  const places = listSpellings(value).flatMap((variant) => findExactPhrase(text, variant));
  if (!value.isName) return places;
  return places.filter(
    ({ start }) =>
      /^\p{Lu}/u.test(text.slice(start)) && (!value.isBorrowed || BEARS_NAME.test(text.slice(0, start))),
  );
}

const BEARS_NAME = /\b(?:ask(?:ing|ed)? for|alias(?:es)?|names?|named|called|under|nickname)\s+["“'‘]?$/i;
