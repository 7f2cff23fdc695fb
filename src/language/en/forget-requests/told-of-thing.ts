import type { ErasedValue } from "../../../domain/erasure-selection.ts";
import { splitWords, stem } from "../../../domain/search/search-terms.ts";
import { findExactPhrase } from "../../../domain/text/phrase-index.ts";
import type { Wanted } from "./wanted.ts";

const TELLS =
  /^\s*(?:(?:is|are|was|were)\s+|[:=]\s*)(?<told>(?!the (?:old|former|earlier|same)\b)(?:(?:my|our|the|an?)\s|["“‘']|\p{N}|\p{Lu})[^.!?;]*\S)/u;

/** "the password hint": where "my password hint is …" was said, the last word is part of the noun and no value. */
export function toldOfThing(
  said: readonly { readonly text: string }[],
  word: string,
  { slots }: Pick<Wanted, "slots">,
): ErasedValue[] {
  if (!/^\p{Ll}+$/u.test(word)) return [];
  return said.flatMap(({ text }) =>
    findExactPhrase(text, word).flatMap(({ start, end }) => {
      const before = stem(splitWords(text.slice(0, start)).at(-1) ?? "");
      if (!slots.some(({ noun }) => noun === before)) return [];
      const told = TELLS.exec(text.slice(end))?.groups?.told?.replace(/[.!?;]+$/, "");
      return told === undefined ? [] : [{ text: told, isDistinct: splitWords(told).length > 2 }];
    }),
  );
}
