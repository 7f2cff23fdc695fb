import type { ScopedMemory } from "../../../engine/surface.ts";
import { createLruCache } from "./lately.ts";
import { createProfileBlock, measureProfile, type ProfileBlock } from "./profile-block.ts";

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
export interface CachedProfile {
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
