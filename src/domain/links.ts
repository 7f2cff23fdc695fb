import { GAP_MARK } from "./cut.ts";
import type { TextReplacement } from "./read-text.ts";

/** Marks of form and of pages. What stands in a quote or a block of code is passed over by whoever reads, and stays marked. */
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
/** Whose value is an address: then it is one, as a whole. */
const ADDRESSED =
  /\b(?:(?:web|home)[ -]?(?:site|page)|site|page|pages|blog|url|link|links|address|portfolio|repo|repository|profile|channel|feed|shop|store|homepage|github|gitlab|linkedin|mastodon|instagram|youtube|wiki|docs|dashboard|server|endpoint|domain|podcast|newsletter|calendar)\b[^.!?\n]{0,60}$/i;
const NAMED = /\b(?:called|named|name is|name's|is|are|was|am|be)\s*["'“‘(]?$/i;

/**
 * How links are read. Of a link, its words; of a tag, nothing; of a picture, a gap that is no word; of a bare address, the host. An address stays whole
 * where it is what is told: "My website is https://example.org".
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
