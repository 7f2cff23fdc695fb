import type { MemoryContext } from "../memory/conversations.ts";
import type { ProxyDialect, RequestTurn } from "./dialects.ts";
import { findValue, type JsonEdit } from "./json-edits.ts";
import type { ProxyRequest } from "./proxy-request.ts";
import { type BodyFields, toArray, toFields } from "./reply-reader.ts";

interface Injection {
  readonly turns: readonly RequestTurn[];
  readonly dialect: ProxyDialect;
  readonly context: MemoryContext;
}

/**
 * Gives the edits that inject memory into a request: the profile before the user's first message, and the recalled items
 * after the newest one. Nothing else changes.
 *
 * In OpenAI's interfaces, memory is part of the user's messages. Stored text must not have the rank of a system message, and
 * the templates of some models refuse two user messages in a row. Anthropic's has a list of system blocks; the profile is
 * the last of them, behind those that the client has marked for its prompt cache. Each request begins with the bytes of the
 * previous one, without the items recalled at its end, so the provider's prompt cache stays warm.
 */
export function injectMemory(
  { json, body }: ProxyRequest,
  { turns, dialect, context }: Injection,
): JsonEdit[] {
  const users = turns.filter(({ role, content }) => role === "user" && acceptsText(content));
  const [first, newest] = [users[0], users.at(-1)];
  const part = dialect.textPart;
  const profile =
    dialect.profilePlace === "system"
      ? appendToSystem(json, body.system, context.profileBlock)
      : insertText(json, first, { text: context.profileBlock, part, isInFront: true });
  const recall = { text: context.recallBlock, part, isInFront: false };
  const isCached = dialect.provider === "anthropic" && context.recallBlock !== "";
  const cached =
    isCached && newest ? insertAfterBreakpoint(json, body, { newest, text: recall.text }) : undefined;
  return [...profile, ...(cached ?? insertText(json, newest, recall))];
}

function acceptsText(content: unknown): boolean {
  return typeof content === "string" || (Array.isArray(content) && content.length > 0);
}

interface TextInsertion {
  readonly text: string;
  readonly part: ProxyDialect["textPart"];
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
    const letters = toLetters(isInFront ? `${text}\n\n` : `\n\n${text}`);
    return [{ start: at, end: at, put: letters }];
  }
  const one = JSON.stringify({ type: part, text });
  return [{ start: at, end: at, put: isInFront ? `${one},` : `,${one}` }];
}

/** Gives a text as it is written in a JSON string. */
function toLetters(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Gives the edit that puts a text at the end of `system`: a text, a list of blocks, or absent. */
function appendToSystem(json: string, system: unknown, text: string): JsonEdit[] {
  if (text === "") return [];
  const block = JSON.stringify({ type: "text", text });
  const place = findValue(json, ["system"]);
  // A request names its model, so a member follows.
  if (!place) return [insertAt(json.indexOf("{") + 1, `"system":[${block}],`)];
  if (system === null || system === "") return [{ ...place, put: `[${block}]` }];
  if (typeof system === "string") return [insertAt(place.end - 1, toLetters(`\n\n${text}`))];
  if (Array.isArray(system)) return [insertAt(place.end - 1, system.length === 0 ? block : `,${block}`)];
  return [];
}

function insertAt(at: number, put: string): JsonEdit {
  return { start: at, end: at, put };
}

/**
 * Gives the edits for a request with the member `cache_control`, with which the provider puts a breakpoint after the last
 * block. That would be the recalled items, which the next request does not have: nothing would ever be read from the cache.
 * So the breakpoint is put where the client's own last block ends. Gives undefined if there is no such member.
 */
function insertAfterBreakpoint(
  json: string,
  body: BodyFields,
  { newest, text }: { readonly newest: RequestTurn; readonly text: string },
): JsonEdit[] | undefined {
  const member = findValue(json, ["cache_control"]);
  const isNewest = newest.path[1] === toArray(body.messages).length - 1;
  if (!member || typeof body.cache_control !== "object" || body.cache_control === null || !isNewest)
    return undefined;
  const mark = `,"cache_control":${json.slice(member.start, member.end)}`;
  const block = JSON.stringify({ type: "text", text });
  const without: JsonEdit = { ...member, put: "null" };
  const place = findValue(json, newest.path);
  if (!place) return undefined;
  if (typeof newest.content === "string") {
    if (newest.content.trim() === "") return undefined;
    return [
      without,
      insertAt(place.start, '[{"type":"text","text":'),
      insertAt(place.end, `${mark}},${block}]`),
    ];
  }
  const last = toArray(newest.content).length - 1;
  const lastPlace = findValue(json, [...newest.path, last]);
  const isMarked = "cache_control" in toFields(toArray(newest.content)[last]);
  if (!lastPlace || isMarked) return undefined;
  return [without, insertAt(lastPlace.end - 1, mark), insertAt(place.end - 1, `,${block}`)];
}
