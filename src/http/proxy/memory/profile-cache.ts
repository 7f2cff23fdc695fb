import { type Scope, toScopeKey } from "../../../domain/scope.ts";
import type { ShownMemory } from "../../../engine/api/listing-types.ts";
import type { Profile } from "../../../engine/api/profile-types.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { buildPromptBlock, type PromptItem } from "../../../engine/prompt-block.ts";
import { isMemoryError } from "../../../errors.ts";
import type { PromptGuard } from "../../../ports/language/prompt-guard.ts";
import { createLruCache } from "./lru-cache.ts";

/** The key of a user's profile, or of the part of it that an agent reads. It begins with the key of the user's scope. */
export function toProfileKey(scope: Scope): string {
  return scope.agent === undefined ? toScopeKey(scope) : `${toScopeKey(scope)} ${scope.agent}`;
}

/** Profiles of users, by `toProfileKey`. Slow ones are created in advance. */
export interface ProfileCache {
  /**
   * Gives the current profile or, for a user with many memories, a slightly older one. Gives undefined if there is none yet
   * and creating it would delay a chat.
   */
  get(user: string, memory: ScopedMemory, revision: number): Promise<CachedProfile | undefined>;
  /** Call it after a write, so that the next conversation can begin with a new profile. */
  markChanged(user: string, memory: () => ScopedMemory): void;
  /** Call it after an erasure for a user (`toScopeKey`), with all agents, or for all. A profile being created is not cached. */
  forget(user?: string): void;
}

/** A profile and its revision. */
interface CachedProfile {
  readonly profile: ProfileBlock;
  readonly revision: number;
  /** Creation time on the clock of `performance`: plans in a profile expire. */
  readonly at: number;
}

/** The number of memories up to which a profile takes a few milliseconds. */
const SMALL_PROFILE_MEMORIES = 200;
/** Minimum interval between two builds of a large profile, in ms. */
const REBUILD_PAUSE_MS = 1500;
/** Maximum number of changes to check. */
const MAX_CHANGES_READ = 20;
const MAX_PROFILE_AGE_MS = 600_000;
const HOUR_MS = 3_600_000;

const MAX_PROFILES = 500;
/** Approximate maximum size of all profiles. */
const MAX_BYTES = 4_000_000;

export function createProfileCache({
  maxTokens,
  promptGuard,
  mostBytes = MAX_BYTES,
}: {
  readonly maxTokens: number;
  readonly promptGuard: PromptGuard;
  readonly mostBytes?: number;
}): ProfileCache {
  const held = createLruCache<CachedProfile>({
    most: MAX_PROFILES,
    idleMs: HOUR_MS,
    mostBytes,
    sizeOf: ({ profile }) => measureProfile(profile),
  });
  const waiting = new Set<string>();
  /** The latest build in progress of each user. */
  const underWay = new Map<string, object>();
  const make = async (user: string, memory: ScopedMemory, revision: number): Promise<CachedProfile> => {
    const own = {};
    underWay.set(user, own);
    try {
      const profile = createProfileBlock(await memory.profile({ maxTokens }), { maxTokens, promptGuard });
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
    // The profile may have been dropped meanwhile.
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
      // An error here occurs again where the result is needed.
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
      const isMeant = (one: string): boolean =>
        user === undefined || one === user || one.startsWith(`${user} `);
      for (const one of [...held.keys(), ...underWay.keys()].filter(isMeant)) {
        held.delete(one);
        underWay.delete(one);
      }
    },
  };
}

/** Whether no memory has changed since the profile. */
async function isUpToDate(memory: ScopedMemory, made: CachedProfile, revision: number): Promise<boolean> {
  const missed = revision - made.revision;
  if (performance.now() - made.at > MAX_PROFILE_AGE_MS) return false;
  if (missed === 0) return true;
  if (missed < 0 || missed > MAX_CHANGES_READ) return false;
  const since = await memory.history(undefined, { limit: missed });
  return since.every(({ memories, erased }) => memories.length === 0 && erased.length === 0);
}

/** The frozen profile of a conversation. */
export interface ProfileBlock {
  readonly block: string;
  /** The memories in it. */
  readonly memories: readonly { readonly id: string; readonly text: string; readonly isPassing: boolean }[];
}

/** Gives the profile with the nonce of one conversation. */
export function withNonce({ block, memories }: ProfileBlock, nonce: string): ProfileBlock {
  // In a prompt block, only the marks contain "<".
  return { memories, block: block.replaceAll(FENCE_MARK, (mark) => mark.replace(NONCE_PLACEHOLDER, nonce)) };
}

/** Gives the approximate size of a profile in bytes. */
export function measureProfile(profile: ProfileBlock | undefined): number {
  if (!profile) return 0;
  const texts = profile.memories.reduce((sum, { text }) => sum + 2 * text.length + MEMORY_BYTES, 0);
  return 2 * profile.block.length + texts;
}

/** Overhead of a memory beyond its text: object and id. */
const MEMORY_BYTES = 150;
/** Replaced by a nonce later, because one profile serves many conversations. */
const NONCE_PLACEHOLDER = "0".repeat(16);
const FENCE_MARK = new RegExp(`</?keepsake-${NONCE_PLACEHOLDER}>`, "g");

/** Creates the prompt block of a profile, with a line for each of its lines. Empty if nothing is known. */
function createProfileBlock(
  profile: Profile,
  options: { readonly maxTokens: number; readonly promptGuard: PromptGuard },
): ProfileBlock {
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
  const { text, items: taken } = buildPromptBlock(lines, { ...options, nonce: NONCE_PLACEHOLDER });
  return { block: text, memories: taken.flatMap(({ memories }) => memories) };
}

/** Finds outdated memories in an earlier profile, because the model must be told. `touched`: memories written since. */
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
    // The memory has expired.
    if (isMemoryError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}
