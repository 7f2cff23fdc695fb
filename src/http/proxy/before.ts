import type { Item } from "../../domain/recall.ts";
import { fence } from "../../engine/fence.ts";
import type { ScopedMemory } from "../../engine/surface.ts";
import type { Conversation } from "./conversations.ts";
import { endedSince, profiled } from "./profile-block.ts";
import type { Profiles } from "./profiles.ts";

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
  /** Of the user, among all that are served. */
  readonly key: string;
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

export function profileTokens(maxTokens: number): number {
  return Math.max(1, Math.floor(maxTokens * PROFILE_SHARE));
}

/**
 * The profile, frozen when the conversation began, and what the newest turn calls up. A change since then is told with
 * what is recalled, so that the profile keeps its bytes; an erasure takes all that was held with it.
 */
export async function beforeTurn(
  memory: ScopedMemory,
  { conversation, profiles }: { readonly conversation: Conversation; readonly profiles: Profiles },
  asked: Asking,
): Promise<Given> {
  const { nonce } = conversation;
  const forProfile = profileTokens(asked.maxTokens);
  if (await hasErased(memory, conversation)) {
    delete conversation.profile;
    delete conversation.recalled;
    profiles.forget(asked.key);
  }
  const isFrozen = conversation.profile !== undefined;
  if (!isFrozen) {
    const now = await profiles.of(asked.key, memory, conversation.revision);
    if (now) conversation.profile = profiled(now, { nonce, maxTokens: forProfile });
  }
  const { profile, recalled: before } = conversation;
  const block = profile?.block ?? "";
  if (before?.turn === asked.turn && !asked.isAnew)
    return { profile: block, recalled: before.block, recall: before.id };
  if (asked.query.trim() === "") return { profile: block, recalled: "" };
  const recall = await memory.recall(asked.query, { maxTokens: asked.maxTokens });
  const ended = profile ? await endedSince(profile, memory) : [];
  const own = new Set(asked.ids);
  const isOwn = ({ sources }: Item): boolean =>
    sources.length > 0 && sources.every(({ message }) => own.has(message));
  const items = recall.items.filter((item) => !isOwn(item));
  const { text } = fence([...items, ...ended], { nonce, maxTokens: asked.maxTokens - forProfile });
  conversation.recalled = { turn: asked.turn, block: text, id: recall.id };
  return { profile: block, recalled: text, recall: recall.id };
}

/** Whether anything was erased since the last request of the conversation. */
async function hasErased(memory: ScopedMemory, conversation: Conversation): Promise<boolean> {
  const [newest] = await memory.history(undefined, { limit: 1 });
  const { revision: before } = conversation;
  conversation.revision = newest?.revision ?? 0;
  if (before < 0 || conversation.revision === before) return false;
  const missed = conversation.revision - before;
  if (missed > LOOKED_AT) return true;
  const since = await memory.history(undefined, { limit: missed });
  return since.some(({ erased }) => erased.length > 0);
}
