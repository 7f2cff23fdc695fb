/**
 * A text as the tagger knows texts, of the same length, so that every place holds: straight marks, and marks next to the
 * word before them ("a cat , two dogs ." is "a cat,  two dogs. ").
 */
export function even(text: string): string {
  return text
    .replace(/[’‘`´]/g, "'")
    .replace(/[“”«»]/g, '"')
    .replace(/[\u00A0\t]/g, " ")
    .replace(LOOSE, closed);
}

/** Marks that stand alone between spaces. */
const LOOSE = /(?<=[\p{L}\p{N}'")]) +[,.;:!?…](?: *[,.;:!?…])*(?=\s|$)/gu;

function closed(marks: string): string {
  return marks.replace(/ /g, "").padEnd(marks.length);
}
