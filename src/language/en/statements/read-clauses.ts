import { parseEnglish } from "../parser/english-trees.ts";
import { findClauses, type ParsedClause } from "./clauses.ts";
import { createTree, toTreeText } from "./tree.ts";
import { type ClauseWording, type Names, subjectWords, wordClause } from "./wording.ts";

/** A clause that can be reworded, with its place in the text. */
export interface ReadClause {
  readonly clause: ParsedClause;
  readonly names: Names;
  readonly wording: ClauseWording;
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
  const people: string[] = [];
  return spans.flatMap(({ start, end }) => {
    const part = text.slice(start, end);
    return parseEnglish(part).flatMap((sentence) => {
      const tree = createTree(sentence, part);
      return findClauses(tree).flatMap(
        (clause) => readClause(clause, { speaker, people, offset: start }) ?? [],
      );
    });
  });
}

interface Reading {
  readonly speaker: string;
  /** The speaker's people that were subjects before, as names; read clauses add theirs. */
  readonly people: string[];
  readonly offset: number;
}

function readClause(clause: ParsedClause, { speaker, people, offset }: Reading): ReadClause | undefined {
  const [person] = people;
  const names = { speaker, ...(people.length === 1 && person !== undefined ? { person } : {}) };
  const wording = wordClause(clause, names);
  const owned = clause.about === "owned" ? ownedName(clause, speaker) : undefined;
  if (owned !== undefined && !people.includes(owned)) people.push(owned);
  const first = clause.tree.tokens[clause.words[0] ?? -1];
  const last = clause.tree.tokens[clause.words.at(-1) ?? -1];
  if (!wording || !first || !last) return undefined;
  return { clause, names, wording, offset, start: offset + first.start, end: offset + last.end };
}

/** "my sister Ana" as somebody else says it: "the user's sister Ana". */
function ownedName(clause: ParsedClause, speaker: string): string {
  return toTreeText(clause.tree, subjectWords(clause))
    .replace(/^(?:my|our)\b/i, `${speaker}'s`)
    .replace(/[\s,]+$/, "");
}
