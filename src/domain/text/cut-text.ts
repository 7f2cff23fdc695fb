import { UNSPACED } from "../search/search-terms.ts";
import type { TextSpan } from "./split-text.ts";

/** A span to remove, and its replacement. */
export interface TextCut extends TextSpan {
  readonly put: string;
}

/** Marks the place of single words removed from a sentence that stays. */
export const GAP_MARK = "[…]";

/**
 * Removes cuts from a text, and maps each old position to the new text. Overlapping cuts are merged. White
 * space left by a cut without replacement is removed too. A cut that begins or ends inside a word, a number
 * or a code removes all of it.
 */
export function cutText(
  text: string,
  cuts: readonly TextCut[],
): { text: string; place(old: number): number } {
  // Merged a second time, because two cuts may extend over the same white space.
  const wholeCuts = cuts.map((cut) => ({ ...toWholeTokens(text, cut), put: cut.put }));
  const merged = mergeCuts(
    mergeCuts(wholeCuts).map((cut) => (cut.put === "" ? extendOverSpace(text, cut) : cut)),
  );
  let made = "";
  let from = 0;
  for (const cut of merged) {
    made += text.slice(from, cut.start) + cut.put;
    from = Math.max(from, cut.end);
  }
  made += text.slice(from);
  return {
    text: made,
    place(old) {
      let shift = 0;
      for (const { start, end, put } of merged) {
        if (old <= start) break;
        if (old < end) return start + shift + put.length;
        shift += put.length - (end - start);
      }
      return old + shift;
    },
  };
}

function mergeCuts(cuts: readonly TextCut[]): TextCut[] {
  const sorted = cuts
    .filter(({ start, end }) => end > start)
    .sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: TextCut[] = [];
  for (const cut of sorted) {
    const last = merged.at(-1);
    if (!last || cut.start >= last.end) merged.push(cut);
    // The wider cut determines the replacement: a whole sentence leaves nothing, words leave a gap.
    else if (cut.end > last.end)
      merged[merged.length - 1] = { start: last.start, end: cut.end, put: last.put && cut.put };
  }
  return merged;
}

function extendOverSpace(text: string, { start, end, put }: TextCut): TextCut {
  let to = end;
  while (to < text.length && /\s/.test(text[to] ?? "")) to += 1;
  // At the end of the text, the space before the cut is the one left over.
  let from = start;
  if (to === text.length) while (from > 0 && /\s/.test(text[from - 1] ?? "")) from -= 1;
  return { start: from, end: to, put };
}

/**
 * Where a text may be cut: not inside a word, a name, a number, an amount, a date, a time, a code, a version
 * or an address. A token is a run of letters and digits with the single marks that join two such runs:
 * "2,350", "12:30", "A-17", "v2.3.1", "Jean-Luc", "Miso's". Scripts without spaces have no tokens and may be
 * cut anywhere.
 */

const LETTER_BEFORE = new RegExp(`[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]$`, "v");
const LETTER_BEHIND = new RegExp(`^[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]`, "v");
/** Marks that join two digits: decimals, thousands, times, dates, shares, phone numbers. */
const JOINS_DIGITS = /^\p{N}[.,:/·'’_\u00a0\u202f\u2009-]\p{N}/u;
/** A space as a thousands separator precedes three digits. Thin spaces have no other use between digits. */
const PARTS_THOUSANDS = /^\p{N}[\u00a0\u202f\u2009](?!\p{N}{3}(?!\p{N}))/u;
/** Marks that join letters and digits in codes, names and contractions. */
const JOINS_LETTERS = /^[\p{L}\p{N}\p{M}][-_'’@][\p{L}\p{N}]/u;
/** A full stop joins if no sentence begins behind it: "v2.3", "pine.io", "U.S.", not "Lisbon.My". */
const JOINS_BY_STOP = /^(?:[\p{L}\p{N}]\.[\p{N}\p{Ll}])/u;
const INITIALS = /(?<![\p{L}\p{N}])\p{Lu}\.\p{Lu}$/u;
/** The distance around a position within which an address is searched. */
const REACH = 256;
const ADDRESSES = [
  /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu,
  /(?:https?:\/\/|www\.)[^\s"'“”<>)]*[^\s"'“”<>).,;:!?]/giu,
];

/** Whether a position in a text is inside a token. */
export function isInsideToken(text: string, place: number): boolean {
  if (place <= 0 || place >= text.length) return false;
  return isJoinedAt(text, place) || isInside(findAddress(text, place), place);
}

/** Widens a span to the whole tokens that it begins or ends in. */
export function toWholeTokens(text: string, span: TextSpan): TextSpan {
  let { start, end } = span;
  if (start >= end) return span;
  start = findAddress(text, start)?.start ?? start;
  end = findAddress(text, end)?.end ?? end;
  while (isJoinedAt(text, start)) start -= 1;
  while (isJoinedAt(text, end)) end += 1;
  return { start, end };
}

function isJoinedAt(text: string, place: number): boolean {
  if (place <= 0 || place >= text.length) return false;
  const before = text.slice(Math.max(0, place - 3), place);
  const behind = text.slice(place, place + 3);
  if (isHalfPair(before, behind)) return true;
  if (LETTER_BEFORE.test(before)) return LETTER_BEHIND.test(behind) || isJoint(text, place);
  return LETTER_BEHIND.test(behind) && isJoint(text, place - 1);
}

function isHalfPair(before: string, behind: string): boolean {
  return /[\ud800-\udbff]$/.test(before) && /^[\udc00-\udfff]/.test(behind);
}

/** Whether the mark at a position joins both of its neighbours. */
function isJoint(text: string, place: number): boolean {
  if (place < 1) return false;
  const around = text.slice(place - 1, place + 2);
  if (PARTS_THOUSANDS.test(text.slice(place - 1, place + 5))) return false;
  if (JOINS_DIGITS.test(around) || JOINS_LETTERS.test(around) || JOINS_BY_STOP.test(around)) return true;
  return INITIALS.test(text.slice(Math.max(0, place - 2), place + 2));
}

/** The e-mail address or link that contains a position. */
function findAddress(text: string, place: number): TextSpan | undefined {
  if (place <= 0 || place >= text.length) return undefined;
  if (/\s$/.test(text.slice(place - 1, place)) || /^\s/.test(text.slice(place, place + 1))) return undefined;
  const from = Math.max(0, place - REACH);
  const near = text.slice(from, place + REACH);
  if (!/[@/]|www\./i.test(near)) return undefined;
  for (const pattern of ADDRESSES) {
    for (const { 0: match, index } of near.matchAll(pattern)) {
      const span = { start: from + index, end: from + index + match.length };
      if (isInside(span, place)) return span;
    }
  }
  return undefined;
}

function isInside(span: TextSpan | undefined, place: number): boolean {
  return span !== undefined && span.start < place && place < span.end;
}

/**
 * Widens the span of a found term to the token that was meant: "Miso" in "Miso's", "covid" in "Covid-19".
 * Undefined if the token is something else: a part of a number ("2" in "2,350"), a number or letter of a code
 * ("17" in "A-17"), an address in a longer one, "don" in "don't".
 */
export function matchWholeTokens(text: string, span: TextSpan): TextSpan | undefined {
  const { start, end } = span;
  const isBrokenBefore = isInsideToken(text, start);
  const isBrokenBehind = isInsideToken(text, end);
  if (!isBrokenBefore && !isBrokenBehind) return span;
  const found = text.slice(start, end);
  // An address is not a part of a longer one: "jo@pine.io" in "jo@pine.io.nz".
  if (/[\p{L}\p{N}](?:@|:\/\/|\.)[\p{L}\p{N}]/u.test(found)) return undefined;
  if (isBrokenBefore && isPartial(/^[\p{L}\p{N}\p{M}]+/u.exec(found)?.[0], text.charAt(start - 1)))
    return undefined;
  // "Formula 1's" and "flat B's" end in a possessive s.
  const isOwner = /^['’]s?(?![\p{L}\p{N}])/u.test(text.slice(end, end + 3));
  if (isBrokenBehind && !isOwner && isPartial(/[\p{L}\p{N}\p{M}]+$/u.exec(found)?.[0], text.charAt(end)))
    return undefined;
  if (/^['’]t\b/iu.test(text.slice(end, end + 3))) return undefined;
  return toWholeTokens(text, span);
}

/**
 * Whether a piece says nothing about the token it is joined to: a number, a single letter, the head of a
 * version.
 */
function isPartial(piece = "", joint: string): boolean {
  if (/^\p{N}+$/u.test(piece) || /^\p{L}$/u.test(piece)) return true;
  return /\p{N}/u.test(piece) && /[.,:]/.test(joint);
}

/** Without the cuts that lie within an earlier one. */
export function dropContained(cuts: readonly TextCut[]): TextCut[] {
  return cuts.filter(
    ({ start, end }, i) => !cuts.slice(0, i).some((other) => other.start <= start && end <= other.end),
  );
}
