import type { MemoryContext } from "../memory/before.ts";
import { findValue, type JsonEdit } from "./json-places.ts";
import type { OpenAiDialect, RequestTurn } from "./said.ts";

/**
 * The edits that put what is remembered into a request: the profile in front of the user's first words, what was recalled
 * behind their newest. Nothing else changes, and nothing is removed.
 *
 * It stands in the user's turns and in none of its own: the rank of a system message is not for what somebody said once, and
 * two turns of the user in a row are refused by the templates of some models. What was sent in the last request, but for
 * what was recalled at its end, is what the next one begins with, so that the provider's prompt cache stays warm.
 */
export function injectMemory(
  json: string,
  { said, dialect, given }: { said: readonly RequestTurn[]; dialect: OpenAiDialect; given: MemoryContext },
): JsonEdit[] {
  const users = said.filter(({ role, content }) => role === "user" && acceptsText(content));
  return [
    ...insertText(json, users[0], { text: given.profileBlock, part: dialect.textPart, isInFront: true }),
    ...insertText(json, users.at(-1), { text: given.recallBlock, part: dialect.textPart, isInFront: false }),
  ];
}

function acceptsText(content: unknown): boolean {
  return typeof content === "string" || (Array.isArray(content) && content.length > 0);
}

interface TextInsertion {
  readonly text: string;
  readonly part: OpenAiDialect["textPart"];
  readonly isInFront: boolean;
}

function insertText(
  json: string,
  said: RequestTurn | undefined,
  { text, part, isInFront }: TextInsertion,
): JsonEdit[] {
  const place = text === "" || !said ? undefined : findValue(json, said.path);
  if (!said || !place) return [];
  const at = isInFront ? place.start + 1 : place.end - 1;
  if (typeof said.content === "string") {
    const letters = JSON.stringify(isInFront ? `${text}\n\n` : `\n\n${text}`).slice(1, -1);
    return [{ start: at, end: at, put: letters }];
  }
  const one = JSON.stringify({ type: part, text });
  return [{ start: at, end: at, put: isInFront ? `${one},` : `,${one}` }];
}
