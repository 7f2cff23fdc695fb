import { createHash, createHmac, createSecretKey, randomBytes } from "node:crypto";
import type { Item } from "../../../domain/recall.ts";
import { type Scope, toScopeKey } from "../../../domain/scope.ts";
import type { ScopedMemory } from "../../../engine/api.ts";
import { buildPromptBlock, createBlockNonce } from "../../../engine/prompt-block.ts";
import type { RequestTurn } from "../request/dialects.ts";
import { createLruCache, type LruCache } from "./lru-cache.ts";
import {
  findOutdated,
  measureProfile,
  type ProfileBlock,
  type ProfileCache,
  withNonce,
} from "./profile-cache.ts";

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

interface ConversationReference {
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
function dropTexts(conversation: ProxyConversation): void {
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

/** What a request is given of the memory. Blocks are empty where there is nothing to say. */
export interface MemoryContext {
  /** The same bytes through the whole conversation, unless something was erased. */
  readonly profileBlock: string;
  /** For the newest turn alone. */
  readonly recallBlock: string;
  /** By which the recall can be explained. */
  readonly recallId?: string;
}

export const EMPTY_MEMORY_CONTEXT: MemoryContext = { profileBlock: "", recallBlock: "" };

interface MemoryContextRequest {
  /** Of the user, among all that are served. */
  readonly key: string;
  readonly query: string;
  readonly turn: string;
  /** Whether the user says something now; else the model is still at work on what they said. */
  readonly hasNewWords: boolean;
  /** Under which ids that is stored: it may be already, and is no memory of an earlier time. */
  readonly ownIds: readonly string[];
  readonly maxTokens: number;
}

/** Of the budget, so much for the profile; the rest is for what is recalled. */
const PROFILE_SHARE = 0.25;
/** Further back than so many changes it is not looked whether one of them was an erasure. */
const MAX_CHANGES_READ = 100;

export function getProfileTokens(maxTokens: number): number {
  return Math.max(1, Math.floor(maxTokens * PROFILE_SHARE));
}

/**
 * The profile, frozen when the conversation began, and what the newest turn calls up. A change since then is told with
 * what is recalled, so that the profile keeps its bytes; an erasure takes all that was held with it.
 */
export async function prepareMemoryContext(
  memory: ScopedMemory,
  { conversation, profiles }: { readonly conversation: ProxyConversation; readonly profiles: ProfileCache },
  asked: MemoryContextRequest,
): Promise<MemoryContext> {
  await catchUp(memory, { conversation, profiles }, asked.key);
  if (!conversation.profile) await freezeProfile(memory, { conversation, profiles }, asked);
  const { profile, recalled: before } = conversation;
  const block = profile?.block ?? "";
  if (before?.turn === asked.turn && !asked.hasNewWords)
    return { profileBlock: block, recallBlock: before.block, recallId: before.id };
  if (asked.query.trim() === "") return { profileBlock: block, recallBlock: "" };
  const { erasureCount: erasures } = conversation;
  const recall = await memory.recall(asked.query, { maxTokens: asked.maxTokens });
  const ended = profile ? await findOutdated(profile, conversation.changedMemories, memory) : [];
  const own = new Set(asked.ownIds);
  const isOwn = ({ sources }: Item): boolean =>
    sources.length > 0 && sources.every(({ message }) => own.has(message));
  const items = recall.items.filter((item) => !isOwn(item));
  const { nonce } = conversation;
  const maxTokens = Math.max(1, asked.maxTokens - getProfileTokens(asked.maxTokens));
  const { text } = buildPromptBlock([...items, ...ended], { nonce, maxTokens });
  if (conversation.erasureCount === erasures)
    conversation.recalled = { turn: asked.turn, block: text, id: recall.id };
  return { profileBlock: block, recallBlock: text, recallId: recall.id };
}

type ConversationState = { readonly conversation: ProxyConversation; readonly profiles: ProfileCache };

/** Takes note of what was written since the last request of the conversation, and lets go of all where something was erased. */
async function catchUp(
  memory: ScopedMemory,
  { conversation, profiles }: ConversationState,
  key: string,
): Promise<void> {
  const revision = await memory.revision();
  const isErased = !(await noteChanges(memory, conversation, revision));
  if (!isErased) return;
  dropTexts(conversation);
  profiles.forget(key);
}

/** The same up to a revision. False where something was erased, or where that cannot be told. */
async function noteChanges(
  memory: ScopedMemory,
  conversation: ProxyConversation,
  revision: number,
): Promise<boolean> {
  const { revision: before } = conversation;
  conversation.revision = revision;
  if (before < 0 || revision === before) return true;
  if (revision - before > MAX_CHANGES_READ) return false;
  const since = await memory.history(undefined, { limit: revision - before });
  for (const { memories } of since) for (const { id } of memories) conversation.changedMemories.add(id);
  return since.every(({ erased }) => erased.length === 0);
}

/** Begins with the profile of now, or of a moment ago; what was written in that moment is noted as for any other. */
async function freezeProfile(
  memory: ScopedMemory,
  { conversation, profiles }: ConversationState,
  asked: MemoryContextRequest,
): Promise<void> {
  const { revision, nonce, erasureCount: erasures } = conversation;
  const made = await profiles.get(asked.key, memory, revision);
  if (!made) return;
  conversation.changedMemories.clear();
  conversation.revision = made.revision;
  const isWhole = await noteChanges(memory, conversation, Math.max(revision, made.revision));
  if (isWhole && conversation.erasureCount === erasures)
    conversation.profile = withNonce(made.profile, nonce);
}
