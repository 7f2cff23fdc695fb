import type { OperationRequest } from "../../operation.ts";
import { refuseField } from "../problems.ts";
import type { OpenAiProxy } from "../proxy.ts";

/** Whose account with the model's server a request is made under. */
export interface UpstreamAccount {
  /** Whether the client brought a key of its own; else the server's key is used, which all its callers share. */
  readonly isClientAccount: boolean;
  /** The header `authorization` that goes on; absent where there is none. */
  readonly authorization?: string;
}

/** Holds the client's own key of the model's server, while `authorization` holds Keepsake's. */
export const UPSTREAM_KEY_HEADER = "x-keepsake-upstream-key";

/** A key of this server's: no other server may see it. */
const KEEPSAKE_KEY_PATTERN = /\bks_[0-9a-f]{12}_/;

/**
 * The account of a request. The client's own key stands in `x-keepsake-upstream-key`; or in `authorization`, with Keepsake's
 * key in `x-keepsake-key`. A Keepsake key is never taken for one of the model's server. An error of OpenAI's form with status
 * 400 for a header that holds no key.
 */
export function getUpstreamAccount(
  { exchange }: Pick<OperationRequest, "exchange">,
  { upstream }: Pick<OpenAiProxy, "upstream">,
): UpstreamAccount {
  const { req } = exchange;
  const brought = req.header(UPSTREAM_KEY_HEADER);
  const bearer = req.header("authorization");
  const keepsakeKey = req.header("x-keepsake-key");
  const token = parseToken(bearer);
  if (brought !== undefined) {
    if (!/^[\x21-\x7e]{1,4096}$/.test(brought))
      throw refuseField(
        UPSTREAM_KEY_HEADER,
        `${UPSTREAM_KEY_HEADER} must hold a key alone, without "Bearer".`,
      );
    if (KEEPSAKE_KEY_PATTERN.test(brought) || brought === token || brought === keepsakeKey)
      throw refuseField(
        UPSTREAM_KEY_HEADER,
        `${UPSTREAM_KEY_HEADER} holds a key of this server, not of the model's.`,
      );
    return { isClientAccount: true, authorization: `Bearer ${brought}` };
  }
  const isProviders = token !== keepsakeKey && !KEEPSAKE_KEY_PATTERN.test(bearer ?? "");
  if (keepsakeKey !== undefined && bearer !== undefined && isProviders)
    return { isClientAccount: true, authorization: bearer };
  if (upstream?.apiKey === undefined) return { isClientAccount: false };
  return { isClientAccount: false, authorization: `Bearer ${upstream.apiKey}` };
}

/** Whether a request is made under the client's own account. */
export function hasClientKey(asked: Pick<OperationRequest, "exchange">): boolean {
  return getUpstreamAccount(asked, { upstream: undefined }).isClientAccount;
}

/**
 * Whether a request may reach what is stored with the model's server: it is made under the client's own account, and the
 * model's server is taken to tell accounts apart.
 */
export function mayUseStoredObjects(
  asked: Pick<OperationRequest, "exchange">,
  { hasClientAccounts }: Pick<OpenAiProxy, "hasClientAccounts">,
): boolean {
  return hasClientAccounts && hasClientKey(asked);
}

function parseToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}
