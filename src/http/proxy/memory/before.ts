import type { Item } from "../../../domain/recall.ts";
import { buildPromptBlock } from "../../../engine/fence.ts";
import type { ScopedMemory } from "../../../engine/surface.ts";
import { dropTexts, type ProxyConversation } from "./conversations.ts";
import { findOutdated, withNonce } from "./profile-block.ts";
import type { ProfileCache } from "./profiles.ts";

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
