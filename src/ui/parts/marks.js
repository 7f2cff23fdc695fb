import { make } from "./make.js";

/** Splits a text at the places of `spans`, `[start, end]` in order, and puts the places into elements of `tag`. */
export function markSpans(text, spans, tag = "mark") {
  const parts = [];
  let from = 0;
  for (const [start, end] of spans) {
    if (start < from || end > text.length) continue;
    parts.push(text.slice(from, start), make(tag, {}, text.slice(start, end)));
    from = end;
  }
  parts.push(text.slice(from));
  return parts.filter((part) => part !== "");
}

/** Marks what a search matched: words that begin like one of `words`, whatever their case and accents. */
export function markWords(text, words) {
  const wanted = [...new Set(words.map(fold))].filter((word) => word.length > 0);
  if (wanted.length === 0) return [text];
  const spans = [...text.matchAll(/[\p{L}\p{N}]+/gu)]
    .filter(([word]) => wanted.some((one) => isAlike(fold(word), one)))
    .map(({ 0: word, index }) => [index, index + word.length]);
  return markSpans(text, spans);
}

/** "tools" for "tool", "living" for "live": the longer begins with the shorter, without its last letter. */
function isAlike(word, wanted) {
  const [short, long] = word.length < wanted.length ? [word, wanted] : [wanted, word];
  const stem = short.length > 3 ? short.slice(0, -1) : short;
  return word === wanted || (short.length > 2 && long.startsWith(stem) && long.length - short.length <= 3);
}

function fold(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
