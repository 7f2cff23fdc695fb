import { readFileSync } from "node:fs";
import { toBaseForm } from "../../../domain/search/base-forms.ts";
import { createWordCache } from "../../../domain/search/search-terms.ts";
import { toPastTense } from "../word-forms.ts";
import { type DependencyParser, loadParser, type ParsedSentence, type ParsedToken } from "./parser.ts";
import type { WordSpan } from "./tokenizer.ts";

const MODEL = new URL("../../../../assets/parser-en.bin", import.meta.url);
const CACHED_TEXTS = 64;
const CACHED_LENGTH = 4_000;

let parser: DependencyParser | undefined;
const cache = createWordCache<readonly ParsedSentence[]>();

/**
 * The sentences of a text as trees, by the model of this package. The first call reads the model, in some 20 ms. The trees of the last
 * 64 short texts are kept until the next erasure.
 */
export function parseEnglish(text: string): readonly ParsedSentence[] {
  const cached = cache.get(text);
  if (cached !== undefined) return cached;
  const sentences = getParser()
    .parse(text)
    .map((sentence) => ({
      ...sentence,
      tokens: sentence.tokens.map(withPossibleTag).map(asRelative).map(asCompound),
    }));
  if (text.length > CACHED_LENGTH) return sentences;
  if (cache.size >= CACHED_TEXTS) cache.delete(cache.keys().next().value as string);
  cache.set(text, sentences);
  return sentences;
}

/** "I brew beer": the parser takes rare verbs for a past that they do not have. */
function withPossibleTag(token: ParsedToken): ParsedToken {
  const { tag, lower } = token;
  const isPresent = tag === "VBD" && toBaseForm(lower) === lower && toPastTense(lower) !== lower;
  return isPresent ? { ...token, tag: "VBP" } : token;
}

/** "I'm on statins, which I take at night": the parser takes some clauses that hang on a noun for one beside its sentence. */
function asRelative(token: ParsedToken, at: number, tokens: readonly ParsedToken[]): ParsedToken {
  const noun = tokens[token.head];
  if (token.label !== "parataxis" || token.head > at || !/^(?:NOUN|PROPN)$/.test(noun?.pos ?? ""))
    return token;
  const which = tokens.findIndex(({ head, tag }, i) => i < at && head === at && tag === "WDT");
  const isBehindNoun = which - 2 === token.head && tokens[which - 1]?.lower === ",";
  return isBehindNoun ? { ...token, label: "acl:relcl" } : token;
}

/** "married a show jumper": two bare nouns side by side are one thing, and the last is its head. */
function asCompound(token: ParsedToken, at: number, tokens: readonly ParsedToken[]): ParsedToken {
  const first = isFirstOfCompound(tokens, at) ? at : isFirstOfCompound(tokens, at - 1) ? at - 1 : -1;
  if (first === at) return { ...token, head: at + 1, label: "compound" };
  if (first === at - 1 && first >= 0) {
    const { head = -1, label = "obj" } = tokens[first] ?? {};
    return { ...token, head, label };
  }
  const isArticle = token.head === at + 1 && isFirstOfCompound(tokens, at + 1);
  return isArticle ? { ...token, head: at + 2 } : token;
}

const NOUN_TAG = /^NNP?$/;

/** "a show" before "jumper", which the parser hangs on the same verb. */
function isFirstOfCompound(tokens: readonly ParsedToken[], at: number): boolean {
  const article = tokens[at - 1];
  const first = tokens[at];
  const second = tokens[at + 1];
  if (!article || !first || !second || !/^an?$/.test(article.lower) || article.head !== at) return false;
  return (
    first.label === "obj" &&
    second.head === first.head &&
    /^(?:obj|obl|xcomp|obl:unmarked)$/.test(second.label) &&
    [first, second].every(({ tag, text, lower }) => NOUN_TAG.test(tag) && text === lower) &&
    second.start === first.end + 1 &&
    !isDayOrMonth(second.lower) &&
    !tokens.some(({ head }, i) => head === at + 1 && i < at + 1)
  );
}

const isDayOrMonth = (word: string): boolean =>
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|today|yesterday|tomorrow|tonight|home)$/.test(
    word,
  );

/** The words of the trees of a text, in order. Much cheaper than the trees, for what needs no tag and no head. */
export function tokenizeEnglish(text: string): WordSpan[] {
  return getParser().tokenize(text);
}

function getParser(): DependencyParser {
  parser ??= loadParser(readFileSync(MODEL));
  return parser;
}
