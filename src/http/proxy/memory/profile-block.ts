import { buildPromptBlock, type PromptItem } from "../../../engine/fence.ts";
import type { Profile, ScopedMemory, ShownMemory } from "../../../engine/surface.ts";
import { isMemoryError } from "../../../errors.ts";

/** A profile as it was when a conversation began. */
export interface ProfileBlock {
  readonly block: string;
  /** What it was told from. */
  readonly memories: readonly { readonly id: string; readonly text: string; readonly isPassing: boolean }[];
}

/** The same for one conversation: its fences have this nonce. */
export function withNonce({ block, memories }: ProfileBlock, nonce: string): ProfileBlock {
  // Nothing in a fence but its marks holds a "<".
  return { memories, block: block.replaceAll(FENCE_MARK, (mark) => mark.replace(NONCE_PLACEHOLDER, nonce)) };
}

/** Memory that it takes, about. */
export function measureProfile(profile: ProfileBlock | undefined): number {
  if (!profile) return 0;
  const texts = profile.memories.reduce((sum, { text }) => sum + 2 * text.length + MEMORY_BYTES, 0);
  return 2 * profile.block.length + texts;
}

/** Of a memory beside its text: its object and its id. */
const MEMORY_BYTES = 150;
/** A nonce is put in later: one profile begins many conversations. */
const NONCE_PLACEHOLDER = "0".repeat(16);
const FENCE_MARK = new RegExp(`</?keepsake-${NONCE_PLACEHOLDER}>`, "g");

/** The profile as a fenced block, a line for each of its lines, and what it was made from. Empty where nothing is known. */
export function createProfileBlock(profile: Profile, maxTokens: number): ProfileBlock {
  const held = new Map(
    Object.values(profile.kinds)
      .flat()
      .map((memory) => [memory.id, memory]),
  );
  const lines = profile.sections.flatMap(({ name, lines: own }) =>
    own.map(({ text, memories }) => {
      const from = memories.flatMap((id) => held.get(id) ?? []);
      const at = from
        .map((memory) => memory.at)
        .sort()
        .at(-1);
      const isWish = name === "instructions";
      return {
        text,
        memories: from.map((memory) => ({
          id: memory.id,
          text: memory.text,
          isPassing: memory.expiresAt !== undefined || memory.validTo !== undefined,
        })),
        ...(at === undefined ? {} : { at }),
        ...(isWish ? { kind: "instruction" as const } : {}),
      };
    }),
  );
  const { text, items: taken } = buildPromptBlock(lines, { nonce: NONCE_PLACEHOLDER, maxTokens });
  return { block: text, memories: taken.flatMap(({ memories }) => memories) };
}

/** Of an earlier profile, what does not hold any more: a model that reads it must be told. `touched`: what was written since. */
export async function findOutdated(
  { memories }: ProfileBlock,
  touched: ReadonlySet<string>,
  memory: ScopedMemory,
): Promise<PromptItem[]> {
  const doubtful = memories.filter(({ id, isPassing }) => isPassing || touched.has(id));
  const ended = await Promise.all(
    doubtful.map(async ({ id, text }): Promise<PromptItem[]> => {
      const now = await findMemory(memory, id);
      if (now?.status === "current" && now.text === text) return [];
      const { validTo } = now ?? {};
      return [{ text, status: "superseded", ...(validTo === undefined ? {} : { validTo }) }];
    }),
  );
  return ended.flat();
}

async function findMemory(memory: ScopedMemory, id: string): Promise<ShownMemory | undefined> {
  try {
    return await memory.get(id);
  } catch (error) {
    // It has expired.
    if (isMemoryError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}
