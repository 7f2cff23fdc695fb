import type { Item } from "../../domain/recall.ts";
import { extractTerms } from "../../domain/search/search-terms.ts";
import { estimateTokens, spansOverlap, splitSentences, type TextSpan } from "../../domain/text/split-text.ts";
import type { PromptGuard } from "../../ports/language/prompt-guard.ts";
import type { MessageSpans } from "../../ports/recall-worker.ts";
import { findInjectionsIn } from "../prompt-block.ts";

/** An item as a context shows it: its sentences without what no longer holds. */
export interface Excerpt {
  readonly item: Item;
  /** The sentences of its text, and those of them that may be shown. */
  readonly sentences: readonly TextSpan[];
  readonly shown: readonly TextSpan[];
  /** Statements read from it, by their spans in its text. */
  readonly statements: readonly TextSpan[];
  /** The memories whose words were cut away together with an ended statement. They hold, and are shown instead. */
  readonly spared: readonly string[];
}

/** Of a passage longer than this, only the sentences that matter are shown. */
const MAX_PASSAGE_TOKENS = 120;

interface ExcerptOptions {
  readonly promptGuard: PromptGuard;
  readonly spans: { readonly [message: string]: MessageSpans };
}

/** The sentences of an item that may be shown: those with an ended statement are cut away. */
export function toExcerpt(item: Item, { promptGuard, spans }: ExcerptOptions): Excerpt {
  const source = item.type === "passage" ? item.sources.at(-1) : undefined;
  const whole = [{ start: 0, end: item.text.length }];
  if (!source) return { item, sentences: whole, shown: whole, statements: [], spared: [] };
  const { ended = [], current = [] } = spans[source.message] ?? {};
  const inText = (span: TextSpan): TextSpan => ({
    start: span.start - source.start,
    end: span.end - source.start,
  });
  const sentences = splitSentences(item.text);
  const over = ended.map(inText);
  const isOver = (one: TextSpan): boolean => over.some((span) => spansOverlap(span, one));
  const kept = sentences.filter((sentence) => !isOver(sentence));
  const spared = current
    .filter((span) => sentences.some((one) => isOver(one) && spansOverlap(inText(span), one)))
    .map(({ id }) => id);
  // A cut could part the signs of an injection, so a text that holds one keeps none of its sentences.
  const isCut = kept.length < sentences.length || estimateTokens(item.text) > MAX_PASSAGE_TOKENS;
  const injections = isCut ? findInjectionsIn(item, promptGuard) : [];
  const shown = kept.filter((one) => !injections.some((span) => spansOverlap(span, one)));
  return { item, sentences, shown, statements: current.map(inText), spared };
}

/** The item with the text that is shown; undefined if there is none. `terms`: of the request, with their weights. */
export function toShownItem(
  { item, sentences, shown, statements }: Excerpt,
  terms: ReadonlyMap<string, number>,
): Item | undefined {
  if (shown.length === 0) return undefined;
  const selected = selectSentences(item.text, shown, statements, terms);
  if (selected.length === sentences.length) return item;
  return { ...item, text: joinSentences(item.text, selected, sentences) };
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
    let score = statements.some((one) => spansOverlap(one, sentence)) ? STATEMENT_SCORE : 0;
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
