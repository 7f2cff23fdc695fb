import { GAP_MARK } from "../../../../domain/text/cut-text.ts";
import type { TextSpan } from "../../../../domain/text/split-text.ts";
import type { Proposal } from "../../../../ports/language/extractor.ts";

const HOLE = String.raw`\[…\]`;
const PLACE = "(?:as|for|at|in|on|with|to|by|from|every|each|when|because|since)";
/** Of a list that lost a part: the part's place with the joint before or behind it. */
const LOST = [
  new RegExp(String.raw`,\s*${HOLE}(?=\s*,|\s+(?:and|or)\b)`, "giu"),
  new RegExp(String.raw`,?\s+(?:and|or|&)\s+${HOLE}(?=\s*(?:[.,;:!?)]|$|\s${PLACE}\b))`, "giu"),
  new RegExp(
    String.raw`(?<=\p{L}\s)${HOLE}(?:\s*,|\s+(?:and|or|&))(?=\s+(?!(?:i|we|he|she|they|it|you|my|our|but|so|who|which|that)\b|[^\s,.;]+\s+(?:is|are|was|were|am)\b))`,
    "giu",
  ),
];

/** Whether words were taken out of a text: its mark stands for no word. */
export function hasHole(text: string): boolean {
  return text.includes(GAP_MARK);
}

/** A text whose lists are whole again, as long as before: every place in it stays where it was. */
export function closeHoles(text: string): string {
  return LOST.reduce((left, lost) => left.replace(lost, (found) => " ".repeat(found.length)), text);
}

/** Where a clause may end: what was erased behind it was no part of what stands before it. */
const CLAUSE_END = /[,;()]|\s[-–—]\s|\s(?=(?:and|but|so|because|while|though)\s)/gi;
const JOINS = /^(?:and|but|so|because|while|though)\b/i;
/** So far before a sentence a mark for erased words is looked for, in characters. */
const BESIDE = 9;
/** A longer sentence with a hole is no answer, in characters. */
const MOST_READ = 1000;
/** A clause that tells something has so many words. */
const TELLING_WORDS = 3;

/** The parts of a sentence that say all that they said before words were erased: the whole of most sentences. */
export function besideHoles(content: string, sentence: TextSpan): TextSpan[] {
  const text = content.slice(sentence.start, sentence.end);
  // "[…] and we meet in Camden" continues what was erased.
  const isContinued = hasHole(content.slice(Math.max(0, sentence.start - BESIDE), sentence.start));
  if (isContinued && JOINS.test(text)) return [];
  if (!hasHole(text)) return [sentence];
  if (text.length > MOST_READ) return [];
  if (!hasHole(closeHoles(text))) return [sentence];
  const ends = [...text.matchAll(CLAUSE_END)].flatMap(({ 0: mark, index }) => [index, index + mark.length]);
  const places = [0, ...ends, text.length];
  const runs: { start: number; end: number }[] = [];
  let isOpen = false;
  for (const [i, start] of places.slice(0, -1).entries()) {
    const end = places[i + 1] ?? start;
    const run = runs.at(-1);
    if (hasHole(text.slice(start, end))) isOpen = false;
    else if (isOpen && run) run.end = end;
    else {
      runs.push({ start, end });
      isOpen = true;
    }
  }
  return runs.flatMap((run) => {
    const { start, end } = withoutEdges(text, run);
    const said = text.slice(start, end);
    if (start > 0 && JOINS.test(said)) return [];
    const isTelling = said.split(/\s+/).length >= TELLING_WORDS;
    return isTelling ? [{ start: sentence.start + start, end: sentence.start + end }] : [];
  });
}

const EDGE = /[\s,;()–—-]/;

/** A span without the marks and spaces at its ends, in linear time. */
function withoutEdges(text: string, { start, end }: TextSpan): TextSpan {
  let from = start;
  let to = end;
  while (from < to && EDGE.test(text[from] ?? "")) from += 1;
  while (to > from && EDGE.test(text[to - 1] ?? "")) to -= 1;
  return { start: from, end: to };
}

/** What tells of a mark as if it were a word is told by nobody. */
export function withoutHoles(proposals: readonly Proposal[]): Proposal[] {
  return proposals.filter((one) => one.propose === "erase" || !hasHole(JSON.stringify(one)));
}

const EMOTICONS = /(?<=^|\s)(?:[:;=]['’]?-?[()DPp/|\]*3]+|<3+|[xX]D+|\^\^|-_-)(?=[\s.,!?]|$)/g;

/** Brackets in a sentence, without those that hold figures, dates or names alone (an age, a list of pets) or deny it: "(I'm not)". */
const ASIDE =
  /(?<=\p{L}[^\S\n]?)\((?!\s*(?:\p{Lu}[\p{L}'’-]*(?:\s*(?:,|and|&)\s*|\s(?=\p{Lu})|(?=\s*\))))+\))(?=[^()\n]*\p{L})(?![^()\n]*(?:\b(?:not|never)\b|n['’]t\b))[^()\d\n]{1,160}\)?/gu;

/**
 * A text of the same length with blanks for what stands in brackets beside a sentence: "I work (part time, alas) at the library" tells
 * where, and its clause is whole.
 */
export function withoutAsides(text: string): string {
  return text.replace(ASIDE, (aside) => " ".repeat(aside.length));
}

/** A text of the same length with blanks for its emoticons, so that none ends up in a fact: "I live in Rome :D". */
export function withoutEmoticons(text: string): string {
  return text.replace(EMOTICONS, (face) => " ".repeat(face.length));
}
