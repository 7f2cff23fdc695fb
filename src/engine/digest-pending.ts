import type { Scope } from "../domain/scope.ts";
import { change } from "./change.ts";
import { type Digested, digest } from "./digest.ts";
import { forgetAsked } from "./forget.ts";
import type { Ports } from "./ports.ts";
import { reworded } from "./remember.ts";
import { understandPending } from "./understand/pending.ts";
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
 * `extract: "later"`, those that a crash left behind, and those that wait for a model. Gives how many it read. Safe to repeat
 * and to break off. Throws what hinders it: what could not be read goes on waiting.
 */
export async function digestPending(ports: Ports, scope: Scope, signal?: AbortSignal): Promise<number> {
  const heard = await hearPending(ports, scope, signal);
  if (!ports.modelExtractor) return heard;
  const understood = await understandPending(ports, scope, signal);
  if (understood.problem) throw understood.problem;
  return heard + understood.read;
}

/** Reads what nobody has read yet with the extractor that needs no model. */
export async function hearPending(ports: Ports, scope: Scope, signal?: AbortSignal): Promise<number> {
  for (let read = 0; ; ) {
    signal?.throwIfAborted();
    const { result } = await change<Progress>(ports, scope, async (state, at) => {
      const waiting = [...state.messages.values()].filter(
        // What has been heard waits for a model: for this program's, or for another's on the same record. What has been
        // erased since waits for nothing.
        ({ digest, undone, heard, content }) => digest === "pending" && !undone && (!heard || content === ""),
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
      const settled = digested.messages.filter(({ digest, heard }) => digest === "done" || heard);
      return {
        draft: {
          cause: "digest",
          digests: settled.map(({ id, digest, heard }) => ({ id, digest, ...(heard ? { heard } : {}) })),
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
