import { runInSlices } from "../../../domain/time-slicing.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { SessionMessage, StoredMessage } from "../../../engine/api/session-types.ts";
import type { OperationRequest } from "../../operation.ts";
import { refuse, refuseField } from "../../problem.ts";
import type { MemoryWriter } from "../memory/memory-writer.ts";
import { findValue, type JsonEdit, removeMembers } from "../request/json-edits.ts";
import type { MemoryAccess } from "../request/memory-access.ts";
import { editRequest, type ProxyRequest } from "../request/proxy-request.ts";
import { type BodyFields, toArray, toFields, toText } from "../request/reply-reader.ts";
import {
  findStoredMessage,
  isOwnConversation,
  listSessionMessages,
  readStoredConversation,
  type ShownItem,
  type StoredConversation,
  showConversationItems,
} from "./conversation-store.ts";
import { ITEM_LIMITS, readItemMessage, toInputItems } from "./response-items.ts";

/** What a request of the Responses API continues: a conversation or an earlier response that is stored here. */
export interface StoredContext {
  readonly conversation?: StoredConversation;
  /** The id of the earlier response, and that of the message that records it. */
  readonly response?: string;
  readonly record?: string;
  /** The session of its messages. */
  readonly session: string;
  /** The items that go before the input, as input items. */
  readonly input: readonly object[];
  /** The same as JSON, with commas between them. */
  readonly json: string;
  /** The ids of all stored items before the input. */
  readonly ids: ReadonlySet<string>;
}

/**
 * The type of the part that records a response under its id: the messages of its input and output, and the response before
 * it; or the conversation whose items come before it.
 */
export const RESPONSE_PART = "responseend";

/** The field of that part with the messages of the output. One word that people do not use, as an erasure searches it. */
export const OUTPUT_FIELD = "outputitems";

/** The field with those messages of the input that belong to other responses or conversations. */
export const REFERENCES_FIELD = "referreditems";

/** The most responses of a chain. */
const MAX_CHAIN_LENGTH = 1000;

interface ContextRequest {
  readonly body: BodyFields;
  readonly access: MemoryAccess;
  /** Whether the request uses the client's own account at the upstream, where it may have stored objects. */
  readonly isOwnAccount: boolean;
  /** Bytes of stored items that the input has already (0). */
  readonly bytes?: number;
}

/** Whether a request names a conversation or an earlier response. */
export function namesStoredContext(body: BodyFields): boolean {
  const { conversation, previous } = readReferences(body);
  return conversation !== undefined || previous !== undefined;
}

/** The context of a request that continues nothing. */
export const EMPTY_CONTEXT: Pick<StoredContext, "input" | "json"> = { input: [], json: "" };

/**
 * Finds what a request continues; undefined if it names nothing. Throws a 404 error for a conversation and a 400 error for a
 * response that the user does not have. With the client's own account, what is not stored here is left to the upstream.
 */
export async function resolveStoredContext(
  call: Pick<OperationRequest, "memoryOf" | "project">,
  writer: Pick<MemoryWriter, "waitForWrites" | "checkForgotten">,
  { body, access, isOwnAccount, bytes = 0 }: ContextRequest,
): Promise<StoredContext | undefined> {
  const { conversation, previous } = readReferences(body);
  if (conversation === undefined && previous === undefined) return undefined;
  const user = access.mode === "off" ? undefined : access.user;
  if (isOwnAccount && (conversation === undefined ? user === undefined : !isOwnConversation(conversation)))
    return undefined;
  if (conversation !== undefined && previous !== undefined)
    throw refuseField("previous_response_id", "Send previous_response_id or conversation, not both.");
  if (user === undefined) throw createNoMemoryError(conversation);
  // The response before may still be stored.
  const key = JSON.stringify([call.project(), user]);
  await writer.waitForWrites(key);
  writer.checkForgotten(key);
  const memory = call.memoryOf(user);
  const own = { input: toArray(body.input), bytes };
  if (conversation !== undefined) return resolveConversation(memory, conversation, own);
  const context = await resolveResponse(memory, previous ?? "", own);
  if (!context && !isOwnAccount) throw createUnknownResponseError();
  return context;
}

function createNoMemoryError(conversation: string | undefined): Error {
  const field = conversation === undefined ? "previous_response_id" : "conversation";
  return refuseField(field, `${field} is stored in the user's memory: name the user, and leave memory on.`);
}

async function resolveConversation(memory: ScopedMemory, id: string, own: OwnInput): Promise<StoredContext> {
  const conversation = await readStoredConversation(memory, id, "conversation");
  const items = await showConversationItems(memory, conversation.items);
  return { conversation, session: id, ...(await toContextInput(items, own)) };
}

async function resolveResponse(
  memory: ScopedMemory,
  previous: string,
  own: OwnInput,
): Promise<StoredContext | undefined> {
  const record = await findResponseRecord(memory, previous);
  if (!record) return undefined;
  const items = await readChain(memory, record);
  const session = record.session ?? previous;
  return { response: previous, record: record.id, session, ...(await toContextInput(items, own)) };
}

function readReferences(body: BodyFields): { readonly conversation?: string; readonly previous?: string } {
  const { conversation, previous_response_id: previous } = body;
  const id = toText(conversation) || toText(toFields(conversation).id);
  return {
    ...(conversation === undefined || conversation === null ? {} : { conversation: id }),
    ...(previous === undefined || previous === null || previous === "" ? {} : { previous: toText(previous) }),
  };
}

function createUnknownResponseError(): Error {
  const detail =
    "Previous response not found. A response is kept for its user unless store is false, and unless its input had earlier " +
    "turns of the model and store was not true.";
  return refuse({
    status: 400,
    code: "invalid_input",
    detail,
    errors: [{ field: "previous_response_id", problem: detail }],
    openAiCode: "previous_response_not_found",
  });
}

/** Gives the part that records a response; undefined for another message. */
export function readRecord({ parts = [] }: Pick<SessionMessage, "parts">): BodyFields | undefined {
  return parts.find(({ type }) => type === RESPONSE_PART);
}

/** The most responses with one id: some servers draw their ids from a small range. */
const MAX_REPEATS = 20;

/** Gives the newest record of a response; undefined if there is none. */
async function findResponseRecord(memory: ScopedMemory, id: string): Promise<StoredMessage | undefined> {
  return (await listResponseRecords(memory, id)).at(-1);
}

/** Gives the records of the responses with an id, oldest first. */
export async function listResponseRecords(
  memory: ScopedMemory,
  id: string,
): Promise<readonly StoredMessage[]> {
  const records: StoredMessage[] = [];
  for (let repeat = 0; repeat < MAX_REPEATS; repeat += 1) {
    const message = await findStoredMessage(memory, toRecordId(id, repeat));
    if (!message || !readRecord(message)) break;
    records.push(message);
  }
  return records;
}

/** Gives an id for the record of a new response. */
export async function createRecordId(memory: ScopedMemory, id: string): Promise<string> {
  let repeat = 0;
  while (repeat < MAX_REPEATS - 1 && (await findStoredMessage(memory, toRecordId(id, repeat)))) repeat += 1;
  return toRecordId(id, repeat);
}

function toRecordId(id: string, repeat: number): string {
  return repeat === 0 ? id : `${id}~${repeat}`;
}

/** Gives the items of a chain of responses, oldest first. What was erased is left out. */
async function readChain(memory: ScopedMemory, newest: StoredMessage): Promise<readonly ShownItem[]> {
  const known = new Map<string, SessionMessage>();
  for (const message of await listSessionMessages(memory, newest.session ?? ""))
    known.set(message.id, message);
  const load = async (id: string): Promise<SessionMessage | undefined> =>
    known.get(id) ?? (await findStoredMessage(memory, id));
  const groups: (readonly ShownItem[])[] = [];
  let record: SessionMessage | undefined = newest;
  for (let depth = 0; record; depth += 1) {
    if (depth >= MAX_CHAIN_LENGTH) throw createTooLongError();
    const { conversation, previous, ...rest }: BodyFields = readRecord(record) ?? {};
    if (typeof conversation === "string") {
      groups.push(await readConversationUntil(memory, conversation, record.turn));
      break;
    }
    const messages: SessionMessage[] = [];
    for (const id of [...toArray(rest.said), ...toArray(rest[OUTPUT_FIELD])]) {
      const message = await load(toText(id));
      if (message) messages.push(message);
    }
    groups.push(await showMessages(memory, messages));
    record = typeof previous === "string" ? await load(previous) : undefined;
  }
  return groups.toReversed().flat();
}

/** Gives the items of a conversation that came before a message. */
async function readConversationUntil(
  memory: ScopedMemory,
  id: string,
  turn: number,
): Promise<readonly ShownItem[]> {
  const { items } = await readStoredConversation(memory, id, "previous_response_id");
  return showConversationItems(
    memory,
    items.filter(({ message }) => message.turn < turn),
  );
}

async function showMessages(
  memory: ScopedMemory,
  messages: readonly SessionMessage[],
): Promise<readonly ShownItem[]> {
  const shown: ShownItem[] = [];
  for (const message of messages) {
    const item = await readItemMessage(message, memory);
    if (item) shown.push({ id: toItemId(message.id), ...item });
  }
  return shown;
}

/** Gives the id of the item that a message holds. */
export function toItemId(message: string): string {
  return message.slice(message.lastIndexOf(".") + 1);
}

/** The input of the request itself, and the bytes of stored items in it. */
interface OwnInput {
  readonly input: readonly unknown[];
  readonly bytes: number;
}

async function toContextInput(
  shown: readonly ShownItem[],
  { input, bytes }: OwnInput,
): Promise<Pick<StoredContext, "input" | "json" | "ids">> {
  const stored = shown.map(({ id, ...item }) => ({ id, item }));
  if (stored.length > ITEM_LIMITS.perConversation) throw createTooLongError();
  const items = await runInSlices(toInputItems(stored, input));
  const json = await runInSlices(toJsonSteps(items));
  if (bytes + Buffer.byteLength(json) > ITEM_LIMITS.contextBytes) throw createTooLongError();
  return { input: items, json, ids: new Set(shown.map(({ id }) => id)) };
}

function* toJsonSteps(items: readonly object[]): Generator<void, string, void> {
  const texts: string[] = [];
  for (const item of items) {
    yield;
    texts.push(JSON.stringify(item));
  }
  return texts.join(",");
}

function createTooLongError(): Error {
  const most = ITEM_LIMITS.contextBytes.toLocaleString("en");
  return refuseField(
    "input",
    `The stored items before this request are too many or too large: at most ${most} bytes. Begin another conversation.`,
  );
}

const REFERENCE_FIELDS: ReadonlySet<string> = new Set(["conversation", "previous_response_id"]);

/**
 * Gives the request with the stored items before its input, and without the reference to them. With the server's key, the
 * provider is told to store nothing: an erasure would not reach it.
 */
export function withStoredContext(
  request: ProxyRequest,
  context: Pick<StoredContext, "input" | "json">,
  isOwnAccount: boolean,
): ProxyRequest {
  const { json, body } = request;
  const items = context.json;
  const place = findValue(json, ["input"]);
  const front = json.indexOf("{") + 1;
  const head = [...(isOwnAccount ? [] : ['"store":false,']), ...(place ? [] : [`"input":[${items}],`])].join(
    "",
  );
  const removed = isOwnAccount ? REFERENCE_FIELDS : new Set([...REFERENCE_FIELDS, "store"]);
  // At the same position, the end of the input comes before what is removed behind it.
  const edits: JsonEdit[] = [
    { start: front, end: front, put: head },
    ...(place ? toInputEdits(body.input, place, items) : []),
    ...removeMembers(json, removed),
  ];
  const { conversation: _conversation, previous_response_id: _previous, ...rest } = body;
  const own = typeof body.input === "string" ? [toUserMessage(body.input)] : toArray(body.input);
  return editRequest(request, edits, {
    ...rest,
    ...(isOwnAccount ? {} : { store: false }),
    input: [...context.input, ...own],
  });
}

function toUserMessage(content: string): object {
  return { type: "message", role: "user", content };
}

function toInputEdits(
  input: unknown,
  { start, end }: { readonly start: number; readonly end: number },
  items: string,
): JsonEdit[] {
  const comma = items === "" ? "" : ",";
  if (typeof input === "string")
    return [
      { start, end: start, put: `[${items}${comma}{"type":"message","role":"user","content":` },
      { start: end, end, put: "}]" },
    ];
  if (!Array.isArray(input)) return [{ start, end, put: `[${items}]` }];
  return [{ start: start + 1, end: start + 1, put: input.length === 0 ? items : `${items}${comma}` }];
}
