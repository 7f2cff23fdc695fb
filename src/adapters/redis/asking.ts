import { MemoryError } from "../../errors.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../shared/circuit.ts";
import { withTimeout } from "../shared/within.ts";
import type { RedisClient, RedisOptions } from "./client.ts";
import { getRedisErrorCode, toRedisError } from "./trouble.ts";

export type RedisArgument = string | number | Buffer;

export interface RedisCommandOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether the answer is wanted in bytes. */
  readonly binary?: boolean;
  /** Goes out even where the server failed a moment ago, and is waited for longer: an erasure. */
  readonly isUrgent?: boolean;
}

/** Sends a command, once. It fails within the time that a request may take, as the ports want it. */
export type SendRedisCommand = (
  command: string,
  args: readonly RedisArgument[],
  asked?: RedisCommandOptions,
) => Promise<unknown>;

/** Of an urgent request, in ms. */
const URGENT_MS = 2000;
const MAX_FAILURES = 3;
const OPEN_MS = 500;
const LONGEST_OPEN_MS = 4000;
/** Answers of a server that is there: they say nothing against asking it again at once. */
const SERVER_ANSWERS: ReadonlySet<string> = new Set(["OOM", "NOSCRIPT", "ERR", "WRONGTYPE"]);

/** What goes wrong with one client goes wrong for everybody who asks through it. */
const circuitBreakers = new WeakMap<RedisClient, CircuitBreaker>();

/** Asks a server through a client, and spares it and the one who waits where it does not answer. */
export function createRedisSender(
  { client, timeoutMs = 100 }: RedisOptions,
  place: string,
): SendRedisCommand {
  const spared =
    circuitBreakers.get(client) ??
    createCircuitBreaker({
      place: "Redis",
      failures: MAX_FAILURES,
      openMs: OPEN_MS,
      longestMs: LONGEST_OPEN_MS,
    });
  circuitBreakers.set(client, spared);
  return async (command, args, { signal, binary = false, isUrgent = false } = {}) => {
    signal?.throwIfAborted();
    if (!isUrgent) spared.enter();
    const ms = isUrgent ? Math.max(URGENT_MS, timeoutMs) : timeoutMs;
    const late = (): MemoryError =>
      new MemoryError("unavailable", `${place} gave no answer within ${ms} ms. Try again later.`);
    try {
      const sent = binary ? client.callBuffer(command, [...args]) : client.call(command, [...args]);
      const answer = await withTimeout(sent, ms, late, signal);
      spared.recordOutcome("well");
      return answer;
    } catch (error) {
      spared.recordOutcome(classifyOutcome(error, signal));
      if (signal?.aborted && error === signal.reason) throw error;
      throw getRedisErrorCode(error) === "NOSCRIPT" ? error : toRedisError(error, place);
    }
  };
}

function classifyOutcome(error: unknown, signal: AbortSignal | undefined): "well" | "badly" | "unknown" {
  if (signal?.aborted && error === signal.reason) return "unknown";
  return SERVER_ANSWERS.has(getRedisErrorCode(error)) ? "well" : "badly";
}
