import type { TextSpan } from "./sentences.ts";
import { toWholeTokens } from "./token-bounds.ts";

/** A stretch that goes, and what stands in its place. */
export interface TextCut extends TextSpan {
  readonly put: string;
}

/** Stands where single words were taken out of a sentence that stays. */
export const GAP_MARK = "[…]";

/**
 * Takes cuts out of a text, and tells where each place of the old text lies in the new one. Overlapping cuts are
 * one. White space left over by a cut without replacement goes with it. A cut that begins or ends inside a word, a number
 * or a code takes the whole of it.
 */
export function cutText(
  text: string,
  cuts: readonly TextCut[],
): { text: string; place(old: number): number } {
  // Merged once more, for two cuts may reach for the same white space.
  const whole = cuts.map((cut) => ({ ...toWholeTokens(text, cut), put: cut.put }));
  const merged = mergeCuts(
    mergeCuts(whole).map((cut) => (cut.put === "" ? extendOverSpace(text, cut) : cut)),
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
    // The wider cut decides what is put: a whole sentence leaves nothing where words leave a gap.
    else if (cut.end > last.end)
      merged[merged.length - 1] = { start: last.start, end: cut.end, put: last.put && cut.put };
  }
  return merged;
}

function extendOverSpace(text: string, { start, end, put }: TextCut): TextCut {
  let to = end;
  while (to < text.length && /\s/.test(text[to] ?? "")) to += 1;
  // At the end of the text the space before the cut is the one left over.
  let from = start;
  if (to === text.length) while (from > 0 && /\s/.test(text[from - 1] ?? "")) from -= 1;
  return { start: from, end: to, put };
}
