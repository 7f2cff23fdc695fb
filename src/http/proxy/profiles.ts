import type { Profile, ScopedMemory } from "../../engine/surface.ts";
import { lately } from "./lately.ts";

/** Profiles of users, made before they are asked for where that takes long. */
export interface Profiles {
  /**
   * The profile as it is, or, of a user with many memories, as it was a moment ago; undefined where there is none yet, and
   * making making it would hold up a chat.
   */
  of(user: string, memory: ScopedMemory, revision: number): Promise<Made | undefined>;
  /** To be called where something was written: the next conversation may begin with it. */
  changed(user: string, memory: () => ScopedMemory): void;
  /** To be called where something was erased. */
  forget(user: string): void;
}

/** A profile, and the user's revision that it was made from. */
export interface Made {
  readonly profile: Profile;
  readonly revision: number;
}

/** Memories of which a profile is made in a few milliseconds. */
const FEW = 200;
/** A large profile is made at most so often. */
const PAUSE_MS = 1500;
const HOUR_MS = 3_600_000;

export function profiles({ maxTokens }: { readonly maxTokens: number }): Profiles {
  const held = lately<Made>(500, HOUR_MS);
  const waiting = new Set<string>();
  const make = async (user: string, memory: ScopedMemory): Promise<Made> => {
    const [newest] = await memory.history(undefined, { limit: 1 });
    const profile = await memory.profile({ maxTokens });
    const made = { profile, revision: newest?.revision ?? 0 };
    held.set(user, made);
    return made;
  };
  const later = (user: string, memory: () => ScopedMemory): void => {
    if (waiting.has(user)) return;
    const timer = setTimeout(() => {
      waiting.delete(user);
      // What fails here fails again where somebody waits for it.
      void Promise.resolve()
        .then(() => make(user, memory()))
        .catch(() => {});
    }, PAUSE_MS);
    timer.unref();
    waiting.add(user);
  };
  return {
    async of(user, memory, revision) {
      const made = held.get(user);
      if (made?.revision === revision) return made;
      const { total } = await memory.list({ limit: 1 });
      if (total <= FEW) return make(user, memory);
      later(user, () => memory);
      return made;
    },
    changed(user, memory) {
      if (held.get(user)) later(user, memory);
    },
    forget: (user) => held.delete(user),
  };
}
