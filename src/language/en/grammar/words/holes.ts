import { GAP_MARK } from "../../../../domain/text/cut-text.ts";
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

/** What tells of a mark as if it were a word is told by nobody. */
export function withoutHoles(proposals: readonly Proposal[]): Proposal[] {
  return proposals.filter((one) => one.propose === "erase" || !hasHole(JSON.stringify(one)));
}
