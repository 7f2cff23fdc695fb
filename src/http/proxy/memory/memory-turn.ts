import type { Scope } from "../../../domain/scope.ts";
import type { ScopedMemory } from "../../../engine/api.ts";
import { runInSlices } from "../../../engine/time-slicing.ts";
import { MemoryError } from "../../../errors.ts";
import type { OperationRequest } from "../../operation.ts";
import type { OpenAiProxy } from "../proxy.ts";
import { findNewTurns, type OpenAiDialect, type RequestTurn } from "../request/dialects.ts";
import type { MemoryAccess } from "../request/memory-access.ts";
import type { ProxyRequest } from "../request/proxy-request.ts";
import type { UpstreamReply } from "../request/reply-reader.ts";
import {
  EMPTY_MEMORY_CONTEXT,
  hashTurns,
  type MemoryContext,
  type ProxyConversation,
  prepareMemoryContext,
} from "./conversations.ts";
import { rejectAfter, type StoredTurn, storeReply, storeUserTurns } from "./memory-writer.ts";

/** What the memory does in one turn of a conversation. None of it ever throws. */
interface MemoryTurn {
  /** Where the user asks to forget something, it is forgotten before anything is recalled. */
  forgetFirst(): Promise<void>;
  /** What the memory has to say, within the time that it has. */
  recall(): Promise<MemoryContext>;
  /** Stores what the user said, once. Returns at once. */
  storeUserTurns(): void;
  /** Stores what the model answered, as far as it came. Returns at once. */
  storeReply(reply: UpstreamReply): void;
  /** What the client is told about it. */
  headers(given: MemoryContext): { readonly [name: string]: string };
}

/** Whose memory it is, in which conversation. */
export interface MemoryTurnState {
  readonly scope: Scope;
  /** Of the user, among all that are served. */
  readonly key: string;
  readonly conversation: ProxyConversation;
  /** What is to be stored of what the user says. */
  readonly turns: readonly StoredTurn[];
  /** Got when it is used: a memory that cannot be had is trouble of the step that wanted it. */
  memory(): ScopedMemory;
}

/** The user's memory in this turn; undefined where it has no part in it. */
export function findTurnState(
  asked: Pick<OperationRequest, "memoryOf" | "project">,
  { conversations }: OpenAiProxy,
  { user, session, mode }: MemoryAccess,
  { turns: said, threadId: kept, newTurns: fresh }: ConversationInput,
): MemoryTurnState | undefined {
  if (mode === "off" || user === undefined) return undefined;
  const scope = { project: asked.project(), user };
  const opening = fresh.find(({ isOpening }) => isOpening)?.turn;
  const conversation = conversations.open(scope, { session, threadId: kept, turns: said, opening });
  const stored = mode === "read" ? [] : fresh;
  return {
    scope,
    key: JSON.stringify([scope.project, user]),
    conversation,
    turns: stored.map(({ said: one, turn, isOpening }) => ({
      id: conversations.turnId(scope, conversation, turn, isOpening),
      turn: one,
    })),
    memory: () => asked.memoryOf(user),
  };
}

/** A request to forget acts before the model is asked. Others that these words let in are only stored a little earlier. */
const FORGET_PATTERN =
  /\b(?:forget|forgot|erase|delete|remove|wipe|scrub|unlearn|scrap|strike|off the record|(?:don['’]?t|do not|never|stop) (?:remember|keep|store|sav)\w*)/i;
/** So much of a turn is looked through for them: no more of it is read as a request. */
const MAX_SCANNED_CHARACTERS = 40_000;

function isForgetRequest({ newTurns: fresh }: ConversationInput): boolean {
  return fresh.some(({ said }) => FORGET_PATTERN.test(said.text.slice(0, MAX_SCANNED_CHARACTERS)));
}

/** How long a request waits for that. */
const FORGET_TIMEOUT_MS = 2000;

export function createMemoryTurn(
  { services }: Pick<OperationRequest, "services">,
  proxy: OpenAiProxy,
  { who, spoken, held }: { who: MemoryAccess; spoken: ConversationInput; held: MemoryTurnState | undefined },
): MemoryTurn {
  if (!held) return createTurnWithoutMemory(who);
  const { conversation, key, turns: said, memory } = held;
  let degraded: "forget" | "recall" | undefined;
  let isKept = false;
  const keep = (write: () => Promise<void>): Promise<boolean> => {
    const kept = proxy.writer.write(key, write);
    services.lifecycle.trackAfterAnswer(kept);
    void kept
      .then(async () => {
        proxy.profiles.markChanged(key, memory);
        // What was written is read again now, so that the next turn need not wait for it.
        await memory().list({ limit: 1 });
      })
      .catch(ignoreError);
    return kept;
  };
  const keepOnce = (): Promise<boolean> => {
    if (isKept || said.length === 0) return Promise.resolve(true);
    isKept = true;
    return keep(async () => storeUserTurns(memory(), conversation.session, said));
  };
  const recall = async (): Promise<MemoryContext> => {
    return prepareMemoryContext(
      memory(),
      { conversation, profiles: proxy.profiles },
      {
        key,
        query: spoken.newest.text,
        turn: spoken.newest.turn,
        hasNewWords: spoken.newTurns.length > 0,
        ownIds: said.map(({ id }) => id),
        maxTokens: proxy.maxTokens,
      },
    );
  };
  return {
    async forgetFirst() {
      if (said.length === 0 || !isForgetRequest(spoken)) return;
      const isDone = await rejectAfter(FORGET_TIMEOUT_MS, keepOnce()).catch(() => false);
      if (isDone) return;
      degraded = "forget";
      proxy.reportTrouble(
        "forget",
        new MemoryError("unavailable", "a request to forget was not carried out yet."),
      );
    },
    async recall() {
      // What was to be forgotten may still be there: it is not shown.
      if (degraded) return EMPTY_MEMORY_CONTEXT;
      // A failure of it was told where it failed; what is stored is recalled all the same.
      await proxy.writer.waitForWrites(key);
      try {
        return await rejectAfter(
          proxy.retrievalMs,
          recall().finally(() => proxy.conversations.updateSize(conversation)),
        );
      } catch (error) {
        degraded = "recall";
        proxy.reportTrouble("recall", error);
        return getFrozenContext(conversation);
      }
    },
    storeUserTurns: () => void keepOnce(),
    storeReply(reply) {
      if (reply.id !== undefined) proxy.conversations.linkAnswer(held.scope, reply.id, conversation);
      if (who.mode === "on") void keep(async () => storeReply(memory(), conversation.session, reply));
    },
    headers: ({ recallId: id }) => ({
      ...toMemoryHeaders(degraded ? { ...who, mode: "degraded", why: `${degraded} failed` } : who),
      ...(id === undefined ? {} : { "x-keepsake-recall": id }),
    }),
  };
}

/** Whoever needs it meets it again. */
function ignoreError(): void {}

function createTurnWithoutMemory(who: MemoryAccess): MemoryTurn {
  return {
    forgetFirst: async () => {},
    recall: async () => EMPTY_MEMORY_CONTEXT,
    storeUserTurns() {},
    storeReply() {},
    headers: () => toMemoryHeaders(who),
  };
}

/** What the memory did, why it did not do more, and for which user. Headers hold ASCII alone, so the user is percent-encoded. */
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

/** With the memory out of reach, what is held of the conversation still goes with it: the prompt cache stays warm. */
function getFrozenContext({ profile }: ProxyConversation): MemoryContext {
  return { profileBlock: profile?.block ?? "", recallBlock: "" };
}

/** What is said in a request, whichever interface it came by. */
export interface ConversationInput {
  readonly turns: readonly RequestTurn[];
  /** What of the conversation the upstream keeps. */
  readonly threadId: string | undefined;
  /** What the user says now, with the turn that each is. */
  readonly newTurns: readonly {
    readonly said: RequestTurn;
    readonly turn: string;
    readonly isOpening: boolean;
  }[];
  /** The same as one text. */
  readonly words: string;
  /** The user's newest words: those of now, or those that the model is still at work on, with tools. */
  readonly newest: { readonly text: string; readonly turn: string };
}

/** So many of the user's words without an answer between them are looked at; what stands before them is history. */
const MAX_NEW_TURNS = 100;

export async function readConversation(
  { body }: ProxyRequest,
  dialect: OpenAiDialect,
): Promise<ConversationInput> {
  const said = await runInSlices(dialect.parseTurns(body));
  const kept = dialect.findThreadId(body);
  const turns = await runInSlices(hashTurns(kept, said));
  const isBegun = kept !== undefined || said.some(({ role }) => role === "assistant");
  const first = said.findIndex(({ role }) => role === "user");
  const last = said.findLastIndex(({ role }) => role === "user");
  const fresh = findNewTurns(said)
    .slice(-MAX_NEW_TURNS)
    .flatMap((i) => {
      const one = said[i];
      return one ? [{ said: one, turn: turns[i] ?? "", isOpening: !isBegun && i === first }] : [];
    });
  const words = fresh.map(({ said: { text } }) => text).join("\n");
  const text = fresh.length > 0 ? words : (said[last]?.text ?? "");
  return { turns: said, threadId: kept, newTurns: fresh, words, newest: { text, turn: turns[last] ?? "" } };
}
