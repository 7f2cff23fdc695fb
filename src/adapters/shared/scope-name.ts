import { createHash } from "node:crypto";
import { toScopeKey } from "../../domain/scope.ts";

/** Half of a SHA-256 and a little more: nobody meets another's by chance, and it fits into any name. */
const HASH_LETTERS = 40;

/**
 * A name for a user on a server that is not ours: letters and digits alone, the same in every process. It does not say who it is;
 * whoever knows a user's name can work it out.
 */
export const toScopeHash = (scope: { readonly project: string; readonly user: string }): string =>
  toShortHash(toScopeKey(scope));

/** SHA-256 in hex, cut to 40 letters. */
export const toShortHash = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, HASH_LETTERS);
