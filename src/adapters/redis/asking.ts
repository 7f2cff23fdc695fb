import { MemoryError } from "../../errors.ts";
import { type Circuit, circuit } from "../shared/circuit.ts";
import { within } from "../shared/within.ts";
import type { RedisClient, RedisOptions } from "./client.ts";
import { codeOf, troubleOf } from "./trouble.ts";

export type Argument = string | number | Buffer;

export interface Asked {
  readonly signal?: AbortSignal | undefined;
  /** Whether the answer is wanted in bytes. */
  readonly binary?: boolean;
  /** Goes out even where the server failed a moment ago, and is waited for longer: an erasure. */
  readonly isUrgent?: boolean;
}

/** Sends a command, once. It fails within the time that a request may take, as the ports want it. */
export type Ask = (command: string, args: readonly Argument[], asked?: Asked) => Promise<unknown>;

/** Of an urgent request, in ms. */
const URGENT_MS = 2000;
const FAILURES = 3;
const OPEN_MS = 500;
const LONGEST_OPEN_MS = 4000;
/** Answers of a server that is there: they say nothing against asking it again at once. */
const ANSWERS: ReadonlySet<string> = new Set(["OOM", "NOSCRIPT", "ERR", "WRONGTYPE"]);

/** What goes wrong with one client goes wrong for everybody who asks through it. */
const circuits = new WeakMap<RedisClient, Circuit>();

/** Asks a server through a client, and spares it and the one who waits where it does not answer. */
export function asking({ client, timeoutMs = 100 }: RedisOptions, place: string): Ask {
  const spared =
    circuits.get(client) ??
    circuit({ place: "Redis", failures: FAILURES, openMs: OPEN_MS, longestMs: LONGEST_OPEN_MS });
  circuits.set(client, spared);
  return async (command, args, { signal, binary = false, isUrgent = false } = {}) => {
    signal?.throwIfAborted();
    if (!isUrgent) spared.enter();
    const ms = isUrgent ? Math.max(URGENT_MS, timeoutMs) : timeoutMs;
    const late = (): MemoryError =>
      new MemoryError("unavailable", `${place} gave no answer within ${ms} ms. Try again later.`);
    try {
      const sent = binary ? client.callBuffer(command, [...args]) : client.call(command, [...args]);
      const answer = await within(sent, ms, late, signal);
      spared.left("well");
      return answer;
    } catch (error) {
      spared.left(howEnded(error, signal));
      if (signal?.aborted && error === signal.reason) throw error;
      throw codeOf(error) === "NOSCRIPT" ? error : troubleOf(error, place);
    }
  };
}

function howEnded(error: unknown, signal: AbortSignal | undefined): "well" | "badly" | "unknown" {
  if (signal?.aborted && error === signal.reason) return "unknown";
  return ANSWERS.has(codeOf(error)) ? "well" : "badly";
}
