import type { Item } from "../../domain/recall.ts";
import { extractTerms } from "../../domain/search/search-terms.ts";
import { estimateTokens, splitSentences, type TextSpan } from "../../domain/text/split-text.ts";
import type { PromptGuard } from "../../ports/language/prompt-guard.ts";
import type { MessageSpans } from "../../ports/recall-worker.ts";
import { findInjectionsIn } from "../prompt-block.ts";

/** An item as a context shows it: its text without what no longer holds, and shortened if it is long. */
export interface Excerpt {
  readonly item: Item;
  /** The memories whose words were cut away together with an ended statement. They hold, and are shown instead. */
  readonly spared: readonly string[];
}

/** Of a passage longer than this, only the sentences that matter are shown. */
const MAX_PASSAGE_TOKENS = 120;

interface ExcerptOptions {
  readonly promptGuard: PromptGuard;
  readonly spans: { readonly [message: string]: MessageSpans };
  /** Terms of the request, each with its weight. */
  readonly terms: ReadonlyMap<string, number>;
}

/** The excerpt of an item; undefined if nothing of it may be shown. */
export function toExcerpt(item: Item, options: ExcerptOptions): Excerpt | undefined {
  const source = item.type === "passage" ? item.sources.at(-1) : undefined;
  if (!source) return { item, spared: [] };
  const { ended = [], current = [] } = options.spans[source.message] ?? {};
  const isPlain = ended.length === 0 && estimateTokens(item.text) <= MAX_PASSAGE_TOKENS;
  if (isPlain) return { item, spared: [] };
  const injections = findInjectionsIn(item, options.promptGuard);
  const offset = source.start;
  const inText = (span: TextSpan): TextSpan => ({ start: span.start - offset, end: span.end - offset });
  const endedHere = ended.map(inText);
  const isOver = (one: TextSpan): boolean => endedHere.some((span) => overlaps(span, one));
  const sentences = splitSentences(item.text);
  const kept = sentences.filter((sentence) => !isOver(sentence));
  const spared = current
    .filter((span) => sentences.some((one) => isOver(one) && overlaps(inText(span), one)))
    .filter((span) => !endedHere.some((one) => overlaps(one, inText(span))))
    .map(({ id }) => id);
  // A cut could part the signs of an injection: then only what is not one is kept.
  const safe =
    injections.length > 0 ? kept.filter((one) => !injections.some((span) => overlaps(span, one))) : kept;
  const shown = selectSentences(item.text, safe, current.map(inText), options.terms);
  if (shown.length === 0) return spared.length > 0 ? { item: withText(item, ""), spared } : undefined;
  return { item: withText(item, joinSentences(item.text, shown, sentences)), spared };
}

function overlaps(one: TextSpan, other: TextSpan): boolean {
  return one.start < other.end && other.start < one.end;
}

function withText(item: Item, text: string): Item {
  return { ...item, text };
}

/** The sentences of a long text that matter: those with the request's words or statements, then the first ones. */
function selectSentences(
  text: string,
  sentences: readonly TextSpan[],
  statements: readonly TextSpan[],
  terms: ReadonlyMap<string, number>,
): readonly TextSpan[] {
  const sizes = sentences.map(({ start, end }) => estimateTokens(text.slice(start, end)));
  if (sizes.reduce((sum, size) => sum + size, 0) <= MAX_PASSAGE_TOKENS) return sentences;
  const scored = sentences.map((sentence, i) => {
    const words = new Set(extractTerms(text.slice(sentence.start, sentence.end)));
    let score = statements.some((one) => overlaps(one, sentence)) ? STATEMENT_SCORE : 0;
    for (const [term, weight] of terms) if (words.has(term)) score += weight;
    return { i, score: score - i * POSITION_COST };
  });
  const taken = new Set<number>();
  let tokens = 0;
  for (const { i } of scored.sort((one, other) => other.score - one.score)) {
    const size = sizes[i] as number;
    if (tokens + size > MAX_PASSAGE_TOKENS && taken.size > 0) continue;
    taken.add(i);
    tokens += size;
    if (tokens >= MAX_PASSAGE_TOKENS) break;
  }
  return sentences.filter((_, i) => taken.has(i));
}

const STATEMENT_SCORE = 0.3;
const POSITION_COST = 0.001;

/** Joins sentences; a gap between two is marked. */
function joinSentences(text: string, shown: readonly TextSpan[], all: readonly TextSpan[]): string {
  const place = new Map(all.map((sentence, i) => [sentence, i]));
  let joined = "";
  let last = -1;
  for (const sentence of shown) {
    const at = place.get(sentence) ?? 0;
    const gap = joined === "" ? "" : at === last + 1 ? " " : " … ";
    joined += `${gap}${text.slice(sentence.start, sentence.end)}`;
    last = at;
  }
  return joined;
}
