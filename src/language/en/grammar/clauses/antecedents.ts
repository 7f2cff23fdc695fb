import { toSingular } from "../../word-forms.ts";
import { type Context, tidy } from "../context.ts";
import { tagSentences } from "../words/tagger.ts";
import type { Stretch, Token } from "../words/token.ts";
import { clausesOf } from "./clauses.ts";
import { phrasesOf } from "./phrases.ts";

const LOOKED_AT = 200;
const PLURAL = /^(?:them|those|these|they)$/;
const NO_THING =
  /^(?:you|i|me|we|us|he|him|she|her|it|them|they|this|that|these|those|what|who|which|something|anything|everything|nothing|one|ones|lot|lots|time|times|day|days|way|thing|things|kind|kinds|sort|fun|people|person|guy|guys|man|friend|friends|mine|yours|myself|yourself|question|today|weekend|there|here)$/;

/** "Do you like to cook?": a doing, or a thing, by the question for it. */
const LIKED =
  /\b(?:you|u|ya) (?:guys |also |even |ever |still )*(?:not )?(?:like|love|enjoy|play|watch|read|listen to|eat|drink|into|a fan of) (?<what>(?!it\b|them\b|that\b|me\b|this\b|any(?:thing)?\b|what\b|or\b)[^,;.!?]{3,40}?)(?: too| much| as well| at all| either| then)?[\s?.!]*$/i;

/**
 * What "it" or "them" stands for, in the same message right before: the last thing of the sentence before, where it
 * agrees in number. Undefined where there is none, or where it would be a guess.
 */
export function antecedent(context: Context, pronoun: string, start: number): string | undefined {
  const before = context.content.slice(Math.max(0, start - LOOKED_AT), start);
  const sentence = /([^.!?\n]+[.!?]*[\s.!?]*)$/.exec(before)?.[1] ?? before;
  const asked = LIKED.exec(sentence.trim())?.groups?.what;
  if (asked !== undefined) return cleaned(asked);
  for (const tokens of tagSentences(sentence.trim()).slice(-1)) {
    for (const things of thingsOf(tokens).reverse()) {
      const agreeing = things.filter(({ item }) => agrees(tokens, item, pronoun));
      // "I use Linear at work and I hate it": not work. "I went to the opera with Bo and loved it": not Bo.
      const thing = agreeing.findLast(({ isObject }) => isObject) ?? agreeing[0];
      if (thing) return textOf(sentence.trim(), tokens, thing.item);
    }
  }
  return undefined;
}

interface Thing {
  readonly item: Stretch;
  /** Whether it is what the verb acts on, and no place or company of it. */
  readonly isObject: boolean;
}

/** The noun phrases behind each verb, or all of a sentence without one. */
function thingsOf(tokens: readonly Token[]): Thing[][] {
  const clauses = clausesOf(tokens);
  const stretches: readonly Stretch[] =
    clauses.length === 0 ? [[0, tokens.length]] : clauses.map(({ rest }) => rest);
  return stretches.map((rest) =>
    phrasesOf(tokens, ...rest).flatMap(({ kind, head, items }) => {
      const isObject = kind === "noun";
      const isTold = isObject || (kind === "preposition" && /^(?:to|of|with|about|at)$/.test(head ?? ""));
      return isTold ? items.slice(-1).map((item) => ({ item, isObject })) : [];
    }),
  );
}

function agrees(tokens: readonly Token[], [from, to]: Stretch, pronoun: string): boolean {
  const head = tokens[to - 1];
  if (!head || NO_THING.test(head.lower) || head.class === "pronoun" || head.class === "possessive")
    return false;
  if (tokens[from]?.class === "possessive" && /^(?:your|his|her|their)$/.test(tokens[from]?.lower ?? ""))
    return false;
  const isMany = toSingular(head.lower) !== head.lower || head.class === "name";
  return PLURAL.test(pronoun) ? isMany : head.class === "name" || toSingular(head.lower) === head.lower;
}

function textOf(text: string, tokens: readonly Token[], [from, to]: Stretch): string | undefined {
  const thing = text.slice(tokens[from]?.start ?? 0, tokens[to - 1]?.end ?? 0);
  // "a van" that was told of is "the van" then.
  return cleaned(thing.replace(/^an? (?=\S)/i, "the "));
}

function cleaned(text: string): string | undefined {
  const words = tidy(text)
    .replace(/^(?:any|some|a|an|much|many|a lot of|lots of) (?=\S)/i, "")
    .replace(/^[Tt]he (?=\p{Lu})/u, "");
  return words === "" || words.split(" ").length > 5 ? undefined : words;
}
