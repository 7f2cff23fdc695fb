import { createHash, createHmac, createSecretKey, randomBytes } from "node:crypto";
import { type Scope, toScopeKey } from "../../../domain/scope.ts";
import { createBlockNonce } from "../../../engine/fence.ts";
import type { RequestTurn } from "../asked/said.ts";
import { createLruCache, type LruCache } from "./lately.ts";
import { measureProfile, type ProfileBlock } from "./profile-block.ts";

/** What is held of a conversation while it goes on, so that what its requests begin with keeps its bytes. */
export interface ProxyConversation {
  /** The key of the user's scope, and of the conversation among all. */
  readonly user: string;
  readonly key: string;
  /** What its messages are stored under: the session that the client named, or one of its own. */
  readonly session: string;
  /** Of its fences. */
  readonly nonce: string;
  /** The user's revision that this is up to; -1 before its first request. */
  revision: number;
  /** How often words of the user were erased meanwhile: what was read before the last time is not kept. */
  erasureCount: number;
  /** Ids of memories that were written since the profile was made. */
  readonly changedMemories: Set<string>;
  profile?: ProfileBlock;
  /** What was recalled for the newest turn: while the model is at work on it with tools, it stays the same. */
  recalled?: { readonly turn: string; readonly block: string; readonly id: string };
}

export interface ConversationCache {
  /** The conversation that a request belongs to; begins one where there is none yet. */
  open(scope: Scope, place: ConversationReference): ProxyConversation;
  /** To be called where a conversation has got texts: those of the ones used longest ago go where all are too large. */
  updateSize(conversation: ProxyConversation): void;
  /** Drops what is held of memories: of one user's, or of all users' where none is named. */
  forget(user?: string): void;
  /** A later request may go on from this answer. */
  linkAnswer(scope: Scope, answer: string, conversation: ProxyConversation): void;
  /**
   * The id under which a turn is stored. A turn that comes again (the client tries again, or asks for another answer) has
   * the same id, and so is stored once; the same words said anew are another turn.
   */
  turnId(scope: Scope, conversation: ProxyConversation, turn: string, isFirst: boolean): string;
}

export interface ConversationReference {
  readonly session?: string | undefined;
  /** The earlier answer that the upstream is told to go on from. */
  readonly threadId?: string | undefined;
  readonly turns: readonly RequestTurn[];
  /** The turn it begins with, where this request is its first. */
  readonly opening?: string | undefined;
}

/** What a user began last. */
interface ConversationOpening {
  readonly session: string;
  readonly turn: string;
  readonly id: string;
}

const HOUR_MS = 3_600_000;
const RETRY_WINDOW_MS = 600_000;
const MAX_CONVERSATIONS = 2000;
const MAX_OPENINGS = 5000;
/** Of the texts of all conversations, about. */
const MAX_BYTES = 8_000_000;
/** More than any profile is made from. */
const MAX_CHANGED_MEMORIES = 2000;
/** Of an id that is held beside its letters. */
const ID_BYTES = 60;

/**
 * Held in this process, for an hour after the last request: as long as providers keep a prompt in their caches. Without
 * it (after a restart, in another process) a conversation goes on with its profile of that moment.
 */
export function createConversationCache(mostBytes: number = MAX_BYTES): ConversationCache {
  const held = createLruCache<ProxyConversation>({ most: MAX_CONVERSATIONS, idleMs: HOUR_MS });
  const last = createLruCache<ConversationOpening>({ most: MAX_OPENINGS, idleMs: RETRY_WINDOW_MS });
  // Apart from the others: a conversation that loses its texts keeps its session.
  const withTexts = createLruCache<ProxyConversation>({
    most: MAX_CONVERSATIONS,
    idleMs: HOUR_MS,
    mostBytes,
    sizeOf: measureConversation,
    onDrop: dropTexts,
  });
  const key = createSecretKey(randomBytes(32));
  const nonces = { sign: (text: string) => createHmac("sha256", key).update(text).digest("hex") };
  const begun = (scope: Scope, id: string, session: string | undefined): ProxyConversation => {
    const named = session ?? `chat-${hashText(id).slice(0, 8)}-${randomBytes(6).toString("hex")}`;
    const nonce = createBlockNonce(nonces, scope, named);
    return {
      user: toScopeKey(scope),
      key: toConversationKey(scope, named),
      session: named,
      nonce,
      revision: -1,
      erasureCount: 0,
      changedMemories: new Set(),
    };
  };
  return {
    open(scope, { session, threadId: kept, turns: said, opening }) {
      const first = said.find(({ role }) => role === "user")?.text ?? "";
      const id = session === undefined ? (kept ?? JSON.stringify(["first", first])) : `session ${session}`;
      const place = toConversationKey(scope, id);
      const known = held.get(place);
      // Two conversations may begin with the same words; only one that is tried again is the same.
      const isAnother =
        session === undefined && opening !== undefined && last.get(toScopeKey(scope))?.turn !== opening;
      if (known && !isAnother) return known;
      const conversation = begun(scope, id, session);
      held.set(place, conversation);
      return conversation;
    },
    updateSize(conversation) {
      if (conversation.changedMemories.size > MAX_CHANGED_MEMORIES) dropTexts(conversation);
      withTexts.set(conversation.key, conversation);
    },
    forget(user) {
      for (const conversation of [...held.values(), ...withTexts.values()]) {
        if (user !== undefined && conversation.user !== user) continue;
        conversation.erasureCount += 1;
        dropTexts(conversation);
      }
    },
    linkAnswer: (scope, answer, conversation) => held.set(toConversationKey(scope, answer), conversation),
    turnId(scope, { session }, turn, isFirst) {
      if (!isFirst) return `chat-${hashText(JSON.stringify([session, turn]))}`;
      return getFirstTurnId(last, toScopeKey(scope), session, turn);
    },
  };
}

/** What is held of memories; the next request begins with the profile of its moment. */
export function dropTexts(conversation: ProxyConversation): void {
  delete conversation.profile;
  delete conversation.recalled;
  conversation.changedMemories.clear();
}

function measureConversation({ profile, recalled, changedMemories: touched }: ProxyConversation): number {
  return measureProfile(profile) + 2 * (recalled?.block.length ?? 0) + touched.size * ID_BYTES;
}

/**
 * The first words of a conversation do not tell it from another one that begins alike. They are the same turn where the
 * user has begun nothing else since, and that was a moment ago.
 */
function getFirstTurnId(
  last: LruCache<ConversationOpening>,
  user: string,
  session: string,
  turn: string,
): string {
  const before = last.get(user);
  if (before?.turn === turn && before.session === session) return before.id;
  const id = `chat-${hashText(JSON.stringify([session, turn, randomBytes(16).toString("hex")]))}`;
  last.set(user, { session, turn, id });
  return id;
}

/** Turns by all that was said up to them: the same words at another place of a conversation are another turn. */
export function* hashTurns(
  kept: string | undefined,
  said: readonly RequestTurn[],
): Generator<void, string[], void> {
  let chain = hashText(kept ?? "");
  const turns: string[] = [];
  for (const { role, text } of said) {
    yield;
    if (role !== "other") chain = hashText(JSON.stringify([chain, role, text.trim()]));
    turns.push(chain);
  }
  return turns;
}

function toConversationKey(scope: Scope, id: string): string {
  return JSON.stringify([toScopeKey(scope), hashText(id)]);
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 32);
}
