import type { Item } from "../../domain/recall.ts";
import { fence } from "../../engine/fence.ts";
import type { ScopedMemory } from "../../engine/surface.ts";
import type { Conversation } from "./conversations.ts";
import { endedSince, profiled } from "./profile-block.ts";

/** What a request is given of the memory. Blocks are empty where there is nothing to say. */
export interface Given {
  /** The same bytes through the whole conversation, unless something was erased. */
  readonly profile: string;
  /** For the newest turn alone. */
  readonly recalled: string;
  /** By which the recall can be explained. */
  readonly recall?: string;
}

export const NOTHING: Given = { profile: "", recalled: "" };

interface Asking {
  readonly query: string;
  readonly turn: string;
  /** Whether the user says something now; else the model is still at work on what they said. */
  readonly isAnew: boolean;
  /** Under which ids that is stored: it may be already, and is no memory of an earlier time. */
  readonly ids: readonly string[];
  readonly maxTokens: number;
}

/** Of the budget, so much for the profile; the rest is for what is recalled. */
const PROFILE_SHARE = 0.25;
/** Further back than so many changes it is not looked whether one of them was an erasure. */
const LOOKED_AT = 100;

/**
 * The profile, frozen when the conversation began, and what the newest turn calls up. A change since then is told with
 * what is recalled, so that the profile keeps its bytes; an erasure takes all that was held with it.
 */
export async function beforeTurn(
  memory: ScopedMemory,
  conversation: Conversation,
  asked: Asking,
): Promise<Given> {
  const { nonce } = conversation;
  const isChanged = await refreshed(memory, conversation);
  const forProfile = Math.floor(asked.maxTokens * PROFILE_SHARE);
  const isNew = conversation.profile === undefined;
  const now = isNew || isChanged ? await memory.profile({ maxTokens: forProfile }) : undefined;
  const profile = conversation.profile ?? (now && profiled(now, { nonce, maxTokens: forProfile }));
  if (profile) conversation.profile = profile;
  const before = conversation.recalled;
  if (before?.turn === asked.turn && !asked.isAnew) {
    return { profile: profile?.block ?? "", recalled: before.block, recall: before.id };
  }
  if (asked.query.trim() === "") return { profile: profile?.block ?? "", recalled: "" };
  const recall = await memory.recall(asked.query, { maxTokens: asked.maxTokens });
  const own = new Set(asked.ids);
  const ended = profile && !isNew ? endedSince(profile, now ?? (await memory.profile())) : [];
  const isOwn = ({ sources }: Item): boolean =>
    sources.length > 0 && sources.every(({ message }) => own.has(message));
  const items = recall.items.filter((item) => !isOwn(item));
  const { text } = fence([...items, ...ended], { nonce, maxTokens: asked.maxTokens - forProfile });
  conversation.recalled = { turn: asked.turn, block: text, id: recall.id };
  return { profile: profile?.block ?? "", recalled: text, recall: recall.id };
}

/** Whether anything was written since; forgets what is held where something was erased. */
async function refreshed(memory: ScopedMemory, conversation: Conversation): Promise<boolean> {
  const [newest] = await memory.history(undefined, { limit: 1 });
  const revision = newest?.revision ?? 0;
  const { revision: before } = conversation;
  conversation.revision = revision;
  if (before < 0 || revision === before) return false;
  const missed = revision - before;
  const isErased =
    missed > LOOKED_AT ||
    (await memory.history(undefined, { limit: missed })).some(({ erased }) => erased.length > 0);
  if (isErased) {
    delete conversation.profile;
    delete conversation.recalled;
  }
  return true;
}
