import type { Scope } from "../../../domain/scope.ts";
import type { ScopedMemory } from "../../../engine/surface.ts";
import { MemoryError } from "../../../errors.ts";
import type { Asked } from "../../operation.ts";
import type { Spoken } from "../asked/spoken.ts";
import type { Who } from "../asked/who.ts";
import type { OpenAiProxy } from "../proxy.ts";
import type { Reply } from "../replies/reply.ts";
import { beforeTurn, type Given, NOTHING } from "./before.ts";
import type { Conversation } from "./conversations.ts";
import { type Keeping, keepReply, keepSaid } from "./keeping.ts";
import { within } from "./within.ts";

/** What the memory does in one turn of a conversation. None of it ever throws. */
export interface Turn {
  /** Where the user asks to forget something, it is forgotten before anything is recalled. */
  forgetFirst(): Promise<void>;
  /** What the memory has to say, within the time that it has. */
  recalled(): Promise<Given>;
  /** Stores what the user said, once. Returns at once. */
  keepSaid(): void;
  /** Stores what the model answered, as far as it came. Returns at once. */
  keepReply(reply: Reply): void;
  /** What the client is told about it. */
  headers(given: Given): { readonly [name: string]: string };
}

/** Whose memory it is, in which conversation. */
export interface Held {
  readonly scope: Scope;
  /** Of the user, among all that are served. */
  readonly key: string;
  readonly conversation: Conversation;
  /** What is to be stored of what the user says. */
  readonly said: readonly Keeping[];
  /** Got when it is used: a memory that cannot be had is trouble of the step that wanted it. */
  memory(): ScopedMemory;
}

/** The user's memory in this turn; undefined where it has no part in it. */
export function heldIn(
  asked: Pick<Asked, "memoryOf" | "project">,
  { conversations }: OpenAiProxy,
  { user, session, mode }: Who,
  { said, kept, fresh }: Spoken,
): Held | undefined {
  if (mode === "off" || user === undefined) return undefined;
  const scope = { project: asked.project(), user };
  const opening = fresh.find(({ isOpening }) => isOpening)?.turn;
  const conversation = conversations.of(scope, { session, kept, said, opening });
  const stored = mode === "read" ? [] : fresh;
  return {
    scope,
    key: JSON.stringify([scope.project, user]),
    conversation,
    said: stored.map(({ said: one, turn, isOpening }) => ({
      id: conversations.idOf(scope, conversation, turn, isOpening),
      said: one,
    })),
    memory: () => asked.memoryOf(user),
  };
}

/** A request to forget acts before the model is asked. Others that these words let in are only stored a little earlier. */
const FORGETTING =
  /\b(?:forget|forgot|erase|delete|remove|wipe|scrub|unlearn|scrap|strike|off the record|(?:don['’]?t|do not|never|stop) (?:remember|keep|store|sav)\w*)/i;
/** So much of a turn is looked through for them: no more of it is read as a request. */
const LOOKED_THROUGH = 40_000;

function asksToForget({ fresh }: Spoken): boolean {
  return fresh.some(({ said }) => FORGETTING.test(said.text.slice(0, LOOKED_THROUGH)));
}

/** How long a request waits for that. */
const FORGET_MS = 2000;

export function turn(
  { services }: Pick<Asked, "services">,
  proxy: OpenAiProxy,
  { who, spoken, held }: { who: Who; spoken: Spoken; held: Held | undefined },
): Turn {
  if (!held) return withoutMemory(who);
  const { conversation, key, said, memory } = held;
  let degraded: "forget" | "recall" | undefined;
  let isKept = false;
  const keep = (write: () => Promise<void>): Promise<boolean> => {
    const kept = proxy.keeper.keep(key, write);
    services.lifecycle.after(kept);
    void kept
      .then(async () => {
        proxy.profiles.changed(key, memory);
        // What was written is read again now, so that the next turn need not wait for it.
        await memory().list({ limit: 1 });
      })
      .catch(ignored);
    return kept;
  };
  const keepOnce = (): Promise<boolean> => {
    if (isKept || said.length === 0) return Promise.resolve(true);
    isKept = true;
    return keep(async () => keepSaid(memory(), conversation.session, said));
  };
  const recall = async (): Promise<Given> => {
    return beforeTurn(
      memory(),
      { conversation, profiles: proxy.profiles },
      {
        key,
        query: spoken.newest.text,
        turn: spoken.newest.turn,
        isAnew: spoken.fresh.length > 0,
        ids: said.map(({ id }) => id),
        maxTokens: proxy.maxTokens,
      },
    );
  };
  return {
    async forgetFirst() {
      if (said.length === 0 || !asksToForget(spoken)) return;
      const isDone = await within(FORGET_MS, keepOnce()).catch(() => false);
      if (isDone) return;
      degraded = "forget";
      proxy.trouble("forget", new MemoryError("unavailable", "a request to forget was not carried out yet."));
    },
    async recalled() {
      // What was to be forgotten may still be there: it is not shown.
      if (degraded) return NOTHING;
      // A failure of it was told where it failed; what is stored is recalled all the same.
      await proxy.keeper.settled(key);
      try {
        return await within(
          proxy.retrievalMs,
          recall().finally(() => proxy.conversations.measure(conversation)),
        );
      } catch (error) {
        degraded = "recall";
        proxy.trouble("recall", error);
        return frozen(conversation);
      }
    },
    keepSaid: () => void keepOnce(),
    keepReply(reply) {
      if (reply.id !== undefined) proxy.conversations.goesOn(held.scope, reply.id, conversation);
      if (who.mode === "on") void keep(async () => keepReply(memory(), conversation.session, reply));
    },
    headers: ({ recall: id }) => ({
      ...headersOf(degraded ? { ...who, mode: "degraded", why: `${degraded} failed` } : who),
      ...(id === undefined ? {} : { "x-keepsake-recall": id }),
    }),
  };
}

/** Whoever needs it meets it again. */
function ignored(): void {}

function withoutMemory(who: Who): Turn {
  return {
    forgetFirst: async () => {},
    recalled: async () => NOTHING,
    keepSaid() {},
    keepReply() {},
    headers: () => headersOf(who),
  };
}

/** What the memory did, why it did not do more, and for which user. Headers hold ASCII alone, so the user is percent-encoded. */
export function headersOf(done: {
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
function frozen({ profile }: Conversation): Given {
  return { profile: profile?.block ?? "", recalled: "" };
}
