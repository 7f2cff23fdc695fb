import type { Span } from "../../domain/sentences.ts";
import type { Shape } from "../../domain/shapes.ts";
import { words } from "../../domain/words.ts";

/** Shapes whose signs belong to them: `jo@pine.io` is not in `jo@pine.io.nz`. */
const STRICT: ReadonlySet<Shape> = new Set(["email", "link", "code", "number", "phone", "extension"]);

/** Where words stand one after the other in a text, whatever stands between their letters' ends. */
export function placesOf(text: string, run: readonly string[]): Span[] {
  if (run.length === 0) return [];
  const escaped = run.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])${escaped.join("[^\\p{L}\\p{N}]+")}(?![\\p{L}\\p{N}])`,
    "giu",
  );
  return Array.from(fold(text).matchAll(pattern), ({ 0: match, index }) => ({
    start: index,
    end: index + match.length,
  }));
}

/** Where a text stands as a whole: not inside a longer address, number or code. */
export function exactPlaces(text: string, value: string): Span[] {
  return placesOf(text, words(value)).filter(
    ({ start, end }) =>
      !/[\p{L}\p{N}][._%+@-]$/u.test(text.slice(Math.max(0, start - 2), start)) &&
      !/^(?:[@_-]|\.(?=[\p{L}\p{N}]))[\p{L}\p{N}]/u.test(text.slice(end, end + 3)),
  );
}

/** The ways to write a value: as it stands, and without what joins its parts. */
export function variantsOf({ text, shape }: { readonly text: string; readonly shape?: Shape }): string[] {
  const parts = words(text);
  const isJoined = shape !== undefined && STRICT.has(shape) && parts.length > 1 && shape !== "email";
  return isJoined ? [text, parts.join("")] : [text];
}

/** Without accents, letter for letter, so that places stay where they are. */
function fold(text: string): string {
  return Array.from(text, (letter) => {
    const plain = letter.normalize("NFKD").replace(/\p{M}/gu, "");
    return plain.length === letter.length ? plain : letter;
  }).join("");
}
