import { createHash } from "node:crypto";
import type { Part } from "../../../domain/message.ts";
import { runInSlices } from "../../../domain/time-slicing.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { InputMessage } from "../../../engine/api/writing-types.ts";
import { isRefusal, refuseField } from "../../problem.ts";
import type { MemoryAccess } from "../request/memory-access.ts";
import { type ProxyRequest, readFileParts } from "../request/proxy-request.ts";
import { toArray, toFields, toText, type UpstreamReply } from "../request/reply-reader.ts";
import {
  createTurnEnd,
  createTurnGroup,
  findStoredMessage,
  readStoredConversation,
} from "./conversation-store.ts";
import type { ReferencedItem } from "./item-references.ts";
import {
  chooseItemId,
  ITEM_LIMITS,
  isModelItem,
  measureItem,
  normalizeItem,
  type ResponseItem,
  readResponseItem,
  toItemContent,
} from "./response-items.ts";
import {
  createRecordId,
  OUTPUT_FIELD,
  REFERENCES_FIELD,
  RESPONSE_PART,
  type StoredContext,
} from "./stored-context.ts";
import { createModelMessage } from "./stored-responses.ts";

type References = ReadonlyMap<number, ReferencedItem>;

/** What of a request and its response is to be stored as items. */
export interface TurnPlan {
  readonly context: StoredContext | undefined;
  /** The items of the request itself. */
  readonly input: readonly ResponseItem[];
  /** The same as they were sent, with their ids. */
  readonly values: readonly unknown[];
  /** Those that are stored already, as the request names or repeats them, by their place. */
  readonly references: References;
  /** The model that was asked for. */
  readonly model: string;
  /** Whether the words are stored apart from the items, by the built-in model. */
  readonly isBuiltIn: boolean;
  /** Whether a later request may continue from the response. */
  readonly isResponseStored: boolean;
}

/**
 * Plans the storing of a request of the Responses API. Undefined if nothing of it is stored as items: the mode is less than
 * `on`; its response is at the client's own account; or `store` is false and it names no conversation. A request that has
 * earlier turns in its input is stored only with `store: true`: its client keeps the history itself. Throws a 400 error for
 * an item that a conversation cannot hold.
 */
export async function planTurn(
  request: ProxyRequest,
  {
    context,
    references = new Map(),
    resent = new Map(),
    access,
    isOwnAccount,
    isBuiltIn,
  }: {
    readonly context: StoredContext | undefined;
    readonly references?: References;
    /** Other items of the input that are stored already. */
    readonly resent?: References;
    readonly access: MemoryAccess;
    readonly isOwnAccount: boolean;
    readonly isBuiltIn: boolean;
  },
): Promise<TurnPlan | undefined> {
  const { body } = request;
  const { store } = body;
  const values =
    typeof body.input === "string"
      ? [{ type: "message", role: "user", content: body.input }]
      : toArray(body.input);
  if (access.mode !== "on" || (isOwnAccount && !context)) return undefined;
  const isHistory = (value: unknown, index: number): boolean => isModelItem(value) && !references.has(index);
  const hasHistory = context === undefined && store !== true && values.some(isHistory);
  const isResponseStored = store !== false && !hasHistory;
  if (!context?.conversation && !isResponseStored) return undefined;
  try {
    const input = await runInSlices(readInputSteps(request, values));
    const stored = new Map([...resent, ...references]);
    const model = toText(body.model);
    return { context, input, values, references: stored, model, isBuiltIn, isResponseStored };
  } catch (error) {
    if (context?.conversation || !isRefusal(error)) throw error;
    // Such a response cannot be continued. All else is as without.
    return undefined;
  }
}

function* readInputSteps(
  request: ProxyRequest,
  values: readonly unknown[],
): Generator<void, readonly ResponseItem[], void> {
  if (values.length > ITEM_LIMITS.perConversation)
    throw refuseField("input", "input has more items than can be stored.");
  const items: ResponseItem[] = [];
  // Long strings of a long request were cut. Those of images are put back; others are too long to be stored.
  let cuts = request.cuts.length;
  for (const [i, value] of values.entries()) {
    yield;
    const { content } = toFields(value);
    const restored =
      cuts === 0 ? content : readFileParts(request, { content, path: ["input", i, "content"] });
    const before = toArray(content);
    cuts -= toArray(restored).filter((part, place) => part !== before[place]).length;
    items.push(
      readResponseItem(restored === content ? value : { ...toFields(value), content: restored }, "input"),
    );
  }
  if (cuts > 0)
    throw refuseField("input", "An item in input is too large to be stored. Send it without conversation.");
  return items;
}

/** Stores the items of one turn. */
export interface TurnStorage {
  /** Gives the id and the content under which a new turn of the user is stored. `index`: its place in the request's input. */
  toUserTurn(index: number, id: string): { readonly id: string; readonly content: readonly Part[] };
  /** Stores the other items with those of the response, in one write, if the response is complete. Gives whether it is. */
  complete(memory: ScopedMemory, session: string, reply: UpstreamReply): Promise<boolean>;
}

/** Creates the storage of a turn. `seed` and `turn` identify it: a retry of the request has the same. */
export function createTurnStorage(
  plan: TurnPlan,
  { seed, turn }: { readonly seed: string; readonly turn: string },
): TurnStorage {
  const { context, input } = plan;
  const conversation = context?.conversation?.id;
  const last = context?.conversation?.items.at(-1)?.message.id ?? "";
  const group = createTurnGroup(seed, turn, last, JSON.stringify(input));
  const userTurns = new Map<number, InputMessage>();
  return {
    toUserTurn(index, id) {
      const item = input[index];
      const stored = item ? toItemContent(item, plan.isBuiltIn) : { role: "user" as const, content: [] };
      const own =
        conversation === undefined ? id : `${conversation}.${group}.${index}.${toUserItemId(group, index)}`;
      if (item) userTurns.set(index, { id: own, ...stored });
      return { id: own, content: stored.content };
    },
    async complete(memory, session, reply) {
      if (!reply.isComplete || !reply.items) return false;
      const isNamed = plan.isResponseStored && RESPONSE_ID.test(reply.id ?? "");
      const record = isNamed ? await createRecordId(memory, reply.id ?? "") : undefined;
      const prefix = conversation === undefined ? record : `${conversation}.${group}`;
      if (prefix === undefined) return false;
      if (conversation !== undefined && !(await isStored(memory, conversation))) return false;
      const said = toInputMessages(plan, prefix, userTurns);
      const replied = toOutputMessages(plan, prefix, reply.items);
      const added = said.filter((one) => "role" in one);
      await memory.remember(
        [...added, ...replied, ...toEndMessages(plan, { group, record, said, replied })],
        {
          session,
          signal: AbortSignal.timeout(WRITE_TIMEOUT_MS),
        },
      );
      return true;
    },
  };
}

/** Whether a conversation is still there: it may have been erased while the model replied. */
async function isStored(memory: ScopedMemory, conversation: string): Promise<boolean> {
  try {
    if (await findStoredMessage(memory, conversation)) return true;
    await readStoredConversation(memory, conversation);
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

const WRITE_TIMEOUT_MS = 60_000;
/** Ids of responses that can be the id of a message. */
const RESPONSE_ID = /^[A-Za-z0-9_-]{1,128}$/;

function toUserItemId(group: string, index: number): string {
  return `msg_${createHash("sha256").update(`${group}.${index}`).digest("hex").slice(0, 32)}`;
}

/**
 * Gives the messages of the input. The user's new turns are among them: they are stored already, under the same ids. Other
 * messages are history, which is kept for the model alone. What the request names by its id is not stored again, except in a
 * conversation: each of its items is a message of its own.
 */
function toInputMessages(
  { input, values, references, context }: TurnPlan,
  prefix: string,
  userTurns: ReadonlyMap<number, InputMessage>,
): readonly (InputMessage | { readonly id: string })[] {
  const taken = listItemIds(context);
  return input.map((item, index) => {
    const userTurn = userTurns.get(index);
    if (userTurn) return userTurn;
    const referenced = references.get(index);
    if (referenced && !context?.conversation) return { id: referenced.message };
    const id = chooseItemId(values[index], item, taken);
    taken.add(id);
    return { id: `${prefix}.${index}.${id}`, ...toItemContent(item, true) };
  });
}

function toOutputMessages(
  { input, context, isBuiltIn }: TurnPlan,
  prefix: string,
  output: readonly unknown[],
): readonly InputMessage[] {
  const taken = listItemIds(context);
  return output.flatMap((value, i) => {
    const { id: _id, ...fields } = toFields(value);
    if (typeof fields.type !== "string") return [];
    const item = normalizeItem(fields as ResponseItem);
    if (measureItem(item) > ITEM_LIMITS.bytes) return [];
    const id = chooseItemId(value, item, taken);
    taken.add(id);
    return { id: `${prefix}.${input.length + i}.${id}`, ...toItemContent(item, isBuiltIn) };
  });
}

function listItemIds(context: StoredContext | undefined): Set<string> {
  return new Set(context?.conversation?.items.map(({ id }) => id));
}

/** Gives the messages that make the items count: the end of the turn, and the record of the response. */
function toEndMessages(
  { context, references, model }: TurnPlan,
  {
    group,
    record,
    said,
    replied,
  }: {
    readonly group: string;
    /** The id of the record; undefined if the response is not to be continued. */
    readonly record: string | undefined;
    readonly said: readonly { readonly id?: string }[];
    readonly replied: readonly InputMessage[];
  },
): readonly InputMessage[] {
  const conversation = context?.conversation?.id;
  const referenced = conversation === undefined ? [...references.values()].map((one) => one.message) : [];
  const part: Part = {
    type: RESPONSE_PART,
    said: said.map(({ id }) => id),
    ...(referenced.length === 0 ? {} : { [REFERENCES_FIELD]: referenced }),
    [OUTPUT_FIELD]: replied.map(({ id }) => id),
    ...(conversation === undefined ? {} : { conversation }),
    ...(context?.record === undefined ? {} : { previous: context.record }),
  };
  return [
    ...(conversation === undefined ? [] : [createTurnEnd(conversation, group)]),
    ...(record === undefined ? [] : [createModelMessage(record, model)]),
    ...(record === undefined ? [] : [{ id: record, role: "system" as const, content: [part] }]),
  ];
}
