import { foldTextInPlace } from "../../domain/fold.ts";
import type { TextSpan } from "../../domain/sentences.ts";
import type { ValueShape } from "../../domain/shapes.ts";
import { matchWholeTokens } from "../../domain/token-bounds.ts";
import { isUnspaced } from "../../domain/unspaced.ts";
import { splitWords } from "../../domain/words.ts";

/** Shapes whose signs belong to them: `jo@pine.io` is not in `jo@pine.io.nz`. */
const STRICT_SHAPES: ReadonlySet<ValueShape> = new Set([
  "email",
  "link",
  "code",
  "number",
  "phone",
  "extension",
]);

/**
 * Where words stand one after the other in a text, whatever stands between their letters' ends. A place is never a part of
 * a number, a code or a word: it is widened to the whole, or is none ("350" in "2,350").
 */
export function findPhrase(text: string, run: readonly string[]): TextSpan[] {
  return matchWords(text, run).flatMap((span) => matchWholeTokens(text, span) ?? []);
}

function matchWords(text: string, run: readonly string[]): TextSpan[] {
  if (run.length === 0) return [];
  const pattern = new RegExp(buildPattern(run), "giu");
  return Array.from(foldTextInPlace(text).matchAll(pattern), ({ 0: match, index }) => ({
    start: index,
    end: index + match.length,
  }));
}

/** Where a text stands as a whole: not inside a longer address, number or code. */
export function findExactPhrase(text: string, value: string): TextSpan[] {
  return matchWords(text, splitWords(value))
    .filter(
      ({ start, end }) =>
        !/[\p{L}\p{N}][._%+@-]$/u.test(text.slice(Math.max(0, start - 2), start)) &&
        !/^(?:[@_-]|\.(?=[\p{L}\p{N}]))[\p{L}\p{N}]/u.test(text.slice(end, end + 3)),
    )
    .flatMap((span) => matchWholeTokens(text, span) ?? []);
}

/** The ways to write a value: as it stands, and without what joins its parts. */
export function listSpellings({
  text,
  shape,
}: {
  readonly text: string;
  readonly shape?: ValueShape;
}): string[] {
  const extended =
    shape === "phone" ? /^(?<line>.*?),? ?(?<extension>(?:ext\.?|extension|x) ?\d+)$/iu.exec(text) : null;
  if (extended?.groups) {
    const { line = "", extension = "" } = extended.groups;
    const digits = /\d+$/.exec(extension)?.[0] ?? "";
    return [text, ...listSpellings({ text: line, shape: "phone" }), `extension ${digits}`, `ext ${digits}`];
  }
  const parts = splitWords(text);
  const isJoined = shape !== undefined && STRICT_SHAPES.has(shape) && parts.length > 1 && shape !== "email";
  return isJoined ? [text, parts.join("")] : [text];
}

/** The words in a row; no space parts those of Chinese, Japanese or Thai from what stands around them. */
function buildPattern(run: readonly string[]): string {
  const escaped = run.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const between = (one: string, other: string): string =>
    isUnspaced(one) && isUnspaced(other) ? "[^\\p{L}\\p{N}]*" : "[^\\p{L}\\p{N}]+";
  const joined = escaped
    .map((word, i) => (i === 0 ? word : between(run[i - 1] ?? "", run[i] ?? "") + word))
    .join("");
  const before = isUnspaced(run[0] ?? "") ? "" : "(?<![\\p{L}\\p{N}])";
  const after = isUnspaced(run.at(-1) ?? "") ? "" : "(?![\\p{L}\\p{N}])";
  return `${before}${joined}${after}`;
}
