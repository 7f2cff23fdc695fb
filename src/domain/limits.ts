import { invalid } from "../errors.ts";
import type { Metadata } from "./metadata-filter.ts";

/** Limits on what comes from outside. */
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

/** C0 controls but for tab, line feed and carriage return, and DEL: in a text they are damage, or an attack. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point.
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** The text with a space in place of each such character: public data and old exports hold a few. */
export function replaceControls(text: string): string {
  return CONTROL.test(text) ? text.replace(new RegExp(CONTROL, "g"), " ") : text;
}

/** UTF-16 code units that no store takes: those control characters, and halves of surrogate pairs. */
const UNSTORABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * A text that somebody said as it can be stored: a space takes the place of each code unit that no store takes, so that
 * every other character keeps its place. `replaced` counts them.
 */
export function toStorableText(text: string): { readonly text: string; readonly replaced: number } {
  let replaced = 0;
  const stored = text.replace(UNSTORABLE, () => {
    replaced += 1;
    return " ";
  });
  return { text: stored, replaced };
}

/** Refuses what is no text: not a string, empty, too long, lone surrogates, control characters. Gives it back. */
export function checkText(text: unknown, name: string, most: number = INPUT_LIMITS.textBytes): string {
  if (typeof text !== "string") throw invalid(`${name} must be text.`);
  if (text.trim() === "") throw invalid(`${name} is empty: give at least one word.`);
  return checkCharacters(text, name, most);
}

/** As `checkText`, but empty text passes. */
export function checkCharacters(text: string, name: string, most: number): string {
  if (text.length > most || new TextEncoder().encode(text).length > most) {
    throw invalid(`${name} is too long: at most ${most.toLocaleString("en")} bytes of UTF-8. Split it.`);
  }
  if (!text.isWellFormed())
    throw invalid(`${name} is no well-formed Unicode: it holds half a surrogate pair.`);
  if (CONTROL.test(text)) throw invalid(`${name} holds control characters: is it binary? Give plain text.`);
  return text;
}

/** A short name: an id, a user, a session. */
export function checkName(text: unknown, name: string): string {
  return checkText(text, name, INPUT_LIMITS.nameBytes);
}

/** What a path cannot carry, with its dots encoded or not: every client and every server takes it for a step in the path. */
const PATH_STEP = /^\.{1,2}$/;

/**
 * A name that something is written under. What was written under "." or ".." by an earlier version is still found and
 * erased, by calls that take the name in their body.
 */
export function checkNewName(text: unknown, name: string): string {
  const checked = checkName(text, name);
  if (PATH_STEP.test(checked))
    throw invalid(`${name} is "." or "..", which is no name in an address. Choose another.`);
  return checked;
}

/** Metadata is flat: texts, numbers, booleans, null, or lists of them. */
export function checkMetadata(metadata: unknown, name: string): Metadata {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
    throw invalid(`${name} must be an object of plain values.`);
  }
  for (const [field, value] of Object.entries(metadata)) {
    if (field === "" || field.startsWith("$"))
      throw invalid(`${name} has a field that is empty or begins with "$".`);
    checkCharacters(field, name, INPUT_LIMITS.nameBytes);
    for (const one of Array.isArray(value) ? value : [value]) checkScalar(one, name);
  }
  if (JSON.stringify(metadata).length > INPUT_LIMITS.metadataBytes) {
    throw invalid(`${name} is too large: at most ${INPUT_LIMITS.metadataBytes} bytes as JSON.`);
  }
  return metadata as Metadata;
}

function checkScalar(value: unknown, name: string): void {
  if (typeof value === "string") checkCharacters(value, name, INPUT_LIMITS.metadataBytes);
  else if (value !== null && typeof value !== "boolean" && !Number.isFinite(value)) {
    throw invalid(`${name} takes texts, finite numbers, true, false, null, or lists of them.`);
  }
}

/** A share from 0 to 1. */
export function checkShare(share: unknown, name: string): number {
  if (typeof share === "number" && share >= 0 && share <= 1) return share;
  throw invalid(`${name} must be a number from 0 to 1.`);
}

/** A whole number within bounds. */
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
