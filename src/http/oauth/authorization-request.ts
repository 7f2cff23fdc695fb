import { isMemoryError } from "../../errors.ts";
import type { KeyScope } from "../keys/api-keys.ts";
import {
  type ClientDocuments,
  isRegisteredRedirect,
  isSafeRedirect,
  type OAuthClient,
} from "./client-documents.ts";
import { TOKEN_SCOPES } from "./protected-resource.ts";

/** A request for a person's consent that may be shown to them. */
export interface AuthorizationRequest {
  readonly client: OAuthClient;
  readonly redirectUri: string;
  /** The client's own mark for the request. It goes back with the response. */
  readonly state: string | undefined;
  /** The PKCE challenge. */
  readonly challenge: string;
  readonly scopes: readonly KeyScope[];
}

/** Why a request is refused, for the person. With `returnTo`, the client can be told, too. */
export interface AuthorizationRefusal {
  readonly problem: string;
  readonly status: 400 | 403 | 503;
  /** The client's address with the error. The person decides whether to go there. */
  readonly returnTo?: string;
}

/** The parameters that are read. They go through the consent page unchanged. */
export const AUTHORIZATION_PARAMETERS = [
  "response_type",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
  "resource",
] as const;

/** Parameters of extensions that would change what a request means. */
const UNSUPPORTED: { readonly [name: string]: string } = {
  request: "request_not_supported",
  request_uri: "request_uri_not_supported",
  registration: "registration_not_supported",
};

const MAX_PARAMETER_LENGTH = 2_048;
/** SHA-256 in base64url: what S256 gives. */
const CHALLENGE_PATTERN = /^[A-Za-z0-9_-]{43}$/;

interface RequestRules {
  /** The issuer identifier of this server. */
  readonly issuer: string;
  /** The resource that tokens are issued for. */
  readonly resource: string;
  readonly clients: ClientDocuments;
}

/**
 * Checks an authorization request (OAuth 2.1 section 4.1.1). Nothing in it leads the browser anywhere: the person sees what is
 * wrong, and where the client would like to be told.
 */
export async function readAuthorizationRequest(
  parameters: URLSearchParams,
  { issuer, resource, clients }: RequestRules,
  signal: AbortSignal,
): Promise<AuthorizationRequest | AuthorizationRefusal> {
  const repeated = AUTHORIZATION_PARAMETERS.find((name) => parameters.getAll(name).length > 1);
  if (repeated !== undefined) return { status: 400, problem: `The request has ${repeated} more than once.` };
  if ([...parameters.values()].some((value) => value.length > MAX_PARAMETER_LENGTH))
    return { status: 400, problem: "A parameter of the request is too long." };
  const client = await findClient(clients, parameters.get("client_id") ?? "", signal);
  if ("problem" in client) return client;
  const redirectUri = parameters.get("redirect_uri") ?? "";
  if (!isSafeRedirect(redirectUri) || !isRegisteredRedirect(client, redirectUri)) {
    return { status: 400, problem: "The address to return to (redirect_uri) is not one of the client's." };
  }
  const state = parameters.get("state") ?? undefined;
  const failure = findFailure(parameters, resource);
  if (failure) {
    const returnTo = toResponseUrl(redirectUri, { error: failure.error, state, iss: issuer });
    return { status: 400, problem: failure.problem, returnTo };
  }
  const challenge = parameters.get("code_challenge") ?? "";
  return { client, redirectUri, state, challenge, scopes: listScopes(parameters) };
}

async function findClient(
  clients: ClientDocuments,
  id: string,
  signal: AbortSignal,
): Promise<OAuthClient | AuthorizationRefusal> {
  try {
    return await clients.find(id, signal);
  } catch (error) {
    if (!isMemoryError(error)) throw error;
    const status = error.code === "invalid_input" ? 400 : 503;
    return { status, problem: `The client is not known: ${error.message}` };
  }
}

interface RequestFailure {
  readonly error: string;
  readonly problem: string;
}

function findFailure(parameters: URLSearchParams, resource: string): RequestFailure | undefined {
  for (const [name, error] of Object.entries(UNSUPPORTED))
    if (parameters.has(name)) return { error, problem: `The parameter ${name} is not supported.` };
  if (parameters.get("response_type") !== "code")
    return {
      error: "unsupported_response_type",
      problem: "The client must ask for a code (response_type=code).",
    };
  if ((parameters.get("response_mode") ?? "query") !== "query")
    return { error: "invalid_request", problem: "The response can only be sent in the query." };
  if (parameters.get("code_challenge_method") !== "S256")
    return { error: "invalid_request", problem: "The client must use PKCE with the method S256." };
  if (!CHALLENGE_PATTERN.test(parameters.get("code_challenge") ?? ""))
    return { error: "invalid_request", problem: "The client must send a code_challenge of PKCE." };
  if (!isOurResource(parameters.get("resource"), resource))
    return { error: "invalid_target", problem: "The client asks for access to another server (resource)." };
  if (parameters.get("prompt") === "none")
    return { error: "interaction_required", problem: "Nobody is asked for consent silently (prompt=none)." };
  if (listScopes(parameters).length === 0)
    return {
      error: "invalid_scope",
      problem: `The client asks for no scope of this server: ${TOKEN_SCOPES.join(", ")}.`,
    };
  return undefined;
}

/** Whether the resource of a request is ours. Scheme and host have no case. Without one, ours is meant: there is no other. */
export function isOurResource(named: string | null, resource: string): boolean {
  if (named === null) return true;
  return (
    named === resource || (URL.canParse(named) && !named.includes("#") && new URL(named).href === resource)
  );
}

/** Lists the known scopes of a request, all of them if it names none. Others are left out: the response says what is granted. */
function listScopes(parameters: URLSearchParams): readonly KeyScope[] {
  const named = parameters.get("scope")?.split(" ").filter(Boolean) ?? [];
  return named.length === 0 ? TOKEN_SCOPES : TOKEN_SCOPES.filter((scope) => named.includes(scope));
}

/** Gives the client's address with a response: a code or an error, its state, and who responds (RFC 9207). */
export function toResponseUrl(
  redirectUri: string,
  response: { readonly [name: string]: string | undefined },
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(response))
    if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
