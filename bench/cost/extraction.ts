import type { ReplyTo } from "../../src/testing/index.ts";
import { keyOf, type Observation } from "./observations.ts";

/** A turn that is to be read, as the prompt of the model extractor shows it. */
const LINE = /^(\d+) \[(\d{4}-\d{2}-\d{2}) \w{3}\] ([^:\n]+): (.*)$/;

/** As long as an answer of two sentences. */
const ANSWER =
  "You told me about that in the spring, when you had just come back from the coast [1]. You wanted to go again in summer [2].";

/** How many items were asked for and given; for the page. */
export interface Given {
  turns: number;
  items: number;
}

/**
 * Answers as a model would: for each observation about a turn that is to be read, one item of the shape that was asked for, as
 * compact JSON; two, where the observation holds two statements. The quote is the sentence of the turn that shares most
 * words with it, fifteen words at most; what is said fills the other fields in the observation's own words.
 */
export function extraction(observations: ReadonlyMap<string, readonly Observation[]>, given: Given): ReplyTo {
  return ({ turns }) => {
    const question = turns.at(-1)?.text.split("\n").at(-1) ?? "";
    if (question.startsWith("The question: ")) return ANSWER;
    const lines = (turns.at(-1)?.text ?? "").split("\n").flatMap((line) => LINE.exec(line) ?? []);
    const items: object[] = [];
    for (let i = 0; i < lines.length; i += 5) {
      const [, number = "", date = "", speaker = "", text = ""] = lines.slice(i, i + 5);
      given.turns += 1;
      for (const one of observations.get(keyOf(speaker, text)) ?? [])
        for (const statement of statementsOf(one))
          items.push(itemOf(Number(number), date, text, one.speaker, statement));
    }
    given.items += items.length;
    return JSON.stringify({ items });
  };
}

/** "Ada paints lakes and she swims on Mondays": two, where each half could stand alone. */
function statementsOf({ speaker, text }: Observation): string[] {
  const plain = text.replace(new RegExp(`^${speaker}(?:'s)? `), "").replace(/\.$/, "");
  const halves = plain.split(
    /,? and (?=(?:is|was|has|had|finds?|feels?|plans?|wants?|enjoys?|hopes?|loves?|\w+ed)\b)/,
  );
  return halves.every((half) => half.split(" ").length >= 4) ? halves : [plain];
}

const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];

function quoteOf(text: string, statement: string): string {
  const wanted = new Set(words(statement));
  const shared = (sentence: string): number => words(sentence).filter((word) => wanted.has(word)).length;
  const sentences = text.match(/[^.!?]+[.!?]*/g) ?? [text];
  const best = [...sentences].sort((one, other) => shared(other) - shared(one))[0] ?? text;
  return /^\s*(?:\S+\s+){0,14}\S+/.exec(best)?.[0].trim() ?? best.trim();
}

function itemOf(turn: number, date: string, text: string, speaker: string, statement: string): object {
  const [first = "is", ...rest] = statement.split(/\s+/);
  const isEvent = /ed$|^(?:went|was|had|did|got|made|saw|took|bought|won|met)$/.test(first);
  const isWish = /^(?:wants?|plans?|hopes?|likes?|loves?|enjoys?|prefers?|finds?)$/.test(first);
  return {
    turn,
    do: "add",
    quote: quoteOf(text, statement),
    who: speaker,
    verb: first.toLowerCase().replace(/[^a-z'-]/g, "") || "be",
    what: rest.slice(0, 8).join(" ") || statement,
    how: rest.slice(8, 16).join(" "),
    kind: isEvent ? "event" : isWish ? "preference" : "fact",
    from: isEvent ? date : "",
    to: "",
    expires: "",
    old: 0,
    sure: 9,
    weight: 5,
  };
}
