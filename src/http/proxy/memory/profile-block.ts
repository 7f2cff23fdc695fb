import { type Fenceable, fence } from "../../../engine/fence.ts";
import type { Profile, ScopedMemory, ShownMemory } from "../../../engine/surface.ts";
import { isMemoryError } from "../../../errors.ts";

/** A profile as it was when a conversation began. */
export interface Profiled {
  readonly block: string;
  /** What it was told from. */
  readonly memories: readonly { readonly id: string; readonly text: string; readonly isPassing: boolean }[];
}

/** The same for one conversation: its fences have this nonce. */
export function withNonce({ block, memories }: Profiled, nonce: string): Profiled {
  // Nothing in a fence but its marks holds a "<".
  return { memories, block: block.replaceAll(MARK, (mark) => mark.replace(NO_NONCE, nonce)) };
}

/** Memory that it takes, about. */
export function bytesOfProfile(profile: Profiled | undefined): number {
  if (!profile) return 0;
  const texts = profile.memories.reduce((sum, { text }) => sum + 2 * text.length + MEMORY_BYTES, 0);
  return 2 * profile.block.length + texts;
}

/** Of a memory beside its text: its object and its id. */
const MEMORY_BYTES = 150;
/** A nonce is put in later: one profile begins many conversations. */
const NO_NONCE = "0".repeat(16);
const MARK = new RegExp(`</?keepsake-${NO_NONCE}>`, "g");

/** The profile as a fenced block, a line for each of its lines, and what it was made from. Empty where nothing is known. */
export function profiled(profile: Profile, maxTokens: number): Profiled {
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
  const { text, items: taken } = fence(lines, { nonce: NO_NONCE, maxTokens });
  return { block: text, memories: taken.flatMap(({ memories }) => memories) };
}

/** Of an earlier profile, what does not hold any more: a model that reads it must be told. `touched`: what was written since. */
export async function endedOf(
  { memories }: Profiled,
  touched: ReadonlySet<string>,
  memory: ScopedMemory,
): Promise<Fenceable[]> {
  const doubtful = memories.filter(({ id, isPassing }) => isPassing || touched.has(id));
  const ended = await Promise.all(
    doubtful.map(async ({ id, text }): Promise<Fenceable[]> => {
      const now = await heldNow(memory, id);
      if (now?.status === "current" && now.text === text) return [];
      const { validTo } = now ?? {};
      return [{ text, status: "superseded", ...(validTo === undefined ? {} : { validTo }) }];
    }),
  );
  return ended.flat();
}

async function heldNow(memory: ScopedMemory, id: string): Promise<ShownMemory | undefined> {
  try {
    return await memory.get(id);
  } catch (error) {
    // It has expired.
    if (isMemoryError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}
