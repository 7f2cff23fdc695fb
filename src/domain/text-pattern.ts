import { invalid } from "../errors.ts";

/** A pattern that was compiled, and tells whether it occurs in a text. */
export type TextPattern = (text: string) => boolean;

/** The longest pattern, in characters. */
const MAX_PATTERN_LENGTH = 500;

/**
 * Compiles a pattern in the syntax of RE2, which Chroma and databases use: without look-around and back-references. Its
 * time is linear in the text for every pattern. Throws `invalid_input` for a pattern that is too long or wrong.
 */
export async function compileTextPattern(pattern: string): Promise<TextPattern> {
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
