import { isMemoryError, MemoryError } from "../../errors.ts";

/** What a server says first in an error: a word in capitals. */
const CODE = /^[A-Z]+/;
const WRONG_CREDENTIALS: ReadonlySet<string> = new Set(["NOAUTH", "WRONGPASS", "NOPERM"]);

/** What went wrong, without what was asked: an error of Redis may repeat the command. */
export function toRedisError(error: unknown, place: string): MemoryError {
  if (isMemoryError(error)) return error as MemoryError;
  const code = getRedisErrorCode(error);
  if (WRONG_CREDENTIALS.has(code)) {
    return new MemoryError("forbidden", `${place} refuses the credentials (${code}). Check REDIS_PASSWORD.`);
  }
  if (code === "OOM") {
    return new MemoryError(
      "unavailable",
      `${place} is full. Raise its maxmemory, or let it evict what expires (volatile-ttl).`,
    );
  }
  const why = code === "" ? "cannot be reached" : `cannot do this now (${code})`;
  return new MemoryError("unavailable", `${place} ${why}. Try again later.`);
}

/** The word by which the server names an error; empty for anything that is not the server's answer. */
export function getRedisErrorCode(error: unknown): string {
  if (!(error instanceof Error) || error.name !== "ReplyError") return "";
  return CODE.exec(error.message)?.[0] ?? "ERR";
}
