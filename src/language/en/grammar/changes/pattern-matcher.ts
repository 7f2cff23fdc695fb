import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import type { ParsedSentence, ParsedToken } from "../../parser/parser.ts";
import type { WordSpan } from "../../parser/tokenizer.ts";

/** A word of a pattern. */
interface PatternStep {
  readonly words: ReadonlySet<string>;
  readonly isOptional: boolean;
}

/** A pattern in parts: who is the subject, the words in order, and whether `O` follows them. */
export interface WordPattern {
  readonly subject: string;
  /** What the subject has to be. */
  readonly kinds: ReadonlySet<string> | undefined;
  readonly steps: readonly PatternStep[];
  readonly hasObject: boolean;
  readonly isObjectOptional: boolean;
  /** Whether what was done with whom or where may not follow. */
  readonly isClosed: boolean;
}

/** Reads a pattern of the table of life events. */
export function compilePattern(pattern: string): WordPattern {
  const [first = "S", ...words] = pattern.split(" ");
  const [subject = "S", kinds] = first.split(":");
  const last = words.at(-1) ?? "";
  const hasObject = last === "O" || last === "O?";
  const isClosed = last === ".";
  const steps = (hasObject || isClosed ? words.slice(0, -1) : words).map((word) => ({
    words: new Set(word.replace("?", "").split("|")),
    isOptional: word.endsWith("?"),
  }));
  return {
    subject,
    kinds: kinds === undefined ? undefined : new Set(kinds.split("|")),
    steps,
    isClosed,
    hasObject,
    isObjectOptional: last === "O?",
  };
}

/** Where a pattern was found: its first word, and the words of `O`. */
export interface PatternMatch {
  readonly first: number;
  readonly object: string;
}

/** Where the words of a pattern stand in a sentence, one after the other; undefined where they do not. */
export function matchWords(
  { tokens }: ParsedSentence,
  { steps, isClosed, hasObject, isObjectOptional }: WordPattern,
): PatternMatch | undefined {
  for (let first = 0; first < tokens.length; first += 1) {
    const at = followSteps(tokens, first, steps);
    if (at === undefined || (isClosed && /^(?:at|as|with|for)$/.test(tokens[at]?.lower ?? ""))) continue;
    const object = objectAt(tokens, at);
    if (hasObject ? object === "" && !isObjectOptional : object !== "") continue;
    return { first, object };
  }
  return undefined;
}

/** All words of a sentence as they are written and in their base forms, in small letters. */
export function listForms(words: readonly WordSpan[]): ReadonlySet<string> {
  return new Set(
    words.flatMap(({ text }) => {
      const lower = text.toLowerCase();
      return [lower, baseOf(lower)];
    }),
  );
}

/** Whether all that a pattern needs is among the forms of a sentence: only then its tree can match. */
export function hasWordsOf(forms: ReadonlySet<string>, { steps }: WordPattern): boolean {
  return steps.every(
    ({ words, isOptional }, k) => (isOptional && k > 0) || [...words].some((word) => forms.has(word)),
  );
}

/** The index behind the last word of a pattern that begins at `first`. */
function followSteps(
  tokens: readonly ParsedToken[],
  first: number,
  steps: readonly PatternStep[],
): number | undefined {
  let at = first;
  for (const [k, { words, isOptional }] of steps.entries()) {
    let next = at;
    // Between two words of a pattern an adverb may stand: "fell completely out of love", "am not with".
    while (k > 0 && /^(?:ADV|PART)$/.test(tokens[next]?.pos ?? "") && !isWord(tokens[next], words)) next += 1;
    if (isWord(tokens[next], words)) at = next + 1;
    else if (!isOptional || k === 0) return undefined;
  }
  return at;
}

function isWord(token: ParsedToken | undefined, words: ReadonlySet<string>): boolean {
  return token !== undefined && (words.has(token.lower) || words.has(baseOf(token.lower)));
}

/** The base form of a word as it is typed: "leavin'" is "leave". */
export function baseOf(word: string): string {
  return toBaseForm(word.replace(/in'$/, "ing"));
}

/** Labels of what belongs to a noun; the rest is said beside it: "yesterday", "in May", "because …". */
const IN_NOUN = /^(?:det|amod|compound|flat|fixed|nummod|nmod:poss|case|nmod|goeswith|appos)$/;

/** The noun phrase that begins at a word, in the words of the message; empty where none does. */
function objectAt(tokens: readonly ParsedToken[], at: number): string {
  const first = tokens[at];
  if (!first || first.label === "obl:unmarked" || first.pos === "PUNCT" || first.pos === "ADP") return "";
  let head = at;
  while ((tokens[head]?.head ?? -1) > head && IN_NOUN.test(tokens[head]?.label ?? ""))
    head = tokens[head]?.head ?? -1;
  const noun = tokens[head];
  if (!noun || !/^(?:NOUN|PROPN|PRON|VERB|ADJ|NUM|X)$/.test(noun.pos) || noun.label === "obl:unmarked")
    return "";
  let end = head + 1;
  while (end < tokens.length && isWithin(tokens, end, head)) end += 1;
  const words = tokens.slice(at, end);
  return words.reduce(
    (text, token, i) => text + (i > 0 && token.start > (words[i - 1]?.end ?? 0) ? " " : "") + token.text,
    "",
  );
}

function isWithin(tokens: readonly ParsedToken[], index: number, head: number): boolean {
  let at = index;
  while (at > head && IN_NOUN.test(tokens[at]?.label ?? "")) at = tokens[at]?.head ?? -1;
  return at === head;
}
