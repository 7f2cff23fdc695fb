import { invalid } from "../errors.ts";
import type { Metadata } from "./filters/metadata-filter.ts";

/** Limits on input. */
export const INPUT_LIMITS = {
  /** UTF-8 bytes of one message or memory. */
  textBytes: 1_000_000,
  /** UTF-8 bytes of an id, a session, a name, a key. */
  nameBytes: 512,
  /** Bytes of metadata as JSON. */
  metadataBytes: 16_384,
  /** Messages in one call of `remember`. */
  messages: 10_000,
} as const;

/** C0 controls except tab, line feed and carriage return, plus DEL. In text they mean damage or an attack. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point.
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Replaces each such character with a space; public data and old exports contain a few. */
export function replaceControls(text: string): string {
  return CONTROL.test(text) ? text.replace(new RegExp(CONTROL, "g"), " ") : text;
}

/** UTF-16 code units that no store accepts: those control characters, and unpaired surrogates. */
const UNSTORABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Makes user text storable: replaces each code unit that no store accepts with a space. All other characters
 * keep their position. `replaced` is the number of replacements.
 */
export function toStorableText(text: string): { readonly text: string; readonly replaced: number } {
  let replaced = 0;
  const stored = text.replace(UNSTORABLE, () => {
    replaced += 1;
    return " ";
  });
  return { text: stored, replaced };
}

/**
 * Returns the text. Throws `invalid_input` if it is not a string, is empty or too long, or contains lone
 * surrogates or control characters. `most` is the limit in bytes of UTF-8.
 */
export function checkText(text: unknown, name: string, most: number = INPUT_LIMITS.textBytes): string {
  if (typeof text !== "string") throw invalid(`${name} must be text.`);
  if (text.trim() === "") throw invalid(`${name} is empty. Send at least one word.`);
  return checkCharacters(text, name, most);
}

/** Like `checkText`, but accepts empty text. */
export function checkCharacters(text: string, name: string, most: number): string {
  if (text.length > most || new TextEncoder().encode(text).length > most) {
    throw invalid(`${name} is too long: at most ${most.toLocaleString("en")} bytes of UTF-8. Split it.`);
  }
  if (!text.isWellFormed())
    throw invalid(`${name} is not well-formed Unicode: it contains half of a surrogate pair.`);
  if (CONTROL.test(text))
    throw invalid(`${name} contains control characters. Is it binary? Send plain text.`);
  return text;
}

/** Checks a short name: an id, a user, a session. Throws `invalid_input`. */
export function checkName(text: unknown, name: string): string {
  return checkText(text, name, INPUT_LIMITS.nameBytes);
}

/**
 * A URL path cannot carry these names, even with encoded dots: every client and server reads them as a path
 * step.
 */
const PATH_STEP = /^\.{1,2}$/;

/**
 * Checks a name for new data. Names "." and ".." stored by an earlier version can still be found and erased,
 * by calls that take the name in their body.
 */
export function checkNewName(text: unknown, name: string): string {
  const checked = checkName(text, name);
  if (PATH_STEP.test(checked))
    throw invalid(`${name} must not be "." or "..": a URL cannot contain it. Choose another name.`);
  return checked;
}

/** Checks that metadata is flat: texts, numbers, booleans, null, or lists of them. Throws `invalid_input`. */
export function checkMetadata(metadata: unknown, name: string): Metadata {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
    throw invalid(`${name} must be an object of plain values.`);
  }
  for (const [field, value] of Object.entries(metadata)) {
    if (field === "" || field.startsWith("$"))
      throw invalid(`${name} has a field that is empty or begins with "$".`);
    checkCharacters(field, name, INPUT_LIMITS.nameBytes);
    for (const element of Array.isArray(value) ? value : [value]) checkScalar(element, name);
  }
  if (JSON.stringify(metadata).length > INPUT_LIMITS.metadataBytes) {
    throw invalid(`${name} is too large: at most ${INPUT_LIMITS.metadataBytes} bytes as JSON.`);
  }
  return metadata as Metadata;
}

function checkScalar(value: unknown, name: string): void {
  if (typeof value === "string") checkCharacters(value, name, INPUT_LIMITS.metadataBytes);
  else if (value !== null && typeof value !== "boolean" && !Number.isFinite(value)) {
    throw invalid(`${name} accepts only texts, finite numbers, true, false, null, or lists of them.`);
  }
}

/** Checks a number from 0 to 1. Throws `invalid_input`. */
export function checkShare(share: unknown, name: string): number {
  if (typeof share === "number" && share >= 0 && share <= 1) return share;
  throw invalid(`${name} must be a number from 0 to 1.`);
}

/** Checks a whole number from `least` to `most`. Throws `invalid_input`. */
export function checkCount(count: unknown, name: string, least: number, most: number): number {
  if (typeof count === "number" && Number.isInteger(count) && count >= least && count <= most) return count;
  throw invalid(`${name} must be a whole number from ${least} to ${most}.`);
}

export function checkScope(scope: { user: unknown; project?: unknown; agent?: unknown; session?: unknown }): {
  project: string;
  user: string;
  agent?: string;
  session?: string;
} {
  return {
    project: checkName(scope.project ?? "default", "project"),
    user: checkName(scope.user, "user"),
    ...(scope.agent === undefined ? {} : { agent: checkName(scope.agent, "agent") }),
    ...(scope.session === undefined ? {} : { session: checkName(scope.session, "session") }),
  };
}
