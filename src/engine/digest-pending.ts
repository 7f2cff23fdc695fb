import type { Scope } from "../domain/scope.ts";
import { change } from "./change.ts";
import { type Digested, digest } from "./digest.ts";
import { forgetAsked } from "./forget.ts";
import type { Ports } from "./ports.ts";
import { reworded } from "./remember.ts";
import { unitsOf } from "./units.ts";

interface Progress {
  readonly read: number;
  readonly more: boolean;
  readonly erase?: NonNullable<Digested["erase"]>;
}

/** How many waiting messages are read for one commit. */
const AT_ONCE = 100;

/**
 * Reads the messages that wait for an extractor, oldest first, until none is left: those stored with
 * `extract: "later"`, and those that a crash left behind. Gives how many it read. Safe to repeat and to break off.
 */
export async function digestPending(ports: Ports, scope: Scope, signal?: AbortSignal): Promise<number> {
  for (let read = 0; ; ) {
    signal?.throwIfAborted();
    const { result } = await change<Progress>(ports, scope, async (state, at) => {
      const waiting = [...state.messages.values()].filter(
        (message) => message.digest === "pending" && !message.undone,
      );
      const messages = waiting.slice(0, AT_ONCE);
      if (messages.length === 0) return { result: { read: 0, more: false } };
      const digested = await digest(ports, {
        state,
        at,
        messages,
        mayErase: true,
        ...(signal ? { signal } : {}),
      });
      const { erase } = digested;
      return {
        draft: {
          cause: "digest",
          digests: digested.messages
            .filter(({ digest }) => digest === "done")
            .map(({ id }) => ({ id, digest: "done" as const })),
          memories: digested.memories,
          units: await unitsOf(ports, [], reworded(state, digested.memories), signal),
          liftTombstones: digested.lifted,
        },
        result: {
          read: digested.messages.length,
          more: waiting.length > digested.messages.length,
          ...(erase ? { erase } : {}),
        },
      };
    });
    read += result.read;
    if (result.erase) await forgetAsked(ports, scope, result.erase, signal);
    if (!result.more) return read;
  }
}
