import { createWordCache } from "../../../domain/search/search-terms.ts";
import { splitSentences, type TextSpan } from "../../../domain/text/split-text.ts";
import { parseEnglish } from "../parser/english-trees.ts";
import type { ParsedToken } from "../parser/parser.ts";

/** A clause or an item of a list: the smallest part of a text that is forgotten by itself. */
export interface Segment extends TextSpan {
  /** The sentence that it is part of. */
  readonly sentence: TextSpan;
  /** The words before the colon that opens its list; empty for none. */
  readonly heading: string;
  /** True if it only adds to the segment before: "which is low", "mornings only". */
  readonly isAttached: boolean;
}

const LONGEST = 1200;
const CONNECTOR =
  /^(?:which|who|whose|where|because|cause|cuz|since|so|to|for|with|without|over|though|although|as|after|before|until|than|like|even|especially|including|both|thanks|then|down|up from|from|said|says|saying|told|called|apparently|i think)\b/i;
/** "For Toft 12" is an item of its own. */
const PREPOSITION = /^(?:to|for|with|over|from|like|without|including|both|where|since)\b/i;
const BREAK =
  /\s+[/|•·+]\s+|\s+plus\s+|\s+(?=with (?:my|his|her|our|their|a|an|the|some|two|three) )|\s+(?=who\s)|\.{2,}\s*|…\s*|[,;]\s+(?:(?:and|but|or|so|then)\s+)?|\s+[–—-]\s+|\s*[()]\s*|:\s+|\s+(?:and|but|or|so|then)\s+/giu;

/** More than one request looks at. Each request looks twice: for its preview, and to erase. */
const CACHED_TEXTS = 512;
const CACHED_LENGTH = 4_000;
const cache = createWordCache<readonly Segment[]>();

/**
 * The segments of a text, in order. They do not overlap; the marks between them belong to none. Those of the last 512 short texts
 * are kept until the next erasure.
 */
export function splitSegments(text: string): readonly Segment[] {
  const cached = cache.get(text);
  if (cached !== undefined) return cached;
  const sentences = joinInitials(text, splitSentences(text));
  const segments = sentences.flatMap((sentence) => splitSentence(text, sentence));
  if (text.length > CACHED_LENGTH) return segments;
  if (cache.size >= CACHED_TEXTS) cache.delete(cache.keys().next().value as string);
  cache.set(text, segments);
  return segments;
}

/** "Mila R. is here": an initial ends no sentence. */
function joinInitials(text: string, sentences: readonly TextSpan[]): TextSpan[] {
  const joined: TextSpan[] = [];
  for (const sentence of sentences) {
    const last = joined.at(-1);
    const isInitial = last && /\p{Lu}\p{Ll}+ \p{Lu}\.$/u.test(text.slice(last.start, last.end));
    if (last && isInitial) joined[joined.length - 1] = { start: last.start, end: sentence.end };
    else joined.push(sentence);
  }
  return joined;
}

function splitSentence(text: string, sentence: TextSpan): Segment[] {
  const said = text.slice(sentence.start, sentence.end);
  if (said.length > LONGEST || !/[,;:()–—/|•·+…-]|\.\.|\swho\s|\s(?:and|but|or|so|then)\s/i.test(said)) {
    return [{ ...sentence, sentence, heading: "", isAttached: false }];
  }
  // Most decisions need no tree, and reading trees is nearly all of the work.
  let placed: readonly Placed[] | undefined;
  const tokens: PlacedWords = () => {
    placed ??= parseEnglish(said).flatMap(({ tokens: some }) => some.map((token) => ({ token, of: some })));
    return placed;
  };
  const segments: Segment[] = [];
  let heading = "";
  let from = 0;
  let mark = "";
  const push = (to: number, isHeading: boolean): void => {
    const piece = said.slice(from, to);
    const trimmed = piece
      .trim()
      .replace(/[.!?,;:]+$/, "")
      .replace(/^(?:and|but|or|so|then)\s+/i, "");
    if (!/[\p{L}\p{N}]/u.test(trimmed)) return;
    const start = from + piece.indexOf(trimmed);
    const isAttached =
      segments.length > 0 &&
      ((CONNECTOR.test(trimmed) &&
        !(PREPOSITION.test(trimmed) && /\d|\p{Lu}/u.test(trimmed.replace(CALENDAR, "")))) ||
        (/\bso\b/i.test(mark) && !/^(?:i|we|he|she|they|my)\b/i.test(trimmed)) ||
        (heading === "" && !/^\s+(?:and|or)\s+$/i.test(mark) && isAside(trimmed, start, tokens)));
    segments.push({
      start: sentence.start + start,
      end: sentence.start + start + trimmed.length,
      sentence,
      heading,
      isAttached,
    });
    if (isHeading) heading = trimmed;
  };
  for (const { 0: found, index } of said.matchAll(BREAK)) {
    const isJoint = !isBoundary(found, index, said, tokens);
    if (isJoint && !joinsNouns(found, index, said, tokens)) continue;
    push(index, /:/.test(found));
    from = index + found.length;
    mark = found;
    const trailing = isJoint ? BEHIND_NOUN.exec(said.slice(from)) : null;
    if (!trailing || /[,;:()–—]/.test(trailing[0])) continue;
    push(from + trailing[0].length, false);
    from += trailing[0].length;
    mark = "";
  }
  push(said.length, false);
  return segments;
}

type Placed = { readonly token: ParsedToken; readonly of: readonly ParsedToken[] };
/** The words of a sentence, whose tree is read at the first call. */
type PlacedWords = () => readonly Placed[];

/** Commas part; "and" parts where it joins two statements. */
function isBoundary(mark: string, index: number, said: string, tokens: PlacedWords): boolean {
  if (!/^\s+(?:and|but|or|so|then)\s+$/i.test(mark)) return true;
  const behind = said.slice(index + mark.length);
  if (/^(?:i|we|he|she|they|it|you|my|our|his|her|that|this|there)(?:['’]?\p{L}+)?\s/iu.test(behind))
    return true;
  if (
    /^(?:\p{L}+['’]s|\p{Lu}\p{L}+(?:['’]s)?|(?:the|my|his|her|our|their|a) \p{L}+(?:['’]s)?)(?: \p{L}+)? (?:is|are|was|were|has|have|had|will|can|does|did|do|wants?|needs?|costs?|takes?|works?|lives?|says|said)\b/u.test(
      behind,
    )
  )
    return true;
  // "Zofia is allergic to latex and Karim to penicillin": the verb is left out.
  if (/^\p{Lu}\p{L}+ (?:to|with|on|at|for|in|from|by|has|a|an|the|\d)\b/u.test(behind)) return true;
  const word = index + mark.search(/\S/);
  const placed = tokens().find(({ token }) => token.start <= word && word < token.end);
  const head = placed?.of[placed.token.head];
  if (!placed || !head) return false;
  if (opensStatement(tokens(), word)) return true;
  if (/^(?:VERB|AUX)$/.test(head.pos)) return true;
  if (placed.of.some(({ head: h, label }) => placed.of[h] === head && /^(?:nsubj|cop)/.test(label)))
    return true;
  return /[\d@]/.test(head.text) && /\d|@/.test(behind.slice(0, 40));
}

/** "and Birgit on Monday at 10": what stands behind a joined noun belongs to the whole. */
const BEHIND_NOUN = /^(?:[\p{L}'’-]+\s+){1,3}?(?=(?:on|at|in|about|from|until|till|every|this|next|last)\s)/u;

/** "Arthritis and a bit of gout": each may be forgotten by itself; the second goes with the first. */
function joinsNouns(mark: string, index: number, _said: string, tokens: PlacedWords): boolean {
  if (!/^\s+(?:and|or)\s+$/i.test(mark)) return false;
  const word = index + mark.search(/\S/);
  const placed = tokens().find(({ token }) => token.start <= word && word < token.end);
  const head = placed?.of[placed.token.head];
  if (!placed || !head || !/^(?:NOUN|PROPN)$/.test(head.pos) || head.label !== "conj") return false;
  return head.start > word;
}

const CALENDAR =
  /\b(?:January|February|March|April|May|June|July|August|September|October|November|December|\p{Lu}\p{Ll}+day)\b/gu;

/** Whether a subject with its verb stands right behind a place. */
function opensStatement(tokens: readonly Placed[], place: number): boolean {
  return tokens.some(({ token, of }) => {
    if (!/^nsubj/.test(token.label) || token.start <= place || token.start > place + 40) return false;
    const verb = of[token.head];
    const between = tokens.filter((one) => one.token.start > place && one.token.start < token.start);
    return (
      verb !== undefined && verb.start > token.start && !between.some((one) => one.token.pos === "PUNCT")
    );
  });
}

/** A short remark without a verb, a name or a number. */
function isAside(text: string, start: number, tokens: PlacedWords): boolean {
  if (/\d|\p{Lu}/u.test(text.replace(CALENDAR, "")) || text.split(/\s+/).length > 4) return false;
  if (/^(?:the|a|an|my|our|his|her|their|its|i|we|he|she|they)\b/i.test(text)) return false;
  const words = tokens().filter(({ token }) => token.start >= start && token.end <= start + text.length);
  return !words.some(({ token }) => /^(?:VERB|AUX)$/.test(token.pos));
}
