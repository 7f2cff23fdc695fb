/**
 * A text as the tagger knows texts, of the same length, so that every place holds: straight marks, and marks next to the
 * word before them ("a cat , two dogs ." is "a cat,  two dogs. ").
 */
export function even(text: string): string {
  return text
    .replace(/[’‘`´]/g, "'")
    .replace(/[“”«»]/g, '"')
    .replace(/[\u00A0\t]/g, " ")
    .replace(IN_LAW, "$1-in-law")
    .replace(LOOSE, closed)
    .replace(
      NUMBERED,
      (_all, mark: string, space: string, number: string) => `${mark}_${space.replace(" ", "_")}${number}`,
    );
}

/** "mother in law": one word, and not a mother. */
const IN_LAW = /\b((?:mother|father|sister|brother|son|daughter)s?) in law\b/gi;

/** "Symphony No. 5": one word, and no end of a sentence. */
const NUMBERED = /\b(No|[Nn]r|[Oo]p|no(?=\. ?\d+(?! \p{Ll}{3}| \p{Ll}+s\b)))\.( ?)(\d+)/gu;

/** Marks that stand alone between spaces. */
const LOOSE = /(?<=[\p{L}\p{N}'")]) +[,.;:!?…](?: *[,.;:!?…])*(?=\s|$)/gu;

function closed(marks: string): string {
  return marks.replace(/ /g, "").padEnd(marks.length);
}
