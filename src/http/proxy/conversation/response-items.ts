import { randomBytes } from "node:crypto";
import { isAttachmentPart } from "../../../domain/attachment.ts";
import { replaceControls } from "../../../domain/limits.ts";
import type { Part, Role } from "../../../domain/message.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { SessionMessage } from "../../../engine/api/session-types.ts";
import { isMemoryError } from "../../../errors.ts";
import { refuseField } from "../../problem.ts";
import { type BodyFields, toArray, toFields, toText } from "../request/reply-reader.ts";
import { isSelfContainedItem } from "../request/server-key-policy.ts";

/** An item of OpenAI's Responses and Conversations APIs, without its id. */
export type ResponseItem = { readonly type: string; readonly [field: string]: unknown };

/** Limits on the items of conversations. */
export const ITEM_LIMITS = {
  /** Items in one request, as at OpenAI. */
  perRequest: 20,
  /** Bytes of one item as JSON, without its images. */
  bytes: 1_000_000,
  /** Items of one conversation, or of one chain of responses. */
  perConversation: 4000,
  /** References to stored items in one request. */
  references: 1000,
  /** Bytes of all stored items that go into one request, as JSON. */
  contextBytes: 3_000_000,
} as const;

/**
 * The type of the part that holds an item. It is one word that people do not use: the words of a part are searched by an erasure.
 */
const ITEM_PART = "responseitem";

/** Parts of a message with words of people and models. */
const TEXT_TYPES: ReadonlySet<unknown> = new Set(["input_text", "output_text", "text"]);
const MESSAGE_ROLES: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "developer"]);
const TYPE_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;
/** Where an inline image was taken out. */
const TAKEN_IMAGE = "keptimage";

/**
 * Gives an item as it is stored: a message in its long form. Throws a 400 error that names `field` for what is not an item, is
 * too large, or names an object stored elsewhere.
 */
export function readResponseItem(value: unknown, field: string): ResponseItem {
  const { id: _id, ...fields } = toFields(value);
  const type = fields.type ?? "message";
  if (Array.isArray(value) || typeof type !== "string" || !TYPE_PATTERN.test(type))
    throw refuseField(field, `${field} must contain items with a type.`);
  if (type === "item_reference" || !isSelfContainedItem(value))
    throw refuseField(
      field,
      `An item in ${field} names an object that is stored elsewhere. Send its content.`,
    );
  if (type === "message" && !(MESSAGE_ROLES.has(fields.role) && isContent(fields.content)))
    throw refuseField(
      field,
      `A message in ${field} needs a role (user, assistant, system, developer) and content.`,
    );
  const item = normalizeItem({ ...fields, type });
  if (measureItem(item) > ITEM_LIMITS.bytes)
    throw refuseField(
      field,
      `An item in ${field} is too large: at most ${ITEM_LIMITS.bytes.toLocaleString("en")} bytes.`,
    );
  return item;
}

function isContent(content: unknown): boolean {
  return typeof content === "string" || (Array.isArray(content) && content.every(isPart));
}

function isPart(part: unknown): boolean {
  return typeof part === "object" && part !== null && typeof toFields(part).type === "string";
}

/** Gives an item in the form in which OpenAI shows it. */
export function normalizeItem(item: ResponseItem): ResponseItem {
  if (item.type === "function_call" || item.type === "function_call_output")
    return { ...item, status: item.status ?? "completed" };
  if (item.type !== "message") return item;
  const type = item.role === "assistant" ? "output_text" : "input_text";
  const parts = typeof item.content === "string" ? [{ type, text: item.content }] : toArray(item.content);
  const content = parts.map((part) =>
    toFields(part).type === "output_text" ? { annotations: [], ...toFields(part) } : part,
  );
  return { ...item, content, status: item.status ?? "completed" };
}

/** Gives the bytes of an item as JSON, without images that are stored apart. */
export function measureItem(item: ResponseItem): number {
  const { content } = toItemContent(item);
  return Buffer.byteLength(JSON.stringify(content.filter(({ type }) => type !== "input_image")));
}

function isInlineImage(value: unknown): boolean {
  return typeof value === "string" && value.startsWith("data:image/");
}

/**
 * Gives the role and the content of the message that stores an item. What the user and the assistant say is its text, so
 * that it is searched and learnt from, and images are its attachments. All else is one part, which an erasure searches.
 * With `isKnown`, the words are in another message already, and are not searched twice.
 */
export function toItemContent(
  given: ResponseItem,
  isKnown: boolean = false,
): { readonly role: Role; readonly content: readonly Part[] } {
  const item = toStorable(given) as ResponseItem;
  const part = { type: ITEM_PART, item };
  // A copy is nothing that was said once more.
  if (isKnown && !toArray(item.content).some((one) => isInlineImage(toFields(one).image_url)))
    return { role: "system", content: [part] };
  const role = toRole(item);
  if (item.type !== "message" || role === "system") return { role, content: [part] };
  const taken: Part[] = [];
  const content = toArray(item.content).map((part) => {
    const { text, image_url: image, ...rest } = toFields(part);
    if (TEXT_TYPES.has(rest.type) && typeof text === "string" && text.trim() !== "") {
      taken.push({ type: "text", text });
      return rest;
    }
    if (rest.type !== "input_image" || !isInlineImage(image)) return part;
    taken.push({ type: "input_image", image_url: image });
    return { ...rest, [TAKEN_IMAGE]: true };
  });
  return { role, content: [...taken, { type: ITEM_PART, item: { ...item, content } }] };
}

function toRole({ type, role }: ResponseItem): Role {
  if (type === "message") return role === "user" || role === "assistant" ? role : "system";
  return /_(?:output|response)$/.test(type) ? "tool" : "assistant";
}

/** Copies a value with the characters that every store accepts. */
function toStorable(value: unknown): unknown {
  if (typeof value === "string") return isInlineImage(value) ? value : replaceControls(value.toWellFormed());
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toStorable);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [replaceControls(name.toWellFormed()), toStorable(one)]),
  );
}

/** Whether a message stores an item, beside words or alone. */
export function hasItem({ parts = [] }: Pick<SessionMessage, "parts">): boolean {
  return parts.some(({ type }) => type === ITEM_PART);
}

/**
 * Gives the item that a message stores. Erased words are left out; undefined if nothing remains. Images are read from the
 * memory; one that is gone is left out.
 */
export async function readItemMessage(
  { role, content, parts = [] }: Pick<SessionMessage, "role" | "content" | "parts">,
  memory: Pick<ScopedMemory, "attachment">,
): Promise<ResponseItem | undefined> {
  const held = toFields(parts.find(({ type }) => type === ITEM_PART)).item;
  if (held === undefined) {
    if (content === "" || (role !== "user" && role !== "assistant")) return undefined;
    return normalizeItem({ type: "message", role, content });
  }
  const item = toFields(held) as ResponseItem;
  return item.type === "message" ? restoreMessage(item, parts, memory) : item;
}

/** Puts the texts and images of a message back where they were taken out. */
async function restoreMessage(
  item: ResponseItem,
  parts: readonly Part[],
  memory: Pick<ScopedMemory, "attachment">,
): Promise<ResponseItem> {
  const texts = parts.flatMap((part) => (part.type === "text" ? [toText(part.text)] : []));
  const images = parts.filter((part) => isAttachmentPart(part) || part.type === "input_image");
  const restored: unknown[] = [];
  for (const part of toArray(item.content)) {
    const { [TAKEN_IMAGE]: isImage, ...fields } = toFields(part);
    const url = isImage === true ? await readImage(toFields(images.shift()), memory) : undefined;
    if (url !== undefined) restored.push({ ...fields, image_url: url });
    else if (isImage !== true)
      restored.push(isTextTaken(fields) ? { ...fields, text: texts.shift() ?? "" } : part);
  }
  return { ...item, content: restored };
}

function isTextTaken({ type, text }: BodyFields): boolean {
  return TEXT_TYPES.has(type) && text === undefined;
}

async function readImage(
  part: BodyFields,
  memory: Pick<ScopedMemory, "attachment">,
): Promise<string | undefined> {
  if (typeof part.id !== "string") return undefined;
  try {
    const { bytes, mediaType = "" } = await memory.attachment(part.id);
    return bytes && `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`;
  } catch (error) {
    if (isMemoryError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}

/** Whether an input item is one that the model made. */
export function isModelItem(value: unknown): boolean {
  const { type, role } = toFields(value);
  return role === "assistant" || /^(?:reasoning|.*_call)$/.test(toText(type));
}

const ID_PREFIXES: { readonly [type: string]: string } = {
  message: "msg",
  function_call: "fc",
  function_call_output: "fco",
  reasoning: "rs",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  computer_call: "cu",
  computer_call_output: "cuo",
  local_shell_call: "lsh",
  mcp_call: "mcp",
  mcp_list_tools: "mcpl",
  mcp_approval_request: "mcpr",
  web_search_call: "ws",
};

/** Ids of a client or of the upstream that are kept: the encrypted reasoning of a model belongs to its id. */
const KEPT_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Whether an id can be that of a stored item. */
export function isItemId(id: string): boolean {
  return KEPT_ID.test(id);
}

/** Gives the id of a new item: its own, if it is well-formed and not taken; otherwise a new one. */
export function chooseItemId(value: unknown, item: ResponseItem, taken: ReadonlySet<string>): string {
  const { id } = toFields(value);
  if (typeof id === "string" && KEPT_ID.test(id) && !taken.has(id)) return id;
  return `${ID_PREFIXES[item.type] ?? "item"}_${randomBytes(16).toString("hex")}`;
}

/** Ids that only the provider's own storage understands. */
const TYPES_WITHOUT_ID: ReadonlySet<string> = new Set([
  "message",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
]);

/**
 * Gives stored items as the input of a request. Left out is what the upstream could not use: items of its own storage, and
 * the call or the result of a tool whose other half was erased. `input` has the items that follow.
 */
export function* toInputItems(
  stored: readonly { readonly id: string; readonly item: ResponseItem }[],
  input: readonly unknown[],
): Generator<void, readonly object[], void> {
  const items: object[] = [];
  for (const one of stored) {
    yield;
    const sent = toInputItem(one);
    if (sent) items.push(sent);
  }
  const all = [...items, ...input].map(toFields);
  const idsOf = (isOutput: boolean): ReadonlySet<unknown> =>
    new Set(
      all.filter(({ type }) => /_call_output$/.test(toText(type)) === isOutput).map((one) => one.call_id),
    );
  const [calls, outputs] = [idsOf(false), idsOf(true)];
  return items.filter((item) => {
    const { type, call_id: call } = toFields(item);
    if (typeof call !== "string") return true;
    return /_call_output$/.test(toText(type)) ? calls.has(call) : outputs.has(call);
  });
}

/** Gives a stored item as an input item; undefined for one that the upstream could not use. */
export function toInputItem({
  id,
  item,
}: {
  readonly id: string;
  readonly item: ResponseItem;
}): object | undefined {
  const { status: _status, ...rest } = item;
  const sent = TYPES_WITHOUT_ID.has(item.type) ? rest : { ...item, id };
  return isSelfContainedItem(sent) && !isEmptyMessage(sent) ? sent : undefined;
}

function isEmptyMessage({ type, content }: BodyFields): boolean {
  return type === "message" && toArray(content).length === 0;
}
