import type { ErasedValue } from "../../../domain/erasure-selection.ts";
import { splitWords } from "../../../domain/search/search-terms.ts";
import { findExactPhrase } from "../../../domain/text/phrase-index.ts";
import type { Said } from "./values.ts";
import type { Wanted } from "./wanted.ts";

/** A name of two words and more, with no owner's s. */
const NAME = /\p{Lu}[\p{L}-]+(?:\s+\p{Lu}[\p{L}-]+)+(?!['’]s)/gu;
/** Talk of reaching somebody. */
const REACHING =
  /\b(?:desk|lines?|numbers?|phones?|call(?:s|ed|ing|back|backs)?|contacts?|back-?up|ask(?:ing|s)? for|extension|ext|voicemails?|reach(?:ed)?|message|messages|front desk|temporary|use|using)\b/i;
const MOST = 0.75;

/**
 * The name of a place that was spoken of only as where to reach somebody: "the Elm Lodge desk number". With the number
 * gone it would still tell whose it was. A name that is spoken of otherwise too stays, and so does that of a speaker.
 */
export function contactNames(
  said: readonly Said[],
  phrase: string,
  wanted: Wanted,
  found: readonly ErasedValue[],
): ErasedValue[] {
  const isContact =
    found.some(({ shape }) => shape === "phone") ||
    (found.length === 0 && wanted.head?.shapes[0] === "phone" && wanted.names.length > 1);
  if (!isContact) return [];
  const speakers = new Set(said.flatMap(({ by }) => (by === undefined ? [] : splitWords(by))));
  return Array.from(phrase.matchAll(NAME), ([name]) => name)
    .filter((name) => !splitWords(name).every((word) => speakers.has(word)))
    .filter((name) => {
      const naming = said.filter(({ text }) => findExactPhrase(text, name).length > 0);
      return (
        naming.length > 0 && naming.filter(({ text }) => REACHING.test(text)).length >= MOST * naming.length
      );
    })
    .map((name) => ({ text: name, isDistinct: true, isName: true }));
}
