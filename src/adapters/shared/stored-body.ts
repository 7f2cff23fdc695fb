import { invalid, MemoryError } from "../../errors.ts";

/** The JSON of a row's `body`. `corrupt` where it is none; without the parser's words, which quote the row. */
export function parseBody<Body>(row: { readonly [column: string]: unknown }): Body {
  try {
    return JSON.parse(String(row.body)) as Body;
  } catch {
    throw new MemoryError("corrupt", "the database is damaged: a row cannot be read. Run `keepsake doctor`.");
  }
}

/** `invalid_input` for names that are no well-formed Unicode. */
export function checkNames(...names: readonly string[]): void {
  if (names.every((name) => name.isWellFormed())) return;
  throw invalid("a name or an id is no well-formed Unicode: it holds half a surrogate pair.");
}
