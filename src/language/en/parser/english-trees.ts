import { readFileSync } from "node:fs";
import { createWordCache } from "../../../domain/search/search-terms.ts";
import { toBaseForm, toPastTense } from "../../../domain/text/english-forms.ts";
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
    .map((sentence) => ({ ...sentence, tokens: sentence.tokens.map(withPossibleTag) }));
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

/** The words of the trees of a text, in order. Much cheaper than the trees, for what needs no tag and no head. */
export function tokenizeEnglish(text: string): WordSpan[] {
  return getParser().tokenize(text);
}

function getParser(): DependencyParser {
  parser ??= loadParser(readFileSync(MODEL));
  return parser;
}
