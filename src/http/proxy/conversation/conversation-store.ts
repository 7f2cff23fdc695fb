import { createHash, randomBytes } from "node:crypto";
import type { Part } from "../../../domain/message.ts";
import type { ErasureReceipt } from "../../../domain/receipt.ts";
import { runInSlices, yieldToEventLoop } from "../../../domain/time-slicing.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { SessionMessage, StoredMessage } from "../../../engine/api/session-types.ts";
import type { InputMessage } from "../../../engine/api/writing-types.ts";
import { isMemoryError } from "../../../errors.ts";
import { refuseField } from "../../problem.ts";
import { toFields } from "../request/reply-reader.ts";
import {
  chooseItemId,
  ITEM_LIMITS,
  type ResponseItem,
  readItemMessage,
  readResponseItem,
  toItemContent,
} from "./response-items.ts";

/**
 * Conversations of OpenAI's API in a user's memory. A conversation is a session with its id; each item is a message, so that
 * whatever erases messages reaches it. The id of a message says what it is to the conversation, which no erasure of words
 * changes:
 *
 * - `conv_ks…`: the conversation has begun.
 * - `conv_ks….meta-…`: its metadata; the last one counts.
 * - `conv_ks….add-….INDEX.ITEM`: an item that was added.
 * - `conv_ks….turn-….INDEX.ITEM`: an item of a response. It counts once its turn has ended.
 * - `conv_ks….turn-….end`: the turn has ended with a complete response.
 */
export interface ConversationMetadata {
  readonly [name: string]: string;
}

/** A conversation as it is stored. */
export interface StoredConversation {
  readonly id: string;
  /** Unix time, in seconds. */
  readonly createdAt: number;
  readonly metadata: ConversationMetadata;
  /** Its items, oldest first. */
  readonly items: readonly ItemMessage[];
}

/** A message that holds an item. */
export interface ItemMessage {
  /** The id of the item. */
  readonly id: string;
  readonly message: SessionMessage;
}

/** An item with its id, as OpenAI shows it. */
export type ShownItem = { readonly id: string } & ResponseItem;

/** Conversations made here. The letters are not of base 16, as the ids of OpenAI are. */
const CONVERSATION_ID = /^conv_ks[0-9a-f]{32}$/;
const BEGIN_PART: Part = { type: "conversationbegin" };
const END_PART: Part = { type: "conversationturnend" };
const METADATA_PART = "conversationmetadata";

export function isOwnConversation(id: string): boolean {
  return CONVERSATION_ID.test(id);
}

function createNotFoundError(field: string): Error {
  return refuseField(field, "Conversation not found.", 404);
}

/** Begins a conversation with some items. Throws a 400 error for a wrong item. */
export async function createConversation(
  memory: ScopedMemory,
  { metadata, items }: { readonly metadata: ConversationMetadata; readonly items: readonly unknown[] },
  isKnown: IsKnownItem = () => false,
): Promise<StoredConversation> {
  const id = `conv_ks${randomBytes(16).toString("hex")}`;
  const added = toNewItems({ id, items: [] }, items, isKnown);
  const begin: InputMessage = { id, role: "system", content: [BEGIN_PART] };
  await memory.remember([begin, ...toMetadataMessages(id, metadata), ...added.map(toInputMessage)], {
    session: id,
  });
  return readStoredConversation(memory, id);
}

/** Gives a conversation with all its items. Throws a 404 error if the user has none with this id. */
export async function readStoredConversation(
  memory: ScopedMemory,
  id: string,
  field: string = "conversation_id",
): Promise<StoredConversation> {
  if (!isOwnConversation(id)) throw createNotFoundError(field);
  const messages = (await listSessionMessages(memory, id)).filter(
    (one) => one.id === id || one.id.startsWith(`${id}.`),
  );
  const items = await runInSlices(listItems(id, messages));
  const [first] = messages;
  // Words of a response that was not finished do not bring an erased conversation back.
  if (!first || (first.id !== id && items.length === 0)) throw createNotFoundError(field);
  const metadata = messages.findLast((one) => one.id.startsWith(`${id}.meta-`));
  return {
    id,
    createdAt: Math.floor(Date.parse(first.at) / 1000),
    metadata: readMetadata(metadata),
    items,
  };
}

/** The most messages of a conversation that are read: its items, the marks of its turns, and what was not finished. */
const MAX_MESSAGES = 20_000;
const PAGE_SIZE = 1000;

/** Gives all messages of a session, oldest first. None if there is no such session. */
export async function listSessionMessages(
  memory: ScopedMemory,
  session: string,
): Promise<readonly SessionMessage[]> {
  const messages: SessionMessage[] = [];
  let cursor: string | undefined;
  do {
    try {
      const page = await memory.session(session, {
        limit: PAGE_SIZE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      messages.push(...page.items);
      cursor = page.cursor;
    } catch (error) {
      if (isMemoryError(error) && error.code === "not_found") return messages;
      throw error;
    }
  } while (cursor !== undefined && messages.length < MAX_MESSAGES);
  return messages;
}

interface MessagePlace {
  /** The writing that stored it: `add-…` or `turn-…`. */
  readonly group: string;
  readonly index: number;
  /** Absent for the end of a turn. */
  readonly item?: string;
}

function readPlace(conversation: string, { id }: SessionMessage): MessagePlace | undefined {
  const found = /^((?:add|turn)-\w+)\.(?:end|(\d+)\.([\w-]+))$/.exec(id.slice(conversation.length + 1));
  if (!found) return undefined;
  const [, group = "", index = "0", item] = found;
  return { group, index: Number(index), ...(item === undefined ? {} : { item }) };
}

/** Gives the items of a conversation in order. Those of a turn without an end do not count. */
function* listItems(
  conversation: string,
  messages: readonly SessionMessage[],
): Generator<void, readonly ItemMessage[], void> {
  const waiting = new Map<string, (MessagePlace & { readonly message: SessionMessage })[]>();
  const items: ItemMessage[] = [];
  for (const message of messages) {
    yield;
    const place = readPlace(conversation, message);
    if (!place) continue;
    const { group, item } = place;
    if (item === undefined) {
      const turn = waiting.get(group) ?? [];
      const inOrder = turn.toSorted((one, other) => one.index - other.index);
      items.push(...inOrder.map((one) => ({ id: one.item ?? "", message: one.message })));
      waiting.delete(group);
    } else if (group.startsWith("add-")) items.push({ id: item, message });
    else waiting.set(group, [...(waiting.get(group) ?? []), { ...place, message }]);
  }
  return items;
}

/** Gives an item with its id; undefined if all its words were erased. */
export async function showConversationItem(
  memory: ScopedMemory,
  { id, message }: ItemMessage,
): Promise<ShownItem | undefined> {
  const item = await readItemMessage(message, memory);
  return item && { id, ...item };
}

/** Gives items with their ids, without those that were erased. */
export async function showConversationItems(
  memory: ScopedMemory,
  items: readonly ItemMessage[],
): Promise<ShownItem[]> {
  const shown: ShownItem[] = [];
  for (const [i, one] of items.entries()) {
    if (i % SLICE === SLICE - 1) await yieldToEventLoop();
    const item = await showConversationItem(memory, one);
    if (item) shown.push(item);
  }
  return shown;
}

/** Items that are read between two yields to the event loop. */
const SLICE = 200;

/** Whether the words of an item are stored in another message, so that they are not to be searched and learnt from twice. */
export type IsKnownItem = (item: ResponseItem) => boolean;

/** A new item, and the message that stores it. */
interface NewItem {
  readonly id: string;
  readonly messageId: string;
  readonly item: ResponseItem;
  readonly isKnown: boolean;
}

/** Checks new items of a client, and gives them ids. Throws a 400 error. */
function toNewItems(
  { id: conversation, items }: Pick<StoredConversation, "id" | "items">,
  values: readonly unknown[],
  isKnown: IsKnownItem,
): readonly NewItem[] {
  if (items.length + values.length > ITEM_LIMITS.perConversation)
    throw refuseField(
      "items",
      `A conversation holds at most ${ITEM_LIMITS.perConversation.toLocaleString("en")} items. Begin another one.`,
    );
  const taken = new Set(items.map(({ id }) => id));
  const group = `add-${randomBytes(8).toString("hex")}`;
  return values.map((value, index) => {
    const item = readResponseItem(value, "items");
    const id = chooseItemId(value, item, taken);
    taken.add(id);
    return { id, messageId: `${conversation}.${group}.${index}.${id}`, item, isKnown: isKnown(item) };
  });
}

function toInputMessage({ messageId, item, isKnown }: NewItem): InputMessage {
  return { id: messageId, ...toItemContent(item, isKnown) };
}

/** Adds items to a conversation, and gives them. Throws a 400 error for a wrong item. */
export async function addConversationItems(
  memory: ScopedMemory,
  conversation: StoredConversation,
  values: readonly unknown[],
  isKnown: IsKnownItem = () => false,
): Promise<readonly ShownItem[]> {
  const added = toNewItems(conversation, values, isKnown);
  await memory.remember(added.map(toInputMessage), { session: conversation.id });
  return added.map(({ id, item }) => ({ id, ...item }));
}

/** Replaces the metadata of a conversation. */
export async function updateConversationMetadata(
  memory: ScopedMemory,
  conversation: StoredConversation,
  metadata: ConversationMetadata,
): Promise<StoredConversation> {
  const { id } = conversation;
  await memory.remember([toMetadataMessage(id, metadata)], { session: id });
  return { ...conversation, metadata };
}

function toMetadataMessages(id: string, metadata: ConversationMetadata): readonly InputMessage[] {
  return Object.keys(metadata).length === 0 ? [] : [toMetadataMessage(id, metadata)];
}

function toMetadataMessage(id: string, metadata: ConversationMetadata): InputMessage {
  const content = [{ type: METADATA_PART, values: metadata }];
  return { id: `${id}.meta-${randomBytes(8).toString("hex")}`, role: "system", content };
}

function readMetadata(message: SessionMessage | undefined): ConversationMetadata {
  const part = message?.parts?.find(({ type }) => type === METADATA_PART);
  return toFields(toFields(part).values) as ConversationMetadata;
}

/** Gives a message of the user; undefined if there is none. */
export async function findStoredMessage(
  memory: ScopedMemory,
  id: string,
): Promise<StoredMessage | undefined> {
  try {
    return await memory.message(id);
  } catch (error) {
    if (isMemoryError(error) && (error.code === "not_found" || error.code === "invalid_input"))
      return undefined;
    throw error;
  }
}

/** The id under which the built-in model remembers what an item says: the item is kept as it came, for models alone. */
export function toToldId(item: string): string {
  return `${item}/told`;
}

/** Messages that are read between two yields to the event loop. */
const READ_AT_ONCE = 50;

/** Gives the ids of items, with those under which the built-in model remembers what they say, of all that are stored. */
export async function listItemMessages(memory: ScopedMemory, ids: readonly string[]): Promise<string[]> {
  const stored: string[] = [];
  for (const [i, id] of ids.flatMap((one) => [one, toToldId(one)]).entries()) {
    if (i % READ_AT_ONCE === READ_AT_ONCE - 1) await yieldToEventLoop();
    if (await findStoredMessage(memory, id)) stored.push(id);
  }
  return stored;
}

/** Erases a conversation with all its items, and with what was learnt from them. */
export function eraseConversation(
  memory: ScopedMemory,
  { id }: StoredConversation,
  signal: AbortSignal,
): Promise<ErasureReceipt> {
  return memory.forget({ session: id }, { signal });
}

/** Erases an item, with what was learnt from it. */
export async function eraseConversationItem(
  memory: ScopedMemory,
  { message }: ItemMessage,
  signal: AbortSignal,
): Promise<ErasureReceipt> {
  return memory.forget({ ids: await listItemMessages(memory, [message.id]) }, { signal });
}

/** Gives an item of a conversation. Throws a 404 error if there is none with this id. */
export async function findConversationItem(
  memory: ScopedMemory,
  { items }: StoredConversation,
  id: string,
): Promise<ItemMessage & { readonly shown: ShownItem }> {
  const found = items.find((one) => one.id === id);
  const shown = found && (await showConversationItem(memory, found));
  if (!found || !shown) throw refuseField("item_id", "Item not found.", 404);
  return { ...found, shown };
}

/** Gives the id of a turn: the same for a retry of the same request. */
export function createTurnGroup(...parts: readonly string[]): string {
  return `turn-${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 24)}`;
}

/** Gives the message that ends a turn, so that its items count. */
export function createTurnEnd(conversation: string, group: string): InputMessage {
  return { id: `${conversation}.${group}.end`, role: "system", content: [END_PART] };
}
