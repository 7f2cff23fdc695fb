import { type Scope, scopeKey } from "../../domain/scope.ts";
import { isMemoryError } from "../../errors.ts";
import { digestPending } from "../digest-pending.ts";
import type { Ports } from "../ports.ts";
import type { Gathering } from "./gathering.ts";
import type { Job, JobStep } from "./job.ts";

/** Understanding, which can be told of a user whose messages have just been stored. */
export interface Understanding extends Job {
  /** This user's messages are read first, and however new they are. */
  ask(scope: Scope): void;
}

/** So many users are looked up at once; those who failed are left out for this run. */
const AT_ONCE = 20;
/**
 * What was stored so lately may be in the hands of the call that stored it: a request to forget waits as pending work
 * until it has been carried out.
 */
const YOUNG_MS = 30_000;
/** How often it is looked for what other processes, or a crash, left behind. */
const EVERY_MS = 60_000;

/** Reads messages that wait for the extractor, a user at a time; those that are still being gathered are left alone. */
export function understanding(ports: Ports, gathered: Gathering): Understanding {
  const asked = new Map<string, Scope>();
  return {
    name: "understanding",
    about: "reads the messages that wait for it, and stores what they say",
    everyMs: EVERY_MS,
    isPaced: true,
    ask(scope) {
      asked.set(scopeKey(scope), scope);
    },
    async *run(signal) {
      let done = 0;
      const failed = new Map<string, unknown>();
      for (;;) {
        const scope = await next(ports, gathered, asked, failed);
        if (!scope) break;
        const key = scopeKey(scope);
        try {
          done += await digestPending(ports, scope, signal);
          asked.delete(key);
        } catch (error) {
          // A server that is down is down for everybody; what is wrong with one user holds up none of the others.
          if (signal.aborted || isUnavailable(error)) throw error;
          failed.set(key, error);
        }
        yield { done } satisfies JobStep;
      }
      for (const error of failed.values()) throw error;
    },
    async left() {
      const waiting = await ports.record.usersWaiting(ports.clock().toISOString(), Number.MAX_SAFE_INTEGER);
      return waiting.reduce((sum, { messages }) => sum + messages, 0);
    },
  };
}

async function next(
  { record, clock }: Pick<Ports, "record" | "clock">,
  gathered: Gathering,
  asked: ReadonlyMap<string, Scope>,
  failed: ReadonlyMap<string, unknown>,
): Promise<Scope | undefined> {
  for (const [key, scope] of asked) if (!failed.has(key)) return scope;
  const before = new Date(clock().getTime() - YOUNG_MS).toISOString();
  const waiting = await record.usersWaiting(before, AT_ONCE + failed.size);
  return waiting
    .map(({ scope }) => scope)
    .find((scope) => !failed.has(scopeKey(scope)) && !gathered.has(scope));
}

function isUnavailable(error: unknown): boolean {
  return isMemoryError(error) && error.code === "unavailable";
}
