import type { ErasureReceipt } from "../../../domain/receipt.ts";
import { yieldToEventLoop } from "../../../domain/time-slicing.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { StoredMessage } from "../../../engine/api/session-types.ts";
import type { InputMessage } from "../../../engine/api/writing-types.ts";
import { refuseField } from "../../problem.ts";
import { toArray, toFields, toText } from "../request/reply-reader.ts";
import {
  findStoredMessage,
  type ItemMessage,
  listItemMessages,
  showConversationItems,
} from "./conversation-store.ts";
import {
  listResponseRecords,
  OUTPUT_FIELD,
  REFERENCES_FIELD,
  readRecord,
  toItemId,
} from "./stored-context.ts";

/** A response as it is stored: its record, and the messages of its input and output that were not erased. */
export interface StoredResponse {
  readonly id: string;
  readonly record: StoredMessage;
  readonly input: readonly ItemMessage[];
  readonly output: readonly ItemMessage[];
}

const MODEL_PART = "responsemodel";
/** The most letters of a model's name that are kept. */
const MAX_MODEL_LETTERS = 200;

/** Gives the message with the name of a response's model. It is one of its own: an erasure of the name leaves the response. */
export function createModelMessage(record: string, model: string): InputMessage {
  const name = model.slice(0, MAX_MODEL_LETTERS).toWellFormed();
  return { id: toModelId(record), role: "system", content: [{ type: MODEL_PART, name }] };
}

function toModelId(record: string): string {
  return `${record}.model`;
}

/** Gives a response of the user, the newest with its id. Throws a 404 error if there is none. */
export async function readStoredResponse(memory: ScopedMemory, id: string): Promise<StoredResponse> {
  const record = (await listResponseRecords(memory, id)).at(-1);
  if (!record) throw createUnknownError();
  const fields = toFields(readRecord(record));
  return {
    id,
    record,
    input: await loadItems(memory, toArray(fields.said)),
    output: await loadItems(memory, toArray(fields[OUTPUT_FIELD])),
  };
}

function createUnknownError(): Error {
  return refuseField("response_id", "Response not found.", 404);
}

/** Messages that are read between two yields to the event loop. */
const SLICE = 50;

async function loadItems(memory: ScopedMemory, ids: readonly unknown[]): Promise<readonly ItemMessage[]> {
  const items: ItemMessage[] = [];
  for (const [i, id] of ids.entries()) {
    if (i % SLICE === SLICE - 1) await yieldToEventLoop();
    const message = await findStoredMessage(memory, toText(id));
    if (message) items.push({ id: toItemId(message.id), message });
  }
  return items;
}

/** Gives a response in OpenAI's form. What is not kept has the value of a request that does not name it. */
export async function showStoredResponse(
  memory: ScopedMemory,
  { id, record, output }: StoredResponse,
): Promise<object> {
  const { conversation, previous } = toFields(readRecord(record));
  return {
    id,
    object: "response",
    created_at: Math.floor(Date.parse(record.at) / 1000),
    status: "completed",
    model: await readModel(memory, record.id),
    output: await showConversationItems(memory, output),
    conversation: typeof conversation === "string" ? { id: conversation } : null,
    previous_response_id: typeof previous === "string" ? previous.replace(/~\d+$/, "") : null,
    usage: null,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: "auto",
    tools: [],
    top_p: null,
    store: true,
  };
}

async function readModel(memory: ScopedMemory, record: string): Promise<string> {
  const { parts = [] } = (await findStoredMessage(memory, toModelId(record))) ?? {};
  return toText(toFields(parts.find(({ type }) => type === MODEL_PART)).name);
}

/**
 * Erases a response with its own input and output, and with what was learnt from them alone. All with its id are erased, so
 * that a retry erases nothing more. Throws a 404 error if there is none.
 */
export async function eraseStoredResponse(
  memory: ScopedMemory,
  id: string,
  signal: AbortSignal,
): Promise<ErasureReceipt> {
  const records = await listResponseRecords(memory, id);
  if (records.length === 0) throw createUnknownError();
  const others = records.flatMap((record) => {
    const { said, [OUTPUT_FIELD]: output, [REFERENCES_FIELD]: references } = toFields(readRecord(record));
    const others = new Set(toArray(references));
    return [...toArray(said).filter((id) => !others.has(id)), ...toArray(output), toModelId(record.id)];
  });
  const left = await listItemMessages(memory, others.map(toText));
  return memory.forget({ ids: [...new Set([...left, ...records.map((one) => one.id)])] }, { signal });
}
