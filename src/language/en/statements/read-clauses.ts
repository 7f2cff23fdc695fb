import { FEMALE, FIRST_PERSON, FIRST_POSSESSIVE, KIN, MALE } from "../grammar/words/lexicon.ts";
import { isPersonNoun } from "../grammar/words/persons.ts";
import { parseEnglish } from "../parser/english-trees.ts";
import { toSingular } from "../word-forms.ts";
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
  let told: LastSubject = "speaker";
  return spans.flatMap(({ start, end }) => {
    const part = text.slice(start, end);
    return parseEnglish(part).flatMap((sentence) => {
      const tree = createTree(sentence, part);
      const clauses = findClauses(tree);
      if (clauses.length === 0 && tree.tokens[0]?.lower === "its") told = "thing";
      const own = clauses.filter((clause) => {
        const isOthers = isElidedByOther(clause, told);
        told = toldOf(clause, told);
        return !isOthers;
      });
      return own.flatMap((clause) => readClause(clause, { speaker, people, offset: start }) ?? []);
    });
  });
}

/** Of whom the clause before was told. */
type LastSubject = "speaker" | "thing" | "other";

/** "Dad is home. Moaning about the food": where somebody else was spoken of, a clause without a subject may be theirs. */
function isElidedByOther({ about, tree, words, head }: ParsedClause, told: LastSubject): boolean {
  if (about !== "dropped") return false;
  const lower = words.map((i) => tree.tokens[i]?.lower ?? "");
  if (/\b(?:his|her|their|its) own\b|\b(?:him|her|it|them)sel(?:f|ves)\b/.test(lower.join(" "))) return true;
  if (lower.some((word) => FIRST.has(word))) return false;
  return (
    told === "other" ||
    (told === "thing" && /^(?:came|arrived|landed|appeared)$/.test(tree.tokens[head]?.lower ?? ""))
  );
}

/** Of whom a clause is told. One without a subject tells on of the same, and one that hangs on another does not count. */
function toldOf({ role, about, tree, subject }: ParsedClause, before: LastSubject): LastSubject {
  if (about === "dropped" || !/^(?:root|conj|parataxis)$/.test(role)) return before;
  if (about === "speaker" || about === "group") return "speaker";
  const token = tree.tokens[subject ?? -1];
  const noun = toSingular(token?.lower ?? "");
  const isPerson = isPersonNoun(noun) || [KIN, FEMALE, MALE].some((words) => words.has(noun));
  const isNamed = about === "owned" && token?.pos === "PROPN";
  return noun === "he" || noun === "she" || isPerson || isNamed ? "other" : "thing";
}

const FIRST = new Set([...FIRST_PERSON, ...FIRST_POSSESSIVE]);

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
