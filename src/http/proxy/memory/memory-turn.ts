import type { Receipt } from "../../../domain/receipt.ts";
import type { Scope } from "../../../domain/scope.ts";
import { runInSlices } from "../../../domain/time-slicing.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { MemoryError } from "../../../errors.ts";
import type { OperationRequest } from "../../operation.ts";
import type { StoredContext } from "../conversation/stored-context.ts";
import { createTurnStorage, type TurnPlan, type TurnStorage } from "../conversation/turn-storage.ts";
import type { OpenAiProxy } from "../proxy.ts";
import { findNewTurns, type ProxyDialect, type RequestTurn } from "../request/dialects.ts";
import type { MemoryAccess } from "../request/memory-access.ts";
import { type ProxyRequest, readFileParts } from "../request/proxy-request.ts";
import type { UpstreamReply } from "../request/reply-reader.ts";
import {
  EMPTY_MEMORY_CONTEXT,
  hashTurns,
  type MemoryContext,
  type ProxyConversation,
  prepareMemoryContext,
} from "./conversations.ts";
import { formatForgettingReport, formatUndoneReport } from "./forgetting-report.ts";
import { rejectAfter, type StoredTurn, storeReply, storeUserTurns } from "./memory-writer.ts";
import { toProfileKey } from "./profile-cache.ts";

/** The work of memory in one turn of a chat. A failure never throws, except of `forgetFirst`. */
interface MemoryTurn {
  /**
   * Executes a request to forget before anything is recalled. Gives whether something was erased. Throws `unavailable` if it can
   * be neither executed nor kept for later.
   */
  forgetFirst(): Promise<boolean>;
  /** Recalls memory within the time limit. */
  recall(): Promise<MemoryContext>;
  /** Stores the user's messages, once. Does not wait. */
  storeUserTurns(): void;
  /** Stores the model's reply as far as it was received. Does not wait. */
  storeReply(reply: UpstreamReply): void;
  /** Gives the response headers about memory. */
  headers(given: MemoryContext): { readonly [name: string]: string };
}

/** The user, conversation and messages of a turn. */
export interface MemoryTurnState {
  readonly scope: Scope;
  /** The key of the user's scope. */
  readonly key: string;
  /** The key of the user's profile, or of an agent's. */
  readonly profileKey: string;
  readonly conversation: ProxyConversation;
  /** The user's messages to store. */
  readonly turns: readonly StoredTurn[];
  /** Stores the items of the turn; undefined if only its words are stored. */
  readonly storage: TurnStorage | undefined;
  /** Opened on use, so that a failure belongs to the step that needs it. */
  memory(): ScopedMemory;
}

/** Gives the state of a turn; undefined if memory is off. */
export function findTurnState(
  asked: Pick<OperationRequest, "memoryOf" | "project" | "agent">,
  { conversations }: OpenAiProxy,
  { user, session, mode }: MemoryAccess,
  { turns: said, threadId: kept, newTurns: fresh, newest }: ConversationInput,
  {
    plan,
    context,
  }: { readonly plan?: TurnPlan | undefined; readonly context?: StoredContext | undefined } = {},
): MemoryTurnState | undefined {
  if (mode === "off" || user === undefined) return undefined;
  const { agent } = asked;
  const scope = { project: asked.project(), user, ...(agent === undefined ? {} : { agent }) };
  const opening = fresh.find(({ isOpening }) => isOpening)?.turn;
  const conversation = conversations.open(scope, {
    session: context?.conversation?.id ?? session,
    threadId: context?.response ?? kept,
    storedSession: context?.session,
    turns: said,
    opening,
  });
  const stored = mode === "read" ? [] : fresh;
  const storage = plan && createTurnStorage(plan, { seed: conversation.turnSeed, turn: newest.turn });
  if (!context?.conversation)
    for (const { said: one } of stored) conversations.noteWords(scope, "user", one.text);
  return {
    scope,
    key: JSON.stringify([scope.project, user]),
    profileKey: toProfileKey(scope),
    conversation,
    storage,
    turns: stored.map(({ said: one, turn, isOpening, readContent }) => {
      const id = conversations.turnId(scope, conversation, turn, isOpening);
      // The input of a request may be one text.
      const index = Number(one.path[1] ?? 0) - (context?.input.length ?? 0);
      return { id, turn: one, readContent, ...storage?.toUserTurn(index, id) };
    }),
    memory: () => asked.memoryOf(user),
  };
}

/** The number of characters searched for requests to forget: no more is read as a request. */
const MAX_SCANNED_CHARACTERS = 40_000;

/** Whether new messages may ask to forget: that is executed before the model is called. Other matches are only stored earlier. */
function mayAskToForget(
  { messageScanner }: Pick<OpenAiProxy, "messageScanner">,
  { newTurns }: ConversationInput,
): boolean {
  return newTurns.some(({ said }) =>
    messageScanner.mayAskToForget(said.text.slice(0, MAX_SCANNED_CHARACTERS)),
  );
}

/**
 * Whether words of a turn were erased, so that nothing of it is kept with its prompt. A request to forget that is sent again was
 * carried out the first time: its message is not stored in its words.
 */
async function hasErased(
  proxy: OpenAiProxy,
  receipt: Receipt | undefined,
  spoken: ConversationInput,
  { turns, memory }: MemoryTurnState,
): Promise<boolean> {
  if ((receipt?.erasures ?? []).length > 0) return true;
  if (!mayAskToForget(proxy, spoken)) return false;
  try {
    const read = Promise.all(turns.map(({ id }) => memory().message(id)));
    const stored = await rejectAfter(FORGET_TIMEOUT_MS, read);
    return turns.some(({ turn }, i) => stored[i]?.content.trim() !== turn.text.trim());
  } catch {
    return true;
  }
}

/** How long a request waits for an erasure, in ms. */
const FORGET_TIMEOUT_MS = 2000;

export function createMemoryTurn(
  { services }: Pick<OperationRequest, "services">,
  proxy: OpenAiProxy,
  { who, spoken, held }: { who: MemoryAccess; spoken: ConversationInput; held: MemoryTurnState | undefined },
): MemoryTurn {
  if (!held) return createTurnWithoutMemory(who);
  const { conversation, key, turns: said, memory } = held;
  const writing = createTurnWriter(services, proxy, held);
  let degraded: string | undefined;
  const withReport = (context: MemoryContext): MemoryContext =>
    addReport(context, conversation, { turn: spoken.newest.turn, made: writing.receipt(), proxy });
  const recallWithin = async (): Promise<MemoryContext> => {
    const keepPrompt = beginPrompt(proxy, who, spoken, held);
    try {
      const context = await rejectAfter(
        proxy.retrievalMs,
        recallFor(proxy, spoken, held).finally(() => proxy.conversations.updateSize(conversation)),
      );
      const given = withReport(context);
      return (await hasErased(proxy, writing.receipt(), spoken, held)) ? given : keepPrompt(given);
    } catch (error) {
      degraded = "recall failed";
      proxy.reportTrouble("recall", error);
      return withReport(getFrozenContext(conversation));
    }
  };
  return {
    async forgetFirst() {
      if (said.length === 0 || !(mayAskToForget(proxy, spoken) || conversation.isAsked)) return false;
      const isDone = await writing.forget();
      if (isDone) return (writing.receipt()?.erasures ?? []).length > 0;
      degraded = "forget failed";
      proxy.reportTrouble(
        "forget",
        new MemoryError("unavailable", "a request to forget has not been executed yet."),
      );
      return true;
    },
    async recall() {
      // The data to forget may still be stored, so nothing is shown.
      if (degraded) return createUndoneContext(conversation, proxy.writer.isForgetting(key));
      const state = await proxy.writer.waitForWrites(key);
      if (proxy.writer.isForgetting(key)) {
        degraded = "forget pending";
        return EMPTY_MEMORY_CONTEXT;
      }
      // What is stored is recalled anyway.
      if (state !== "stored") degraded = state === "late" ? "store pending" : "store failed";
      return recallWithin();
    },
    storeUserTurns: () => void writing.storeOnce(),
    storeReply(reply) {
      if (reply.id !== undefined) proxy.conversations.linkAnswer(held.scope, reply.id, conversation);
      if (who.mode !== "on") return;
      if (!conversation.session.startsWith("conv_"))
        proxy.conversations.noteWords(held.scope, "assistant", reply.text);
      void writing.store(async () => {
        const isStored = await held.storage?.complete(memory(), conversation.session, reply);
        if (!isStored) await storeReply(memory(), conversation.session, reply);
      });
    },
    headers: ({ recallId: id }) => ({
      ...toMemoryHeaders(degraded ? { ...who, mode: "degraded", why: degraded } : who),
      ...(id === undefined ? {} : { "x-keepsake-recall": id }),
    }),
  };
}

/** Stores what is said in a turn. */
interface TurnWriter {
  /** What came of storing the user's messages, once they are stored. */
  receipt(): Receipt | undefined;
  store(write: () => Promise<void>): Promise<boolean>;
  /** Stores the user's messages, once. */
  storeOnce(): Promise<boolean>;
  /** The same if they may ask to forget. Gives false after a time limit. Throws `unavailable` if they cannot be kept either. */
  forget(): Promise<boolean>;
}

function createTurnWriter(
  { lifecycle }: OperationRequest["services"],
  proxy: OpenAiProxy,
  { conversation, key, profileKey, turns: said, memory }: MemoryTurnState,
): TurnWriter {
  let isKept = false;
  let isLate = false;
  let receipt: Receipt | undefined;
  const refresh = async (): Promise<void> => {
    proxy.profiles.markChanged(profileKey, memory);
    // Reads the written state now, so that the next turn need not wait for it.
    await memory().list({ limit: 1 });
  };
  const store = (
    write: () => Promise<void>,
    step: "write" | "writeForgetting" = "write",
  ): Promise<boolean> => {
    const kept = proxy.writer[step](key, write);
    lifecycle.trackAfterAnswer(kept);
    void kept.then(refresh).catch(ignoreError);
    return kept;
  };
  const storeOnce = (step?: "writeForgetting"): Promise<boolean> => {
    if (isKept || said.length === 0) return Promise.resolve(true);
    isKept = true;
    return store(async () => {
      receipt = await storeUserTurns(memory(), conversation.session, said);
      conversation.isAsked = (receipt?.waiting ?? []).length > 0;
      if (!isLate) return;
      conversation.lateReceipt = receipt;
      void refresh().catch(ignoreError);
    }, step);
  };
  return {
    receipt: () => receipt,
    store: (write) => store(write),
    storeOnce: () => storeOnce(),
    async forget() {
      let refusal: unknown;
      const done = storeOnce("writeForgetting").catch((error) => {
        refusal = error;
        return false;
      });
      const isDone = await rejectAfter(FORGET_TIMEOUT_MS, done).catch(() => false);
      if (refusal !== undefined) throw refusal;
      isLate = !isDone;
      return isDone;
    },
  };
}

function recallFor(
  proxy: OpenAiProxy,
  spoken: ConversationInput,
  { conversation, profileKey, turns, memory }: MemoryTurnState,
): Promise<MemoryContext> {
  return prepareMemoryContext(
    memory(),
    { conversation, profiles: proxy.profiles, promptGuard: proxy.promptGuard },
    {
      key: profileKey,
      query: spoken.newest.text,
      turn: spoken.newest.turn,
      hasNewWords: spoken.newTurns.length > 0,
      ownIds: turns.map(({ id }) => id),
      maxTokens: proxy.maxTokens,
    },
  );
}

/** Gives what keeps the text that the model is given for a turn, and gives it back. Call it before memory is read. */
function beginPrompt(
  { prompts }: OpenAiProxy,
  { mode }: MemoryAccess,
  { newest }: ConversationInput,
  { scope, conversation, turns }: MemoryTurnState,
): (given: MemoryContext) => MemoryContext {
  const keep = prompts.begin(scope);
  return (given) => {
    const { profileBlock, recallBlock, recallId: recall } = given;
    const text = [profileBlock, recallBlock].filter((one) => one !== "").join("\n\n");
    const { session, revision } = conversation;
    const message = turns.at(-1)?.id;
    // While the model works with tools, it sees the same again. With the mode "read", nothing of a turn is kept.
    if (mode === "on" && message !== undefined)
      keep({ door: "proxy", session, message, request: newest.text, text, recall, revision });
    return given;
  };
}

/** The context with what the memory reports on a request to forget. It stays the same while the model works with tools. */
function addReport(
  context: MemoryContext,
  conversation: ProxyConversation,
  {
    turn,
    made,
    proxy: { promptGuard, receiptWriter },
  }: {
    readonly turn: string;
    readonly made: Receipt | undefined;
    readonly proxy: Pick<OpenAiProxy, "promptGuard" | "receiptWriter">;
  },
): MemoryContext {
  const late = conversation.lateReceipt;
  delete conversation.lateReceipt;
  const receipt = made ?? late;
  if (receipt)
    conversation.report = {
      turn,
      block: formatForgettingReport(receipt, {
        nonce: conversation.nonce,
        isLate: made === undefined,
        promptGuard,
        receiptWriter,
      }),
    };
  const block = conversation.report?.turn === turn ? conversation.report.block : "";
  const recallBlock = [context.recallBlock, block].filter((one) => one !== "").join("\n\n");
  return { ...context, recallBlock };
}

/** The context of a turn whose request to forget is not carried out: it says so, and shows nothing else. */
function createUndoneContext({ nonce }: ProxyConversation, isKept: boolean): MemoryContext {
  return { ...EMPTY_MEMORY_CONTEXT, recallBlock: formatUndoneReport({ nonce, isKept }) };
}

/** Ignores an error that occurs again where the result is needed. */
function ignoreError(): void {}

function createTurnWithoutMemory(who: MemoryAccess): MemoryTurn {
  return {
    forgetFirst: async () => false,
    recall: async () => EMPTY_MEMORY_CONTEXT,
    storeUserTurns() {},
    storeReply() {},
    headers: () => toMemoryHeaders(who),
  };
}

/** Gives headers with the mode, its reason and the user. Headers allow only ASCII, so the user is percent-encoded. */
export function toMemoryHeaders(done: {
  readonly mode: string;
  readonly why?: string;
  readonly user?: string;
  readonly from?: string;
}): { readonly [name: string]: string } {
  const { mode, why, user, from } = done;
  return {
    "x-keepsake-memory": mode,
    ...(why === undefined ? {} : { "x-keepsake-memory-why": why }),
    ...(user === undefined ? {} : { "x-keepsake-user": encodeURIComponent(user) }),
    ...(from === undefined ? {} : { "x-keepsake-user-from": from }),
  };
}

/** Gives the cached profile if memory is unavailable, so that the prompt cache stays warm. */
function getFrozenContext({ profile }: ProxyConversation): MemoryContext {
  return { profileBlock: profile?.block ?? "", recallBlock: "" };
}

/** The messages of a request, from any interface. */
export interface ConversationInput {
  readonly turns: readonly RequestTurn[];
  /** The id of the conversation stored at the upstream. */
  readonly threadId: string | undefined;
  /** The user's new messages, with their turn ids. */
  readonly newTurns: readonly {
    readonly said: RequestTurn;
    readonly turn: string;
    readonly isOpening: boolean;
    readonly readContent: () => unknown;
  }[];
  /** The new messages as one text. */
  readonly words: string;
  /** The user's newest message: a new one, or the one that the model is working on with tools. */
  readonly newest: { readonly text: string; readonly turn: string };
}

/** What of a request is stored here. */
interface StoredTurns {
  readonly context?: StoredContext | undefined;
  readonly references?: ReadonlyMap<number, unknown>;
}

/** Maximum number of consecutive user messages treated as new. Earlier ones are history. */
const MAX_NEW_TURNS = 100;

/**
 * Reads the messages of a request. Those that are stored here are not new: what comes before its own, and what it names by
 * ids, at these places of its input.
 */
export async function readConversation(
  request: ProxyRequest,
  dialect: ProxyDialect,
  { context, references }: StoredTurns = {},
): Promise<ConversationInput> {
  const { body } = request;
  const said = await runInSlices(dialect.parseTurns(body));
  const kept = dialect.findThreadId(body);
  const turns = await runInSlices(hashTurns(kept, said));
  const isBegun =
    kept !== undefined || context !== undefined || said.some(({ role }) => role === "assistant");
  const first = said.findIndex(({ role }) => role === "user");
  const last = said.findLastIndex(({ role }) => role === "user");
  const before = context?.input.length ?? 0;
  const fresh = findNewTurns(said)
    .filter((i) => i >= before && !references?.has(i - before))
    .slice(-MAX_NEW_TURNS)
    .flatMap((i) => {
      const one = said[i];
      if (!one) return [];
      const readContent = (): unknown => readFileParts(request, one);
      return [{ said: one, turn: turns[i] ?? "", isOpening: !isBegun && i === first, readContent }];
    });
  const words = fresh.map(({ said: { text } }) => text).join("\n");
  const text = fresh.length > 0 ? words : (said[last]?.text ?? "");
  return { turns: said, threadId: kept, newTurns: fresh, words, newest: { text, turn: turns[last] ?? "" } };
}
