import type { Profile, ScopedMemory, ShownMemory } from "../../../engine/api.ts";
import { buildPromptBlock, type PromptItem } from "../../../engine/prompt-block.ts";
import { isMemoryError } from "../../../errors.ts";
import { createLruCache } from "./lru-cache.ts";

/** Profiles of users, made before they are asked for where that takes long. */
export interface ProfileCache {
  /**
   * The profile as it is, or, of a user with many memories, as it was a moment ago; undefined where there is none yet, and
   * making making it would hold up a chat.
   */
  get(user: string, memory: ScopedMemory, revision: number): Promise<CachedProfile | undefined>;
  /** To be called where something was written: the next conversation may begin with it. */
  markChanged(user: string, memory: () => ScopedMemory): void;
  /** To be called where words of a user were erased, or of any user where none is named. What is being made now is not kept. */
  forget(user?: string): void;
}

/** A profile, and the user's revision that it was made from. */
interface CachedProfile {
  readonly profile: ProfileBlock;
  readonly revision: number;
  /** On the clock of `performance`: a plan in it is over one day. */
  readonly at: number;
}

/** Memories of which a profile is made in a few milliseconds. */
const SMALL_PROFILE_MEMORIES = 200;
/** A large profile is made at most so often. */
const REBUILD_PAUSE_MS = 1500;
/** Further back than so many changes it is not looked what they were. */
const MAX_CHANGES_READ = 20;
const MAX_PROFILE_AGE_MS = 600_000;
const HOUR_MS = 3_600_000;

const MAX_PROFILES = 500;
/** Of all profiles, about. */
const MAX_BYTES = 4_000_000;

export function createProfileCache({
  maxTokens,
  mostBytes = MAX_BYTES,
}: {
  readonly maxTokens: number;
  readonly mostBytes?: number;
}): ProfileCache {
  const held = createLruCache<CachedProfile>({
    most: MAX_PROFILES,
    idleMs: HOUR_MS,
    mostBytes,
    sizeOf: ({ profile }) => measureProfile(profile),
  });
  const waiting = new Set<string>();
  /** Begun last for each user, while it is being made. */
  const underWay = new Map<string, object>();
  const make = async (user: string, memory: ScopedMemory, revision: number): Promise<CachedProfile> => {
    const own = {};
    underWay.set(user, own);
    try {
      const profile = createProfileBlock(await memory.profile({ maxTokens }), maxTokens);
      const made = { profile, revision, at: performance.now() };
      if (underWay.get(user) === own) held.set(user, made);
      return made;
    } finally {
      if (underWay.get(user) === own) underWay.delete(user);
    }
  };
  const stillSo = async (
    user: string,
    memory: ScopedMemory,
    revision: number,
  ): Promise<CachedProfile | undefined> => {
    const made = held.get(user);
    if (!made || !(await isUpToDate(memory, made, revision))) return undefined;
    const now = { ...made, revision };
    // It may have been dropped meanwhile.
    if (held.get(user) === made) held.set(user, now);
    return now;
  };
  const renew = async (user: string, memory: ScopedMemory): Promise<void> => {
    const revision = await memory.revision();
    if (!(await stillSo(user, memory, revision))) await make(user, memory, revision);
  };
  const later = (user: string, memory: () => ScopedMemory): void => {
    if (waiting.has(user)) return;
    const timer = setTimeout(() => {
      waiting.delete(user);
      // What fails here fails again where somebody waits for it.
      void Promise.resolve()
        .then(() => renew(user, memory()))
        .catch(() => {});
    }, REBUILD_PAUSE_MS);
    timer.unref();
    waiting.add(user);
  };
  return {
    async get(user, memory, revision) {
      const same = await stillSo(user, memory, revision);
      if (same) return same;
      const { total } = await memory.list({ limit: 1 });
      if (total <= SMALL_PROFILE_MEMORIES) return make(user, memory, revision);
      later(user, () => memory);
      return held.get(user);
    },
    markChanged(user, memory) {
      if (held.get(user)) later(user, memory);
    },
    forget(user) {
      const users = user === undefined ? [...held.keys(), ...underWay.keys()] : [user];
      for (const one of users) {
        held.delete(one);
        underWay.delete(one);
      }
    },
  };
}

/** Whether nothing was written since but words that taught nothing. */
async function isUpToDate(memory: ScopedMemory, made: CachedProfile, revision: number): Promise<boolean> {
  const missed = revision - made.revision;
  if (performance.now() - made.at > MAX_PROFILE_AGE_MS) return false;
  if (missed === 0) return true;
  if (missed < 0 || missed > MAX_CHANGES_READ) return false;
  const since = await memory.history(undefined, { limit: missed });
  return since.every(({ memories, erased }) => memories.length === 0 && erased.length === 0);
}

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
function createProfileBlock(profile: Profile, maxTokens: number): ProfileBlock {
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
