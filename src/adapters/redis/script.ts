import { createHash } from "node:crypto";
import type { Clock } from "../../ports/clock.ts";
import type { RedisArgument, RedisCommandOptions, SendRedisCommand } from "./asking.ts";
import { getRedisErrorCode } from "./trouble.ts";

/** Runs on the server, all of it or nothing, with nobody in between. */
export type RedisScript = (
  ask: SendRedisCommand,
  keys: readonly string[],
  args: readonly RedisArgument[],
  asked?: RedisCommandOptions,
) => Promise<unknown>;

/** A script in Lua, named by its hash: its text goes over only where the server does not know it (yet, or any more). */
export function createRedisScript(text: string): RedisScript {
  const hash = createHash("sha1").update(text).digest("hex");
  return async (ask, keys, args, asked) => {
    const rest = [keys.length, ...keys, ...args];
    try {
      return await ask("EVALSHA", [hash, ...rest], asked);
    } catch (error) {
      if (getRedisErrorCode(error) !== "NOSCRIPT") throw error;
      return ask("EVAL", [text, ...rest], asked);
    }
  };
}

/** Begins a script: `now` in ms, of the server's own clock where ARGV[1] names none, so that all servers go by one. */
export const NOW_LUA = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/** For ARGV[1]. */
export const toNowArgument = (clock: Clock | undefined): string => (clock ? String(clock().getTime()) : "");
