import { invalid } from "../../errors.ts";

/**
 * A filter over the text of memories and passages, in the syntax of Chroma's `where_document`. All conditions of one
 * object must match; an empty one matches every text. Letter case counts; a pattern that begins with `(?i)` ignores it.
 */
export interface WhereText {
  /** The text contains these characters. */
  readonly $contains?: string;
  /** The text does not contain these characters. */
  readonly $not_contains?: string;
  /** The regular expression, in RE2's syntax, occurs in the text. */
  readonly $regex?: string;
  /** The regular expression, in RE2's syntax, does not occur in the text. */
  readonly $not_regex?: string;
  /** Each of these filters matches. */
  readonly $and?: readonly WhereText[];
  /** At least one of these filters matches. */
  readonly $or?: readonly WhereText[];
}

/** Whether a text matches a filter. Throws `invalid_input` after too much time. */
export type TextMatcher = (text: string) => boolean;

const TEXT_OPERATORS = ["$contains", "$not_contains", "$regex", "$not_regex"] as const;
const LIST_OPERATORS = ["$and", "$or"] as const;

/** Limits on one filter: every memory and passage is tested against each condition. */
const MAX_CONDITIONS = 100;
const MAX_DEPTH = 16;
/** Of the characters to look for. */
const MAX_CONTAINED_LENGTH = 4000;
/** The time that all texts of one call may take, in ms. */
const MAX_MATCH_MS = 1000;

/** Throws `invalid_input` for a filter that is misspelt or too large. Patterns are checked when they are compiled. */
export function checkWhereText(where: WhereText): void {
  let conditions = 0;
  const check = (filter: unknown, depth: number): void => {
    if (depth > MAX_DEPTH) throw invalid(`whereText is nested too deeply. Limit: ${MAX_DEPTH} levels.`);
    if (typeof filter !== "object" || filter === null || Array.isArray(filter))
      throw invalid('whereText takes an object such as { "$contains": "Porto" }.');
    for (const [operator, value] of Object.entries(filter)) {
      conditions += 1;
      if (conditions > MAX_CONDITIONS)
        throw invalid(`whereText is too large. Limit: ${MAX_CONDITIONS} conditions.`);
      for (const inner of checkCondition(operator, value)) check(inner, depth + 1);
    }
  };
  check(where, 0);
}

/** Checks one condition, and gives the filters in it. */
function checkCondition(operator: string, value: unknown): readonly unknown[] {
  if (isOneOf(TEXT_OPERATORS, operator)) {
    checkOperand(operator, value);
    return [];
  }
  if (!isOneOf(LIST_OPERATORS, operator))
    throw invalid(
      `whereText: not an operator. Allowed: ${[...TEXT_OPERATORS, ...LIST_OPERATORS].join(", ")}.`,
    );
  if (Array.isArray(value) && value.length > 0) return value;
  throw invalid(`whereText: ${operator} takes a list of one or more filters.`);
}

function checkOperand(operator: string, value: unknown): void {
  if (typeof value !== "string" || value === "")
    throw invalid(`whereText: ${operator} takes a text of at least one character.`);
  if (value.length > MAX_CONTAINED_LENGTH)
    throw invalid(
      `whereText: ${operator} takes at most ${MAX_CONTAINED_LENGTH.toLocaleString("en")} characters.`,
    );
}

function isOneOf<Name extends string>(names: readonly Name[], name: string): name is Name {
  return (names as readonly string[]).includes(name);
}

/**
 * Compiles a filter for one call. Its patterns take linear time, and all texts together take a second at most. Throws
 * `invalid_input` for a wrong filter or pattern.
 */
export async function compileTextFilter(where: WhereText): Promise<TextMatcher> {
  checkWhereText(where);
  const matches = await compileConditions(where);
  let spentMs = 0;
  return (text) => {
    if (spentMs > MAX_MATCH_MS)
      throw invalid("whereText takes too long on this memory. Use a simpler pattern, or $contains.");
    const from = performance.now();
    const isMatch = matches(text);
    spentMs += performance.now() - from;
    return isMatch;
  };
}

async function compileConditions(where: WhereText): Promise<TextMatcher> {
  const { $contains, $not_contains, $regex, $not_regex, $and = [], $or } = where;
  // The cheap conditions come first: the others are evaluated only for what passes them.
  const all: TextMatcher[] = [];
  if ($contains !== undefined) all.push((text) => text.includes($contains));
  if ($not_contains !== undefined) all.push((text) => !text.includes($not_contains));
  for (const one of $and) all.push(await compileConditions(one));
  if ($or) {
    const some = await Promise.all($or.map(compileConditions));
    all.push((text) => some.some((matches) => matches(text)));
  }
  if ($regex !== undefined) all.push(await compileTextPattern($regex));
  if ($not_regex !== undefined) {
    const pattern = await compileTextPattern($not_regex);
    all.push((text) => !pattern(text));
  }
  return (text) => all.every((matches) => matches(text));
}

/** A pattern that was compiled, and tells whether it occurs in a text. */
type TextPattern = (text: string) => boolean;

/** The longest pattern, in characters. */
const MAX_PATTERN_LENGTH = 500;

/**
 * Compiles a pattern in the syntax of RE2, which Chroma and databases use: without look-around and back-references. Its
 * time is linear in the text for every pattern. Throws `invalid_input` for a pattern that is too long or wrong.
 */
async function compileTextPattern(pattern: string): Promise<TextPattern> {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw invalid(`whereText: a pattern is too long. Limit: ${MAX_PATTERN_LENGTH} characters.`);
  const { RE2JS } = await import("re2js");
  try {
    const compiled = RE2JS.compile(pattern);
    return (text) => compiled.matcher(text).find();
  } catch {
    // The library's message quotes the pattern, which may hold a user's words.
    throw invalid(
      "whereText: a pattern is not a regular expression in RE2's syntax (no look-around, no back-references; at most 1,000 repetitions).",
    );
  }
}
