import { parseEnglish } from "../parser/english-trees.ts";
import { type Clause, findClauses } from "./clauses.ts";
import { createTree, textOf } from "./tree.ts";
import { type Names, subjectWords, type Wording, wordClause } from "./wording.ts";

/** A clause that can be reworded, with its place in the text. */
export interface ReadClause {
  readonly clause: Clause;
  readonly names: Names;
  readonly wording: Wording;
  /** Where the text of its tree begins in the whole text. */
  readonly offset: number;
  readonly start: number;
  readonly end: number;
}

/**
 * The clauses of a text with their wordings, in order. `speaker` is "the user" or a name. `spans` are the parts to read; the whole text
 * by default. "He" and "she" stand for the one person of the speaker's that was the subject before.
 */
export function readClauses(
  text: string,
  speaker: string,
  spans: readonly { readonly start: number; readonly end: number }[] = [{ start: 0, end: text.length }],
): ReadClause[] {
  let people: string[] = [];
  return spans.flatMap(({ start: from, end: to }) =>
    parseEnglish(text.slice(from, to)).flatMap((sentence) => {
      const tree = createTree(sentence, text.slice(from, to));
      return findClauses(tree).flatMap((clause) => {
        const [person] = people;
        const names = { speaker, ...(people.length === 1 && person !== undefined ? { person } : {}) };
        const wording = wordClause(clause, names);
        if (clause.about === "owned")
          people = [...new Set([...people, ownedName(clause, speaker)])].slice(-3);
        const first = tree.tokens[clause.words[0] ?? -1];
        const last = tree.tokens[clause.words.at(-1) ?? -1];
        if (!wording || !first || !last) return [];
        return [{ clause, names, wording, offset: from, start: from + first.start, end: from + last.end }];
      });
    }),
  );
}

/** "my sister Ana" as somebody else says it: "the user's sister Ana". */
function ownedName(clause: Clause, speaker: string): string {
  return textOf(clause.tree, subjectWords(clause))
    .replace(/^(?:my|our)\b/i, `${speaker}'s`)
    .replace(/[\s,]+$/, "");
}
