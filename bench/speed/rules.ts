import type { InputMessage, Message } from "../../src/index.ts";
import { rulesExtractor } from "../../src/language/en/grammar/rules.ts";

import { person } from "./made-up.ts";
import { type Spread, settle, spreadOf, timeOf } from "./measure.ts";

const WARM = 300;
const MEASURED = 1000;
/** How many turns before it a message is read with. */
const EARLIER = 6;

/** What people write to an assistant, short: it is filled with other words each time. */
const SHORT = [
  "I live in {place} and work as a {word} teacher.",
  "my sister {name} has a {word} called {name}",
  "I'm allergic to {word}.",
  "I don't use the {word} anymore, I switched to {word}.",
  "What do you know about my {word}?",
  "thanks, that helps a lot",
  "If I had a {word} I'd never leave {place}.",
  "We moved to {place} last month, sorry, I mean {place}.",
  "I love {word} and {word}, but I can't stand {word}.",
  "My boss {name} wants the {word} by Friday.",
];
const PLACES = ["Porto", "Ghent", "Turin", "Graz", "Lyon", "Leeds"];
const NAMES = ["Ana", "Ben", "Elif", "Hugo", "Lena", "Omar"];

/** The time of the rules alone, of one short message: nothing is stored, embedded or searched. */
export async function rulesOf(): Promise<Spread> {
  const extractor = rulesExtractor();
  const messages = Array.from({ length: WARM + MEASURED }, (_, i) => messageOf(i));
  const taken: number[] = [];
  settle();
  for (const [i, message] of messages.entries()) {
    const earlier = messages.slice(Math.max(0, i - EARLIER), i);
    const reading = { messages: [message], earlier, known: [] };
    const time = await timeOf(() => extractor.propose(reading));
    // What an assistant says is not read at all, and would make the time look shorter than it is.
    if (i >= WARM && message.role === "user") taken.push(time);
  }
  return spreadOf(taken);
}

/** One half are templates filled anew, the other half are the made-up messages of the other figures. */
function messageOf(number: number): Message {
  const turn = person(7).turn(number);
  const content = number % 2 === 0 ? filled(number, contentOf(turn)) : contentOf(turn);
  const at = new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString();
  const { role } = turn;
  const origin = role === "user" ? "user_message" : "assistant_message";
  return { id: `r${number}`, turn: number + 1, role, content, origin, at, storedAt: at, digest: "pending" };
}

function contentOf({ content }: InputMessage): string {
  return typeof content === "string" ? content : "";
}

function filled(number: number, words: string): string {
  const drawn = words.match(/[a-z]{5,}/g) ?? ["kettle"];
  const one = (from: readonly string[], at: number): string => from[at % from.length] ?? "";
  let at = number;
  return one(SHORT, number / 2).replace(/\{(word|place|name)\}/g, (_all, kind: string) => {
    at += 1;
    return one(kind === "place" ? PLACES : kind === "name" ? NAMES : drawn, at);
  });
}
