import type { Item } from "../../../domain/recall.ts";
import { fence } from "../../../engine/fence.ts";
import type { ScopedMemory } from "../../../engine/surface.ts";
import { type Conversation, dropTexts } from "./conversations.ts";
import { endedOf, withNonce } from "./profile-block.ts";
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
  await caughtUp(memory, { conversation, profiles }, asked.key);
  if (!conversation.profile) await frozen(memory, { conversation, profiles }, asked);
  const { profile, recalled: before } = conversation;
  const block = profile?.block ?? "";
  if (before?.turn === asked.turn && !asked.isAnew)
    return { profile: block, recalled: before.block, recall: before.id };
  if (asked.query.trim() === "") return { profile: block, recalled: "" };
  const { erasures } = conversation;
  const recall = await memory.recall(asked.query, { maxTokens: asked.maxTokens });
  const ended = profile ? await endedOf(profile, conversation.touched, memory) : [];
  const own = new Set(asked.ids);
  const isOwn = ({ sources }: Item): boolean =>
    sources.length > 0 && sources.every(({ message }) => own.has(message));
  const items = recall.items.filter((item) => !isOwn(item));
  const { nonce } = conversation;
  const maxTokens = Math.max(1, asked.maxTokens - profileTokens(asked.maxTokens));
  const { text } = fence([...items, ...ended], { nonce, maxTokens });
  if (conversation.erasures === erasures)
    conversation.recalled = { turn: asked.turn, block: text, id: recall.id };
  return { profile: block, recalled: text, recall: recall.id };
}

type Held = { readonly conversation: Conversation; readonly profiles: Profiles };

/** Takes note of what was written since the last request of the conversation, and lets go of all where something was erased. */
async function caughtUp(memory: ScopedMemory, { conversation, profiles }: Held, key: string): Promise<void> {
  const revision = await memory.revision();
  const isErased = !(await noted(memory, conversation, revision));
  if (!isErased) return;
  dropTexts(conversation);
  profiles.forget(key);
}

/** The same up to a revision. False where something was erased, or where that cannot be told. */
async function noted(memory: ScopedMemory, conversation: Conversation, revision: number): Promise<boolean> {
  const { revision: before } = conversation;
  conversation.revision = revision;
  if (before < 0 || revision === before) return true;
  if (revision - before > LOOKED_AT) return false;
  const since = await memory.history(undefined, { limit: revision - before });
  for (const { memories } of since) for (const { id } of memories) conversation.touched.add(id);
  return since.every(({ erased }) => erased.length === 0);
}

/** Begins with the profile of now, or of a moment ago; what was written in that moment is noted as for any other. */
async function frozen(memory: ScopedMemory, { conversation, profiles }: Held, asked: Asking): Promise<void> {
  const { revision, nonce, erasures } = conversation;
  const made = await profiles.of(asked.key, memory, revision);
  if (!made) return;
  conversation.touched.clear();
  conversation.revision = made.revision;
  const isWhole = await noted(memory, conversation, Math.max(revision, made.revision));
  if (isWhole && conversation.erasures === erasures) conversation.profile = withNonce(made.profile, nonce);
}
