import { runInSlices } from "../../../domain/time-slicing.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { StoredMessage } from "../../../engine/api/session-types.ts";
import type { OperationRequest } from "../../operation.ts";
import { refuseField } from "../../problem.ts";
import type { MemoryWriter } from "../memory/memory-writer.ts";
import { extractText } from "../request/dialects.ts";
import { findValue, type JsonEdit, type JsonSpan, listElements, removeSpans } from "../request/json-edits.ts";
import type { MemoryAccess } from "../request/memory-access.ts";
import { editRequest, type ProxyRequest } from "../request/proxy-request.ts";
import { toArray, toFields, toText } from "../request/reply-reader.ts";
import { findStoredMessage, isOwnConversation } from "./conversation-store.ts";
import {
  hasItem,
  ITEM_LIMITS,
  isItemId,
  isModelItem,
  readItemMessage,
  toInputItem,
} from "./response-items.ts";
import { namesStoredContext, readRecord, type StoredContext, toItemId } from "./stored-context.ts";

/** A request with stored items in place of the references to them. */
export interface ReferencedInput {
  readonly request: ProxyRequest;
  /** The items that were put in, by their place in the input. */
  readonly references: ReadonlyMap<number, ReferencedItem>;
  /** Items that the client sends again before a reply that it names: they are stored with that reply. */
  readonly resent: ReadonlyMap<number, ReferencedItem>;
  /** Bytes of these items as JSON. */
  readonly bytes: number;
}

/** An item that a request names by its id. */
export interface ReferencedItem {
  readonly id: string;
  /** The id of the message that stores it. */
  readonly message: string;
}

interface ReferenceRequest {
  readonly request: ProxyRequest;
  readonly access: MemoryAccess;
  /** Whether the request uses the client's own account at the upstream, where it may have stored items. */
  readonly isOwnAccount: boolean;
  readonly isBuiltIn: boolean;
  /** Ids that were found before an erasure of this request. Those that are gone are left out. */
  readonly known?: ReadonlySet<string>;
}

/** A reference in the input of a request. */
interface InputReference {
  readonly index: number;
  readonly id: string;
}

/** A reference with the item that it names, as it is sent; undefined for one that the upstream could not use. */
interface FoundReference extends InputReference {
  readonly message: string;
  readonly item: object | undefined;
}

/**
 * Puts the user's stored items in place of the references to them. Throws a 404 error for an id that is not stored, and a 400
 * error for too many or repeated references. It leaves two kinds of references as they are: those that the client's own
 * account may have, and those that the server's key refuses because nothing of the request is stored here.
 */
export async function resolveItemReferences(
  call: Pick<OperationRequest, "memoryOf" | "project">,
  writer: Pick<MemoryWriter, "waitForWrites" | "checkForgotten">,
  { request, access, isOwnAccount, isBuiltIn, known }: ReferenceRequest,
): Promise<ReferencedInput> {
  const asked = listReferences(request.body.input);
  if (asked.length === 0 || access.mode === "off" || access.user === undefined)
    return withoutReferences(request);
  if (asked.length > ITEM_LIMITS.references) throw createTooManyError();
  // The item may still be stored.
  const key = JSON.stringify([call.project(), access.user]);
  await writer.waitForWrites(key);
  writer.checkForgotten(key);
  const memory = call.memoryOf(access.user);
  const found = await findItems(memory, asked);
  const missing = asked.filter(({ index, id }) => !found.has(index) && !known?.has(id));
  const isOurs = isBuiltIn || found.size > 0 || namesStoredContext(request.body);
  if (missing.length > 0 && isOurs && !isOwnAccount) throw createNotFoundError(missing);
  checkRepeated(request.body.input, [...found.values()]);
  const gone = asked.filter(({ index, id }) => !found.has(index) && known?.has(id));
  const resent = await findResent(memory, request.body.input, found);
  return replaceReferences(request, { found, resent, gone: new Set(gone.map(({ index }) => index)) });
}

/** Gives a request that names no stored item. */
export function withoutReferences(request: ProxyRequest): ReferencedInput {
  return { request, references: new Map(), resent: new Map(), bytes: 0 };
}

/** Refuses references to items that go before the input already. */
export function checkReferencesOutside(
  references: ReadonlyMap<number, ReferencedItem>,
  { ids }: Pick<StoredContext, "ids">,
): void {
  if ([...references.values()].some(({ id }) => ids.has(id))) throw createRepeatedError();
}

/** Lists the items of an input that are nothing but a reference. As at OpenAI, the type may be absent. */
function listReferences(input: unknown): readonly InputReference[] {
  const references: InputReference[] = [];
  for (const [index, value] of toArray(input).entries()) {
    const { type, id, ...others } = toFields(value);
    const isReference = type === "item_reference" || type === undefined || type === null;
    if (isReference && typeof id === "string" && Object.keys(others).length === 0)
      references.push({ index, id });
  }
  return references;
}

/** Finds the items that references name, by their place. Of several with one id, the newest counts. */
async function findItems(
  memory: ScopedMemory,
  asked: readonly InputReference[],
): Promise<ReadonlyMap<number, FoundReference>> {
  const ids = [...new Set(asked.map(({ id }) => id).filter(isItemId))];
  const byId = new Map<string, StoredMessage[]>();
  for (const message of ids.length === 0 ? [] : await memory.findMessages(ids)) {
    const id = toItemId(message.id);
    byId.set(id, [...(byId.get(id) ?? []), message]);
  }
  const found = new Map<number, FoundReference>();
  for (const { index, id } of asked) {
    for (const message of (byId.get(id) ?? []).toReversed()) {
      const item = (await isOfStored(memory, message)) ? await readItemMessage(message, memory) : undefined;
      if (!item) continue;
      found.set(index, { index, id, message: message.id, item: toInputItem({ id, item }) });
      break;
    }
  }
  return found;
}

/** Whether a message is an item of a conversation or of a stored response, and not of a turn that did not end. */
async function isOfStored(memory: ScopedMemory, message: StoredMessage): Promise<boolean> {
  const [owner = "", group = ""] = message.id.split(".");
  if (owner === message.id) return hasItem(message);
  if (isOwnConversation(owner))
    return (
      group.startsWith("add-") || (await findStoredMessage(memory, `${owner}.${group}.end`)) !== undefined
    );
  const record = await findStoredMessage(memory, owner);
  return record !== undefined && readRecord(record) !== undefined;
}

/** Refuses an item that is in the input twice. */
function checkRepeated(input: unknown, found: readonly FoundReference[]): void {
  const named = new Set(found.map(({ id }) => id));
  const places = new Set(found.map(({ index }) => index));
  const isAgain = (value: unknown, index: number): boolean => {
    const { id } = toFields(value);
    return typeof id === "string" && named.has(id) && !places.has(index);
  };
  if (named.size < found.length || toArray(input).some(isAgain)) throw createRepeatedError();
}

/**
 * Finds messages that the client sends again before the newest reply that it names. The record of that reply has them, so
 * that a client that names replies and repeats the user's words does not fill the memory with copies.
 */
async function findResent(
  memory: ScopedMemory,
  input: unknown,
  found: ReadonlyMap<number, FoundReference>,
): Promise<ReadonlyMap<number, ReferencedItem>> {
  const resent = new Map<number, ReferencedItem>();
  const newest = [...found.values()].findLast(({ item }) => item && isModelItem(item));
  const record = newest && (await findStoredMessage(memory, newest.message.split(".")[0] ?? ""));
  if (!record) return resent;
  const stored = new Map<string, string[]>();
  for (const id of toArray(readRecord(record)?.said)) {
    const message = await findStoredMessage(memory, toText(id));
    const item = message && (await readItemMessage(message, memory));
    const words = item && toWords(item);
    if (message && words) stored.set(words, [...(stored.get(words) ?? []), message.id]);
  }
  for (const [index, value] of toArray(input).slice(0, newest.index).entries()) {
    const message = stored.get(toWords(value) ?? "")?.shift();
    if (message !== undefined && !found.has(index)) resent.set(index, { id: toItemId(message), message });
  }
  return resent;
}

/** Gives the role and the words of a message that consists of words alone. */
function toWords(item: unknown): string | undefined {
  const { type = "message", role, content } = toFields(item);
  const isText = toArray(content).every((part) => typeof toFields(part).text === "string");
  return type === "message" && isText ? JSON.stringify([role, extractText(content)]) : undefined;
}

/** Puts the items in, and takes out what is gone or cannot be sent. */
async function replaceReferences(
  request: ProxyRequest,
  {
    found,
    resent,
    gone,
  }: Pick<ReferencedInput, "resent"> & {
    readonly found: ReadonlyMap<number, FoundReference>;
    readonly gone: ReadonlySet<number>;
  },
): Promise<ReferencedInput> {
  const isLeftOut = (index: number): boolean =>
    gone.has(index) || (found.has(index) && found.get(index)?.item === undefined);
  const place = findValue(request.json, ["input"]);
  const spans = place ? listElements(request.json, place.start) : [];
  const puts = await runInSlices(toReplacements(spans, found));
  const bytes = puts.reduce((sum, { put }) => sum + Buffer.byteLength(put), 0);
  if (bytes > ITEM_LIMITS.contextBytes) throw createTooManyError();
  const left = toArray(request.body.input).flatMap((value, index) =>
    isLeftOut(index) ? [] : [{ value, index, reference: found.get(index) }],
  );
  const input = left.map(({ value, reference }) =>
    reference ? { ...reference.item, id: reference.id } : value,
  );
  const edits = [...puts, ...removeSpans(spans, (_span, index) => isLeftOut(index))];
  const atPlaces = (items: ReadonlyMap<number, ReferencedItem>): ReadonlyMap<number, ReferencedItem> =>
    new Map(
      left.flatMap(({ index }, i) => (items.has(index) ? [[i, items.get(index) as ReferencedItem]] : [])),
    );
  return {
    request: editRequest(request, edits, { ...request.body, input }),
    references: atPlaces(found),
    resent: atPlaces(resent),
    bytes,
  };
}

function* toReplacements(
  spans: readonly JsonSpan[],
  found: ReadonlyMap<number, FoundReference>,
): Generator<void, readonly JsonEdit[], void> {
  const edits: JsonEdit[] = [];
  for (const { index, item } of found.values()) {
    yield;
    const span = spans[index];
    if (span && item) edits.push({ ...span, put: JSON.stringify(item) });
  }
  return edits;
}

function createNotFoundError(missing: readonly InputReference[]): Error {
  const places = missing.slice(0, MAX_NAMED).map(({ index }) => `input[${index}]`);
  const more = missing.length > MAX_NAMED ? " and others" : "";
  return refuseField(
    "input",
    `Item not found: ${places.join(", ")}${more}. An item is kept for its user unless store is false. Send its content, or ` +
      "remove it from your input.",
    404,
  );
}

/** The most places that an error names. */
const MAX_NAMED = 5;

function createRepeatedError(): Error {
  return refuseField(
    "input",
    "Duplicate item found: the input names an item twice, or one that comes before it anyway. Remove duplicate items from " +
      "your input.",
  );
}

function createTooManyError(): Error {
  const [most, bytes] = [ITEM_LIMITS.references, ITEM_LIMITS.contextBytes].map((limit) =>
    limit.toLocaleString("en"),
  );
  return refuseField(
    "input",
    `The input has too many references, or to items that are too large: at most ${most}, and ${bytes} bytes together.`,
  );
}
