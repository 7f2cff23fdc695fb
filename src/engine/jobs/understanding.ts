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
    rest: 3,
    ask(scope) {
      asked.set(scopeKey(scope), scope);
    },
    async *run(signal) {
      let done = 0;
      /** Users who are passed over for now: with what failed, or with nothing, where there was nothing to be done. */
      const passed = new Map<string, unknown>();
      for (;;) {
        const scope = await next(ports, gathered, asked, passed);
        if (!scope) break;
        const key = scopeKey(scope);
        const { read, failed } = await readOf(ports, scope, signal);
        done += read;
        if (failed === undefined) asked.delete(key);
        // What waits and was not read waits for another program's model.
        if (read === 0) passed.set(key, failed);
        yield { done } satisfies JobStep;
      }
      const failure = [...passed.values()].find((failed) => failed !== undefined);
      if (failure !== undefined) throw failure;
    },
    async left() {
      const waiting = await ports.record.usersWaiting(ports.clock().toISOString(), Number.MAX_SAFE_INTEGER);
      return waiting.reduce((sum, { messages }) => sum + messages, 0);
    },
  };
}

/** A server that is down is down for everybody; what is wrong with one user holds up none of the others. */
async function readOf(
  ports: Ports,
  scope: Scope,
  signal: AbortSignal,
): Promise<{ readonly read: number; readonly failed?: unknown }> {
  try {
    return { read: await digestPending(ports, scope, signal) };
  } catch (failed) {
    if (signal.aborted || isUnavailable(failed)) throw failed;
    return { read: 0, failed };
  }
}

async function next(
  { record, clock }: Pick<Ports, "record" | "clock">,
  gathered: Gathering,
  asked: ReadonlyMap<string, Scope>,
  passed: ReadonlyMap<string, unknown>,
): Promise<Scope | undefined> {
  for (const [key, scope] of asked) if (!passed.has(key)) return scope;
  const before = new Date(clock().getTime() - YOUNG_MS).toISOString();
  const waiting = await record.usersWaiting(before, AT_ONCE + passed.size);
  return waiting
    .map(({ scope }) => scope)
    .find((scope) => !passed.has(scopeKey(scope)) && !gathered.has(scope));
}

function isUnavailable(error: unknown): boolean {
  return isMemoryError(error) && error.code === "unavailable";
}
