import { GAP_MARK } from "./cut-text.ts";
import type { TextSpan } from "./split-text.ts";

/** A span of a text that is read as something else. Without `as` it is skipped. */
export interface TextReplacement extends TextSpan {
  readonly as?: string;
}

/** A rewritten text, with a way back to the original. */
export interface RewrittenText {
  readonly text: string;
  /** Maps a span of `text` to the original, including omitted parts inside it and directly behind it. */
  toOrigin(span: TextSpan): TextSpan;
}

/** Omits or replaces spans of a text. Of two overlapping ones, the first applies. */
export function rewriteText(content: string, rewritings: readonly TextReplacement[]): RewrittenText {
  if (rewritings.length === 0) return { text: content, toOrigin: ({ start, end }) => ({ start, end }) };
  const parts: string[] = [];
  // The start of each kept or inserted piece, in the rewritten and in the original text.
  const marks: { read: number; original: number; isWritten: boolean }[] = [];
  let from = 0;
  let length = 0;
  const put = (text: string, original: number, isWritten: boolean): void => {
    if (text === "") return;
    marks.push({ read: length, original, isWritten });
    parts.push(text);
    length += text.length;
  };
  for (const { start, end, as = "" } of [...rewritings].sort((one, other) => one.start - other.start)) {
    if (start < from) continue;
    put(content.slice(from, start), from, false);
    put(as, start, true);
    from = end;
  }
  put(content.slice(from), from, false);
  const toOriginalPosition = (place: number): number => {
    if (place >= length) return content.length;
    const mark = findLastUpTo(marks, place);
    return mark === undefined ? 0 : mark.original + (mark.isWritten ? 0 : place - mark.read);
  };
  return {
    text: parts.join(""),
    toOrigin: ({ start, end }) => ({ start: toOriginalPosition(start), end: toOriginalPosition(end) }),
  };
}

function findLastUpTo<Mark extends { readonly read: number }>(
  marks: readonly Mark[],
  place: number,
): Mark | undefined {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.read ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return marks[low - 1];
}

/** Marks of Markdown and HTML. Marks in a quote or a code block are skipped by readers and stay marked. */
const TAG =
  /<\/?(?:a|abbr|audio|b|base|big|br|button|center|del|em|embed|font|form|i|iframe|img|input|ins|link|mark|meta|object|s|small|source|span|strike|strong|sub|sup|svg|u|video|wbr)(?:[\s/][^<>]{0,600})?>/gi;
const PROGRAM = /<(script|style)\b[^<>]{0,600}>[\s\S]{0,600}?(?:<\/\1\s*>|$)/gi;
const IMAGE = /!\[[^\]\n]{0,200}\](?:\([^)\n]{0,600}\)|\[[^\]\n]{0,60}\])/g;
const LINK = /\[([^\]\n]{1,200})\](?:\([^)\n]{0,600}\)|\[[^\]\n]{0,60}\])/g;
/** "[1]: https://…" on a line of its own. */
const DEFINED = /^[ \t]*\[[^\]\n]{1,60}\]:[ \t]*<?[a-z][a-z0-9+.-]{1,20}:[^\n]{0,600}$/gim;
const IN_BRACKETS = /<(?:[a-z][a-z0-9+.-]{1,20}:[^<>\s]{1,600})>/gi;
const ACTIVE = /\b(?:javascript|data|vbscript|blob):[^\s<>"')\]]{1,600}/gi;
const ADDRESS =
  /\b(?:[a-z][a-z0-9+.-]{1,20}:\/\/(?:[^\s<>"'`/@]{1,200}@)?|www\.)([^\s<>"'`()[\]/?#]{1,200})([^\s<>"'`()[\]]{0,600})/gi;
/** Attributes whose value is an address. */
const ADDRESSED =
  /\b(?:(?:web|home)[ -]?(?:site|page)|site|page|pages|blog|url|link|links|address|portfolio|repo|repository|profile|channel|feed|shop|store|homepage|github|gitlab|linkedin|mastodon|instagram|youtube|wiki|docs|dashboard|server|endpoint|domain|podcast|newsletter|calendar)\b[^.!?\n]{0,60}$/i;
const NAMED = /\b(?:called|named|name is|name's|is|are|was|am|be)\s*["'“‘(]?$/i;

/**
 * How links are read. A link becomes its words, a tag nothing, an image a gap, a bare address its host. An
 * address is kept if it is the content itself: "My website is https://example.org".
 */
export function findLinks(text: string): TextReplacement[] {
  if (!/[<[]|:\/\/|www\.|:/i.test(text)) return [];
  const without = (forms: readonly RegExp[], as: string): TextReplacement[] =>
    forms.flatMap((form) =>
      Array.from(text.matchAll(form), ({ 0: { length }, index }) => ({
        start: index,
        end: index + length,
        as,
      })),
    );
  const gone = [...without([PROGRAM, DEFINED, TAG], ""), ...without([IMAGE, IN_BRACKETS, ACTIVE], GAP_MARK)];
  const labels = Array.from(text.matchAll(LINK)).flatMap(({ 0: found, 1: label = "", index }) => {
    if (text[index - 1] === "!") return [];
    const behind = index + 1 + label.length;
    return [
      { start: index, end: index + 1 },
      { start: behind, end: index + found.length },
    ];
  });
  const marked = [...gone, ...labels];
  const isMarked = new Uint8Array(text.length);
  for (const { start, end } of marked) isMarked.fill(1, start, end);
  const bare = Array.from(text.matchAll(ADDRESS)).flatMap(({ 0: found, 1: host = "", index }) => {
    const end = index + found.replace(/[.,;:!?]+$/, "").length;
    if (isMarked[index] === 1) return [];
    return rewriteAddress(text, index, end, host);
  });
  return [...marked, ...bare].sort((one, other) => one.start - other.start || other.end - one.end);
}

function rewriteAddress(text: string, start: number, end: number, host: string): TextReplacement[] {
  const before = text.slice(Math.max(0, start - 100), start);
  if (ADDRESSED.test(before)) return [];
  return [
    NAMED.test(before) ? { start, end, as: GAP_MARK } : { start, end, as: host.replace(/[.,;:!?]+$/, "") },
  ];
}
