/**
 * Made-up conversation from a seeded generator: the same seed says the same. Half of the messages tell something
 * that an extractor can keep, half are small talk; words are drawn so that few are frequent and many are rare, as
 * in real talk.
 */
export interface MadeUp {
  readonly id: string;
  readonly session: string;
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly at: string;
}

const SUBJECTS =
  "sister brother mother father neighbour boss colleague cousin flatmate teacher coach dentist".split(" ");
const VERBS =
  "fixed painted bought sold borrowed found lost visited watched cooked repaired planted moved".split(" ");
const THINGS =
  "bicycle kitchen guitar camera garden ladder kettle carpet lamp mirror bookshelf sofa tent canoe piano drill oven".split(
    " ",
  );
const PLACES = "Porto Leeds Ghent Malmo Turin Bergen Tampere Gdansk Lyon Bilbao Graz Aarhus".split(" ");
const SYLLABLES = "ka lo mi ra ten vo shi qua bel dor fen gri hul jam nor pex sul tra vim wex yor zan".split(
  " ",
);
const TALK = [
  "It rained all {day} and nobody wanted to go out.",
  "Traffic was dreadful near {place} again this {day}.",
  "My {subject} {verb} the {thing} and made quite a mess.",
  "We talked about the {thing} in {place} for an hour.",
];
const FACTS = [
  "I use {name} for my {thing}.",
  "My {subject} lives in {place} and works with {name}.",
  "I bought a {name} {thing} in {place}.",
  "I love {name}, the {thing} shop in {place}.",
];
const DAYS = "morning afternoon evening weekend Monday Tuesday Friday".split(" ");

/** A generator of numbers from 0 to 1 (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function madeUp(count: number, seed: number): MadeUp[] {
  const random = seeded(seed);
  const fill = filler(random);
  return Array.from({ length: count }, (_, i) => ({
    id: `${seed}-${i}`,
    session: `s${Math.floor(i / 20)}`,
    role: i % 4 === 3 ? ("assistant" as const) : ("user" as const),
    content: `${fill(pick(random, i % 4 === 3 ? TALK : i % 2 === 0 ? FACTS : TALK))} ${fill(pick(random, TALK))}`,
    at: new Date(Date.UTC(2024, 0, 1) + i * 600_000).toISOString(),
  }));
}

/** Questions about things that were said, and one in five about what was not. */
export function questions(count: number, said: readonly MadeUp[], seed: number): string[] {
  const random = seeded(seed);
  const fill = filler(random);
  return Array.from({ length: count }, (_, i) => {
    if (i % 5 === 4) return fill("What did my {subject} think of the opera in {name}?");
    const words = (pick(random, said).content.match(/\p{L}{4,}/gu) ?? ["kettle"]).slice(0, 3);
    return `What do I know about ${words.join(" and ")}?`;
  });
}

function filler(random: () => number): (template: string) => string {
  const name = (): string => {
    const word = Array.from({ length: 2 + Math.floor(2 * random()) }, () => pick(random, SYLLABLES)).join("");
    return word.charAt(0).toUpperCase() + word.slice(1);
  };
  const words: { readonly [slot: string]: () => string } = {
    subject: () => pick(random, SUBJECTS),
    verb: () => pick(random, VERBS),
    thing: () => pick(random, THINGS),
    place: () => pick(random, PLACES),
    day: () => pick(random, DAYS),
    name,
  };
  return (template) => template.replace(/\{(\w+)\}/g, (_, slot: string) => words[slot]?.() ?? "");
}

function pick<One>(random: () => number, from: readonly One[]): One {
  return from[Math.floor(random() * from.length)] as One;
}
