import { ANIMALS, FEMALE, KIN, MALE } from "../words/lexicon.ts";
import type { Noun } from "../words/nouns.ts";
import { isPersonNoun } from "../words/persons.ts";
import type { Token } from "../words/token.ts";

/** Adjectives that tell nothing apart: "my new phone" is "my phone". */
const ORNAMENTS = new Set(
  "own new old dear poor lovely current beloved little big sweet dumb stupid cute actual very whole entire beautiful wonderful amazing crazy annoying grumpy trusty battered shiny brand-new lazy silly fancy precious darling gorgeous fluffy chubby rescue baby brand upcoming next first-ever good great".split(
    " ",
  ),
);

/** "current account", "baby shower": words that are one with the next. */
function isCompound(token: Token, next: Token | undefined): boolean {
  const pair = `${token.lower} ${next?.lower ?? ""}`;
  return /^(?:current account|baby (?:shower|monitor|name|sitter)|new year|big day|great (?:aunt|uncle|grand\w+)|rescue (?:centre|center|remedy)|first aid)/.test(
    pair,
  );
}

/** The noun that a phrase is about, with what tells it apart: "driving test", "favourite book". Lower case. */
export function headWord(tokens: readonly Token[], noun: Noun): string {
  return headAsWritten(tokens, noun).toLowerCase();
}

/** The same with the capitals of names: "Fiat Panda". Persons, animals and relatives have none, nor what is shouted. */
export function headAsWritten(tokens: readonly Token[], noun: Noun): string {
  const all = noun.words.flatMap((i) => tokens[i] ?? []).map(withOwnNumber);
  const words = all
    .filter(
      (token, i) => i === all.length - 1 || !ORNAMENTS.has(token.lower) || isCompound(token, all[i + 1]),
    )
    .filter((token) => token.class !== "adverb" && token.class !== "number")
    .map(({ word, lower }) => (isShouted(word) || isCommon(lower) ? word.toLowerCase() : word));
  // "old phone" keeps its phone; of a long row of words the last three tell enough.
  return words.slice(-3).join(" ");
}

/** "5k", "10km": the tagger takes them for two words in one place. */
function withOwnNumber(token: Token, at: number, all: readonly Token[]): Token {
  const before = all[at - 1];
  if (before?.class !== "number" || before.start !== token.start) return token;
  return { ...token, word: before.word + token.word, lower: before.lower + token.lower };
}

const isShouted = (word: string): boolean => word.length > 4 && word === word.toUpperCase();

const isCommon = (lower: string): boolean =>
  isPersonNoun(lower) || [ANIMALS, KIN, FEMALE, MALE].some((words) => words.has(lower));

/** The words of a span, as they stand, joined by single spaces. */
export function joinSpan(tokens: readonly Token[], [from, to]: readonly [number, number]): string {
  const parts: string[] = [];
  for (let i = from; i < to; i += 1) {
    const token = tokens[i];
    if (!token) continue;
    const glue = i > from && tokens[i - 1]?.end === token.start && tokens[i - 1]?.after === "" ? "" : " ";
    const inner = i < to - 1 ? token.after.trimEnd() : "";
    parts.push(
      `${i > from ? glue : ""}${token.word}${token.owner && i < to - 1 ? "'s" : ""}${/^[-/]$/.test(inner) ? inner : ""}`,
    );
  }
  return parts
    .join("")
    .replace(/([-/]) /g, "$1")
    .trim();
}
