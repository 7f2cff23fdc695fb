import { checkNewName } from "../../../domain/limits.ts";
import { isMemoryError } from "../../../errors.ts";
import type { KeyScope } from "../../keys/api-keys.ts";
import type { OperationRequest } from "../../operation.ts";
import { refuse, refuseField } from "../../problem.ts";
import type { BodyFields } from "./reply-reader.ts";
import { createMissingUserError, findNamedUser, type NamedUser } from "./user-id.ts";

/** The user of a chat, and the permitted use of memory. */
export interface MemoryAccess {
  readonly user?: string;
  /** The source of the user's name: `key`, a header, or a field of the body. */
  readonly from?: string;
  /** The session named by the client. */
  readonly session?: string;
  readonly mode: "off" | "read" | "on";
  /** Why the mode is less than "on": one of a fixed set of texts. */
  readonly why?: string;
}

/**
 * Resolves the memory access of a request from its headers and body. A key for one user names that user. Without a user,
 * memory is off. Refuses an unknown mode (a typo must not turn memory on), another user than the key's, and an invalid
 * session name.
 */
export function resolveMemoryAccess(
  call: Pick<OperationRequest, "exchange" | "bearer">,
  body: BodyFields,
  userHeaders: readonly string[],
): MemoryAccess {
  const { exchange, bearer } = call;
  const wish = parseMode(exchange.req.header("x-keepsake-memory"));
  const session = exchange.req.header("x-keepsake-session") || undefined;
  if (session !== undefined && !isValidName(session))
    throw refuseField("x-keepsake-session", "x-keepsake-session must be at most 512 bytes of plain text.");
  const named = findUser(call, body, userHeaders);
  if (named === undefined) return { mode: "off", why: "no user named" };
  if (!isValidName(named.id)) return { mode: "off", why: "the user is not a valid name" };
  return {
    user: named.id,
    from: named.from,
    ...(session === undefined ? {} : { session }),
    ...limitMode(wish, bearer?.scopes ?? []),
  };
}

/**
 * Gives the user of a request that is about a user's own things. Throws a 400 error if it names none, and a 403 error for
 * another user than the key's.
 */
export function requireNamedUser(
  call: Pick<OperationRequest, "exchange" | "bearer">,
  body: BodyFields,
  { userHeaders }: { readonly userHeaders: readonly string[] },
): string {
  const user = findUser(call, body, userHeaders)?.id;
  if (user === undefined || !isValidName(user)) throw createMissingUserError(userHeaders);
  return user;
}

/** Gives the user of a request: that of the key, or the one it names. Throws a 403 error for another than the key's. */
function findUser(
  { exchange, bearer }: Pick<OperationRequest, "exchange" | "bearer">,
  body: BodyFields,
  userHeaders: readonly string[],
): NamedUser | undefined {
  const named = findNamedUser(exchange, body, userHeaders);
  const bound = bearer?.user;
  if (named && bound !== undefined && named.id !== bound)
    throw refuse({
      status: 403,
      code: "forbidden",
      detail: `This key is for another user than the one in ${named.from}.`,
    });
  return bound === undefined ? named : { id: bound, from: "key" };
}

function parseMode(header: string | undefined): MemoryAccess["mode"] {
  const wish = header || "on";
  if (wish === "off" || wish === "read" || wish === "on") return wish;
  throw refuseField("x-keepsake-memory", "x-keepsake-memory must be off, read or on.");
}

function limitMode(
  wish: MemoryAccess["mode"],
  scopes: readonly KeyScope[],
): Pick<MemoryAccess, "mode" | "why"> {
  if (wish === "off") return { mode: "off", why: "asked for" };
  if (!scopes.includes("read")) return { mode: "off", why: "the key may not read" };
  if (wish === "read") return { mode: "read", why: "asked for" };
  return scopes.includes("write") ? { mode: "on" } : { mode: "read", why: "the key may not write" };
}

function isValidName(text: string): boolean {
  try {
    checkNewName(text, "name");
    return true;
  } catch (error) {
    if (isMemoryError(error)) return false;
    throw error;
  }
}
