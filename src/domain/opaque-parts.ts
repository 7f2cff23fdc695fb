import { isAttachmentPart } from "./attachment.ts";
import type { Part } from "./message.ts";

/** A string inside JSON inside a string, and so on: no text nests deeper. */
const MAX_DEPTH = 40;

/** Whether a part is kept as it came: neither text nor an attachment. A call of a tool is one. */
export function isOpaquePart(part: Part): boolean {
  return part.type !== "text" && !isAttachmentPart(part);
}

/**
 * All strings inside a JSON value, with field names. A string that holds JSON itself, as the arguments of a tool do, gives its
 * strings, too: there, a word may follow an escape ("\nMagnet").
 */
export function collectStrings(value: unknown, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  if (typeof value === "string") {
    const inner = /^\s*[{["]/.test(value) ? parseJson(value) : undefined;
    return inner === undefined ? [value] : [value, ...collectStrings(inner, depth + 1)];
  }
  if (typeof value !== "object" || value === null) return [];
  const names = Array.isArray(value) ? [] : Object.keys(value);
  return [...names, ...Object.values(value).flatMap((one) => collectStrings(one, depth + 1))];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
