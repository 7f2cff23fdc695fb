import { checkNewName } from "../../../domain/limits.ts";
import { isMemoryError } from "../../../errors.ts";
import type { KeyScope } from "../../keys.ts";
import type { Asked } from "../../operation.ts";
import { refuse } from "../../problem.ts";
import { wrong } from "../problems.ts";
import type { Fields } from "../replies/reply.ts";
import { namedUser } from "./user-id.ts";

/** Whose conversation it is, and what memory may do in it. */
export interface Who {
  readonly user?: string;
  /** What named the user: `key`, a header, or a field of the body. */
  readonly from?: string;
  /** Named by the client. */
  readonly session?: string;
  readonly mode: "off" | "read" | "on";
  /** Why the mode is less than "on", in fixed words. */
  readonly why?: string;
}

/**
 * Reads it from the headers and the body of the request. A key that is bound to a user names that one. Where no user is
 * named, there is no memory. Refuses a mode that does not exist (a slip there must not turn memory on), another user than
 * the key's, and a session that is no name.
 */
export function whoAsks(
  asked: Pick<Asked, "exchange" | "bearer">,
  body: Fields,
  userHeaders: readonly string[],
): Who {
  const { exchange, bearer } = asked;
  const wish = wishOf(exchange.req.header("x-keepsake-memory"));
  const session = exchange.req.header("x-keepsake-session") || undefined;
  if (session !== undefined && !isName(session))
    throw wrong("x-keepsake-session", "x-keepsake-session must be at most 512 bytes of plain text.");
  const named = namedUser(exchange, body, userHeaders);
  const bound = bearer?.user;
  if (named && bound !== undefined && named.id !== bound)
    throw refuse({
      status: 403,
      code: "forbidden",
      detail: `This key is for another user than ${named.from} names.`,
    });
  const user = bound ?? named?.id;
  if (user === undefined) return { mode: "off", why: "no user named" };
  if (!isName(user)) return { mode: "off", why: "the user is no name" };
  const from = bound === undefined ? (named?.from ?? "") : "key";
  return { user, from, ...(session === undefined ? {} : { session }), ...modeOf(wish, bearer?.scopes ?? []) };
}

function wishOf(header: string | undefined): Who["mode"] {
  const wish = header || "on";
  if (wish === "off" || wish === "read" || wish === "on") return wish;
  throw wrong("x-keepsake-memory", "x-keepsake-memory must be off, read or on.");
}

function modeOf(wish: Who["mode"], scopes: readonly KeyScope[]): Pick<Who, "mode" | "why"> {
  if (wish === "off") return { mode: "off", why: "asked for" };
  if (!scopes.includes("read")) return { mode: "off", why: "the key may not read" };
  if (wish === "read") return { mode: "read", why: "asked for" };
  return scopes.includes("write") ? { mode: "on" } : { mode: "read", why: "the key may not write" };
}

function isName(text: string): boolean {
  try {
    checkNewName(text, "name");
    return true;
  } catch (error) {
    if (isMemoryError(error)) return false;
    throw error;
  }
}
