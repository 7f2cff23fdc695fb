import type { Claim, InputMessage } from "../../src/index.ts";
import { pick, type Random, seeded, vocabulary } from "./vocabulary.ts";

/** A message that somebody might have written, and the one memory that is in it. */
export interface MadeUp {
  readonly id: string;
  readonly session: string;
  readonly role: "user";
  readonly content: string;
  readonly at: string;
  readonly memory: {
    readonly text: string;
    readonly claim: Claim;
    /** Where it stands in the content. */
    readonly start: number;
    readonly end: number;
  };
}

/** Everything that a made-up user says and asks, by number: the same number gives the same. */
export interface MadeUpPerson {
  readonly name: string;
  said(number: number): MadeUp;
  /** A turn of a conversation: half tell something, the others are questions, small talk, and an assistant's words. */
  turn(number: number): InputMessage;
  /** A question about one of the first `count` messages; one in five is about what was never said. */
  question(number: number, count: number): string;
}

const PEOPLE =
  "sister brother mother father neighbour boss colleague cousin flatmate teacher coach dentist".split(" ");
const PLACES = "Porto Leeds Ghent Malmo Turin Bergen Tampere Gdansk Lyon Bilbao Graz Aarhus".split(" ");
const NAMES = "Ana Ben Carla Dmitri Elif Farid Greta Hugo Ines Jonas Kemal Lena Marco Nadia Omar Petra".split(
  " ",
);
const VERBS: readonly (readonly [past: string, base: string])[] = [
  ["bought", "buy"],
  ["sold", "sell"],
  ["found", "find"],
  ["painted", "paint"],
  ["repaired", "repair"],
  ["borrowed", "borrow"],
  ["watched", "watch"],
  ["planned", "plan"],
  ["ordered", "order"],
  ["finished", "finish"],
  ["visited", "visit"],
  ["recommended", "recommend"],
];
const TAILS = [
  "It was about the {word} and the {word}, more or less.",
  "Nobody expected the {word} {word}.",
  "We talked about {word} for an hour.",
  "The {word} was much better than the {word}.",
  "Now I need a {word} as well.",
  "I was thinking of {word} the whole {word}.",
];
const TALK = [
  "How do people choose a {word} these days? There are so many.",
  "Could you tell me more about {word} and {word}, please?",
  "Thanks, that helps. It rained all day and nobody wanted to see the {word}.",
  "What would you say to somebody who is afraid of {word}?",
  "Ha, that sounds like a {word} to me! And what about the {word}?",
];
const REPLIES = [
  "Sure. A {word} is mostly a question of {word}; start with something small and see how it goes.",
  "That sounds good! Would you like a few ideas for the {word}?",
  "There are three things to look at: the {word}, the {word} and the price. The {word} matters most.",
];
const SESSION = 20;
const MINUTES = 10;
const FIRST_DAY = Date.UTC(2024, 0, 1);

export function person(user: number): MadeUpPerson {
  const draw = vocabulary(user);
  const randomAt = (kind: number, number: number): Random =>
    seeded(Math.imul(user, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b) ^ kind);
  const said = (number: number): MadeUp => {
    const random = randomAt(1, number);
    const fact = factOf(random, draw);
    const tail = worded(pick(random, TAILS), () => draw(random));
    return {
      id: `${user}-${number}`,
      session: `s${Math.floor(number / SESSION)}`,
      role: "user",
      content: `${fact.said} ${tail}`,
      at: new Date(FIRST_DAY + number * MINUTES * 60_000).toISOString(),
      memory: { text: fact.text, claim: fact.claim, start: 0, end: fact.said.length },
    };
  };
  return {
    name: `user-${user}`,
    said,
    turn(number) {
      const { memory: _memory, ...message } = said(number);
      const random = randomAt(3, number);
      const talk = (from: readonly string[]): string => worded(pick(random, from), () => draw(random));
      if (number % 4 === 1) return { ...message, content: talk(TALK) };
      if (number % 4 === 3) return { ...message, role: "assistant", content: talk(REPLIES) };
      return message;
    },
    question(number, count) {
      const random = randomAt(2, number);
      const about = said(Math.floor(random() * count));
      return questionOf(random, draw, about, number % 5 === 4);
    },
  };
}

function worded(template: string, word: () => string): string {
  return template.replaceAll("{word}", word);
}

function factOf(random: Random, draw: (random: Random) => string) {
  const who = random() < 0.5 ? undefined : pick(random, PEOPLE);
  const [past, base] = pick(random, VERBS);
  const value = `the ${draw(random)} ${draw(random)}`;
  const where = pick(random, [
    `in ${pick(random, PLACES)}`,
    `with ${pick(random, NAMES)}`,
    `for the ${draw(random)}`,
  ]);
  const claim = { subject: who ? `user/${who}` : "user", relation: base, value, qualifier: where };
  return {
    claim,
    said: `${who ? `My ${who}` : "I"} ${past} ${value} ${where}.`,
    text: `The user${who ? `'s ${who}` : ""} ${past} ${value} ${where}.`,
  };
}

function questionOf(
  random: Random,
  draw: (random: Random) => string,
  { memory, content }: MadeUp,
  isStrange: boolean,
): string {
  const { claim } = memory;
  if (isStrange)
    return `What did ${pick(random, NAMES)} think of the ${draw(random)} opera in ${draw(random)}?`;
  const who = claim.subject.startsWith("user/") ? `my ${claim.subject.slice(5)}` : "I";
  const words = content.match(/[a-z]{5,}/g) ?? [];
  return pick(random, [
    `What did ${who} ${claim.relation} ${claim.qualifier}?`,
    `When did ${who} ${claim.relation} ${claim.value}?`,
    `What do I know about ${claim.value} and the ${draw(random)}?`,
    `${pick(random, words)} ${pick(random, words)} ${draw(random)}`,
    `Who said something about ${pick(random, words)} ${claim.qualifier}?`,
  ]);
}
