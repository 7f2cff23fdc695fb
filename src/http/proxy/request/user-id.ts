import { refuseField } from "../../problem.ts";
import type { RequestContext } from "../../request-context.ts";
import { type BodyFields, toFields, toText } from "./reply-reader.ts";

/** The header of this server's own that names the user. It precedes all other places. */
export const USER_HEADER = "x-keepsake-user";

/** The headers of other programs that name the user, in order of precedence. */
export const DEFAULT_USER_HEADERS: readonly string[] = ["x-openwebui-user-id", "x-user-id"];

/** A user id as a request gives it. It is not checked yet. */
export interface NamedUser {
  readonly id: string;
  /** The header, or the field of the body, that holds it. */
  readonly from: string;
}

/**
 * The user that a request names. The first place that is not empty counts: `x-keepsake-user`; the headers of the settings, in
 * their order; `user`, `safety_identifier` and `metadata.user_id` of the body. Headers are trusted as much as the body is: both
 * name a user of the key's project alone.
 *
 * `prompt_cache_key` is not one of them. It names a bucket of the provider's cache, which many users share.
 */
export function findNamedUser(
  { req }: RequestContext,
  body: BodyFields,
  userHeaders: readonly string[],
): NamedUser | undefined {
  for (const from of [USER_HEADER, ...userHeaders]) {
    const id = req.header(from);
    if (id) return { id, from };
  }
  const fields: readonly (readonly [string, unknown])[] = [
    ["user", body.user],
    ["safety_identifier", body.safety_identifier],
    ["metadata.user_id", toFields(body.metadata).user_id],
  ];
  for (const [from, value] of fields) {
    const id = toText(value);
    if (id !== "") return { id, from };
  }
  return undefined;
}

/** The refusal of a chat that names no user, or none that can be one, where the settings require it. */
export function createMissingUserError(userHeaders: readonly string[]): Error {
  const headers = [USER_HEADER, ...userHeaders].join(", ");
  return refuseField(
    "user",
    "This server takes only chats that name their user, with at most 512 bytes of plain text. Set user, safety_identifier or " +
      `metadata.user_id in the body, or one of the headers ${headers}; or use a key that is bound to a user.`,
  );
}
