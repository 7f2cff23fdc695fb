import { createHash, createHmac, createSecretKey, randomBytes } from "node:crypto";
import type { Item } from "../../../domain/recall.ts";
import type { Receipt } from "../../../domain/receipt.ts";
import { type Scope, toScopeKey } from "../../../domain/scope.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { buildPromptBlock, createBlockNonce } from "../../../engine/prompt-block.ts";
import type { PromptGuard } from "../../../ports/language/prompt-guard.ts";
import type { RequestTurn } from "../request/dialects.ts";
import { createLruCache, type LruCache } from "./lru-cache.ts";
import {
  findOutdated,
  measureProfile,
  type ProfileBlock,
  type ProfileCache,
  withNonce,
} from "./profile-cache.ts";

/** The cached state of a conversation. It keeps the beginning of its requests byte for byte the same. */
export interface ProxyConversation {
  /** The keys of the user's scope and of the conversation. */
  readonly user: string;
  readonly key: string;
  /** The session of its messages: named by the client, or generated. */
  readonly session: string;
  /** The nonce of its prompt blocks. */
  readonly nonce: string;
  /** The user's revision of this state; -1 before the first request. */
  revision: number;
  /** Tells the turns of this state from those of another process, and from those before an erasure. */
  turnSeed: string;
  /** The number of erasures for the user so far. Data read before the last one is not cached. */
  erasureCount: number;
  /** Ids of memories written since the profile was created. */
  readonly changedMemories: Set<string>;
  profile?: ProfileBlock;
  /** The items recalled for the newest turn. They stay the same while the model works on it with tools. */
  recalled?: { readonly turn: string; readonly block: string; readonly id: string };
  /** What the memory reported on a request to forget in the newest turn. */
  report?: { readonly turn: string; readonly block: string };
  /** The result of a request to forget that was carried out after its turn was answered. The next turn reports it. */
  lateReceipt?: Receipt | undefined;
  /** Whether the memory asked something in the last turn, so that a "yes" has to be carried out before the model replies. */
  isAsked?: boolean;
}

export interface ConversationCache {
  /** Gives the conversation of a request; creates it if needed. */
  open(scope: Scope, place: ConversationReference): ProxyConversation;
  /** Call it after adding texts to a conversation. Drops texts of the least recently used ones if all are too large. */
  updateSize(conversation: ProxyConversation): void;
  /** Drops the cached memories of one user, or of all users. */
  forget(user?: string): void;
  /** Notes what was said and stored outside of conversations of OpenAI's API, whose clients may add it to one afterwards. */
  noteWords(scope: Scope, role: RequestTurn["role"], text: string): void;
  /** Whether this was said and stored in the last ten minutes. */
  hasWords(scope: Scope, role: RequestTurn["role"], text: string): boolean;
  /** Links a response to its conversation, because a later request may continue from it. */
  linkAnswer(scope: Scope, answer: string, conversation: ProxyConversation): void;
  /**
   * Gives the id under which a turn is stored. A repeated turn (a retry, or a request for another answer) has the same id and
   * is stored once. The same words in a new turn have another id.
   */
  turnId(scope: Scope, conversation: ProxyConversation, turn: string, isFirst: boolean): string;
}

interface ConversationReference {
  readonly session?: string | undefined;
  /** The earlier response from which the upstream continues. */
  readonly threadId?: string | undefined;
  /** The session of its messages, if they are stored here. */
  readonly storedSession?: string | undefined;
  readonly turns: readonly RequestTurn[];
  /** The first turn, if this request is the first. */
  readonly opening?: string | undefined;
}

/** The user's last new conversation. */
interface ConversationOpening {
  readonly session: string;
  readonly turn: string;
  readonly id: string;
}

const HOUR_MS = 3_600_000;
const RETRY_WINDOW_MS = 600_000;
const MAX_CONVERSATIONS = 2000;
const MAX_OPENINGS = 5000;
const MAX_NOTED_WORDS = 20_000;
/** Approximate maximum size of the texts of all conversations. */
const MAX_BYTES = 8_000_000;
/** More than a profile ever contains. */
const MAX_CHANGED_MEMORIES = 2000;
/** Overhead of an id in memory, beyond its characters. */
const ID_BYTES = 60;

/**
 * Creates a cache of conversations in this process. They stay for an hour after the last request, as long as providers
 * cache prompts. Without the cache (after a restart, in another process), a conversation continues with a new profile.
 */
export function createConversationCache(mostBytes: number = MAX_BYTES): ConversationCache {
  const held = createLruCache<ProxyConversation>({ most: MAX_CONVERSATIONS, idleMs: HOUR_MS });
  const last = createLruCache<ConversationOpening>({ most: MAX_OPENINGS, idleMs: RETRY_WINDOW_MS });
  const words = createLruCache<true>({ most: MAX_NOTED_WORDS, idleMs: RETRY_WINDOW_MS });
  // Separate, so that a conversation without texts keeps its session.
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
      turnSeed: randomBytes(8).toString("hex"),
      erasureCount: 0,
      changedMemories: new Set(),
    };
  };
  return {
    open(scope, { session, threadId: kept, storedSession, turns: said, opening }) {
      const first = said.find(({ role }) => role === "user")?.text ?? "";
      const id = session === undefined ? (kept ?? JSON.stringify(["first", first])) : `session ${session}`;
      const place = toConversationKey(scope, id);
      const known = held.get(place);
      // Two conversations may begin with the same words. Only a retry is the same one.
      const isAnother =
        session === undefined && opening !== undefined && last.get(toSpeakerKey(scope))?.turn !== opening;
      if (known && !isAnother) return known;
      const conversation = begun(scope, id, session ?? storedSession);
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
        conversation.turnSeed = randomBytes(8).toString("hex");
        dropTexts(conversation);
      }
    },
    noteWords(scope, role, text) {
      if (text !== "") words.set(toWordsKey(scope, role, text), true);
    },
    hasWords: (scope, role, text) => words.get(toWordsKey(scope, role, text)) === true,
    linkAnswer: (scope, answer, conversation) => held.set(toConversationKey(scope, answer), conversation),
    turnId(scope, { session }, turn, isFirst) {
      const agent = scope.agent === undefined ? [] : [scope.agent];
      if (!isFirst) return `chat-${hashText(JSON.stringify([session, turn, ...agent]))}`;
      return getFirstTurnId(last, toSpeakerKey(scope), session, turn);
    },
  };
}

/** Drops the cached memories. The next request begins with a new profile. */
function dropTexts(conversation: ProxyConversation): void {
  delete conversation.profile;
  delete conversation.recalled;
  delete conversation.report;
  conversation.changedMemories.clear();
}

function measureConversation({ profile, recalled, report, changedMemories }: ProxyConversation): number {
  const letters = (recalled?.block.length ?? 0) + (report?.block.length ?? 0);
  return measureProfile(profile) + 2 * letters + changedMemories.size * ID_BYTES;
}

/**
 * Gives the id of a conversation's first turn. Another conversation may begin with the same words. They are the same turn
 * only if the user has started no other conversation since and the time is short.
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

/** Hashes each turn with all previous ones: the same words at another place are another turn. */
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

/** The key of who speaks: the user, to one agent if one is named. */
function toSpeakerKey(scope: Scope): string {
  return JSON.stringify([toScopeKey(scope), ...(scope.agent === undefined ? [] : [scope.agent])]);
}

/** Each agent has conversations of its own. */
function toConversationKey(scope: Scope, id: string): string {
  return JSON.stringify([toSpeakerKey(scope), hashText(id)]);
}

function toWordsKey(scope: Scope, role: RequestTurn["role"], text: string): string {
  return JSON.stringify([toSpeakerKey(scope), hashText(JSON.stringify(["words", role, text]))]);
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 32);
}

/** The memory injected into a request. Blocks are empty if there is nothing relevant. */
export interface MemoryContext {
  /** The same bytes for the whole conversation, unless something is erased. */
  readonly profileBlock: string;
  /** For the newest turn only. */
  readonly recallBlock: string;
  /** The id to explain the recall. */
  readonly recallId?: string;
}

export const EMPTY_MEMORY_CONTEXT: MemoryContext = { profileBlock: "", recallBlock: "" };

interface MemoryContextRequest {
  /** The key of the user's scope. */
  readonly key: string;
  readonly query: string;
  readonly turn: string;
  /** Whether there is a new user message; otherwise the model is still working on the last one. */
  readonly hasNewWords: boolean;
  /** The ids of the new messages. They may be stored already, and must not be recalled as earlier memories. */
  readonly ownIds: readonly string[];
  readonly maxTokens: number;
}

/** The share of the profile in the budget. The rest is for recalled items. */
const PROFILE_SHARE = 0.25;
/** The most that is added to the newest turn besides the profile, whatever the budget is: each token costs at each turn. */
const MAX_REQUEST_TOKENS = 1500;
/** Maximum number of changes to check for an erasure. */
const MAX_CHANGES_READ = 100;

export function getProfileTokens(maxTokens: number): number {
  return Math.max(1, Math.floor(maxTokens * PROFILE_SHARE));
}

/**
 * Gives the profile, frozen at the start of the conversation, and the items recalled for the newest turn. Later changes
 * come with the recalled items, so the profile keeps its bytes. An erasure drops all cached data.
 */
export async function prepareMemoryContext(
  memory: ScopedMemory,
  { conversation, profiles, promptGuard }: ConversationState & { readonly promptGuard: PromptGuard },
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
  const maxTokens = Math.max(
    1,
    Math.min(MAX_REQUEST_TOKENS, asked.maxTokens - getProfileTokens(asked.maxTokens)),
  );
  const { items: found, recall } = await memory.context(asked.query, { maxTokens, shared: false });
  const ended = profile ? await findOutdated(profile, conversation.changedMemories, memory) : [];
  const own = new Set(asked.ownIds);
  const isOwn = ({ sources }: Item): boolean =>
    sources.length > 0 && sources.every(({ message }) => own.has(message));
  const items = found.filter((item) => !isOwn(item));
  const { nonce } = conversation;
  const { text } = buildPromptBlock([...items, ...ended], { nonce, maxTokens, promptGuard });
  if (conversation.erasureCount === erasures)
    conversation.recalled = { turn: asked.turn, block: text, id: recall.id };
  return { profileBlock: block, recallBlock: text, recallId: recall.id };
}

type ConversationState = { readonly conversation: ProxyConversation; readonly profiles: ProfileCache };

/** Records changes since the last request of the conversation. Drops all cached data if something was erased. */
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

/** Records changes up to a revision. Gives false if something was erased, or if that is unknown. */
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

/** Starts with the current or a slightly older profile. Later changes are recorded as usual. */
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
