import { randomBytes } from "node:crypto";
import { getCookie, setCookie } from "hono/cookie";
import { checkNewName } from "../../domain/limits.ts";
import { isMemoryError } from "../../errors.ts";
import { getCookieName } from "../middleware/authentication.ts";
import {
  type AuthorizationRefusal,
  type AuthorizationRequest,
  readAuthorizationRequest,
  toResponseUrl,
} from "../oauth/authorization-request.ts";
import { type AuthorizationServer, OAUTH_PATHS } from "../oauth/authorization-server.ts";
import {
  createFormToken,
  isFormToken,
  renderConsentPage,
  renderRefusalPage,
  toPagePolicy,
} from "../oauth/consent-page.ts";
import { defineOperation, type Operation, type OperationRequest } from "../operation.ts";
import { refuse } from "../problem.ts";
import { readFormBody } from "../request-body.ts";
import type { RequestContext } from "../request-context.ts";

const COMMON = { tag: "OAuth", scope: "none", isHidden: true, path: OAUTH_PATHS.authorize } as const;

/** The page on which a person allows a client, or refuses it. */
export function createConsentOperations(server: AuthorizationServer): readonly Operation[] {
  return [
    defineOperation({
      ...COMMON,
      id: "askConsent",
      method: "GET",
      summary: "Asks a person whether a client may have access",
      answers: { 200: { says: "The page.", others: { "text/html": "the page" } } },
      async handle({ exchange, signal }) {
        const parameters = new URL(exchange.req.url).searchParams;
        const request = await readAuthorizationRequest(parameters, server, signal);
        if ("problem" in request) return sendRefusal(exchange, request);
        return sendConsent(exchange, server, { request, parameters });
      },
    }),
    defineOperation({
      ...COMMON,
      id: "giveConsent",
      method: "POST",
      summary: "Takes the person's answer back to the client",
      rawBody: { "application/x-www-form-urlencoded": { says: "The form." } },
      answers: { 303: { says: "Back to the client." } },
      handle: (call) => answerConsent(server, call),
    }),
  ];
}

/**
 * Sets the headers of a page for people. The form's POST must name its origin, which the policy `no-referrer` would hide. A client
 * opens the page in a window of its own and waits for it, so the window keeps its opener.
 */
function setPageHeaders(exchange: RequestContext, redirectUri?: string): void {
  exchange.set("contentPolicy", toPagePolicy(redirectUri));
  exchange.set("securityHeaders", {
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "unsafe-none",
  });
}

function sendRefusal(exchange: RequestContext, refusal: AuthorizationRefusal): Response {
  setPageHeaders(exchange);
  return exchange.html(renderRefusalPage(refusal), refusal.status);
}

interface ConsentForm {
  readonly request: AuthorizationRequest;
  readonly parameters: URLSearchParams;
  readonly problem?: string | undefined;
  readonly user?: string;
}

const FORM_SECONDS = 900;

/** Shows the consent page, with a cookie that its form belongs to. */
function sendConsent(
  exchange: RequestContext,
  { issuer }: AuthorizationServer,
  form: ConsentForm,
  status: 200 | 400 | 401 = 200,
): Response {
  const name = toFormCookie(exchange, issuer);
  const known = getCookie(exchange, name);
  // Two windows of a browser share the cookie.
  const cookie =
    known !== undefined && /^[0-9a-f]{64}$/.test(known) ? known : randomBytes(32).toString("hex");
  setCookie(exchange, name, cookie, {
    httpOnly: true,
    sameSite: "Strict",
    path: "/",
    maxAge: FORM_SECONDS,
    secure: issuer.startsWith("https:"),
  });
  setPageHeaders(exchange, form.request.redirectUri);
  return exchange.html(
    renderConsentPage({ ...form, formToken: createFormToken(cookie, form.parameters) }),
    status,
  );
}

/** Gives the name of the form's cookie. With TLS, the prefix keeps other hosts of the domain from setting it. */
function toFormCookie(exchange: RequestContext, issuer: string): string {
  return `${issuer.startsWith("https:") ? "__Host-" : ""}${getCookieName(exchange)}_consent`;
}

const STALE_FORM: AuthorizationRefusal = {
  status: 403,
  problem: "This page is out of date, or another page has sent it. Connect the client again.",
};

async function answerConsent(server: AuthorizationServer, call: OperationRequest): Promise<Response> {
  const { exchange, signal } = call;
  if (isFromElsewhere(exchange)) return sendRefusal(exchange, STALE_FORM);
  const parameters = await readFormBody(exchange);
  const request = await readAuthorizationRequest(parameters, server, signal);
  if ("problem" in request) return sendRefusal(exchange, request);
  const cookie = getCookie(exchange, toFormCookie(exchange, server.issuer)) ?? "";
  if (cookie === "" || !isFormToken(parameters.get("form_token") ?? "", cookie, parameters))
    return sendRefusal(exchange, STALE_FORM);
  if (parameters.get("decision") !== "allow")
    return sendResponse(exchange, server, request, { error: "access_denied" });
  return signInAndAllow(server, call, { request, parameters, user: parameters.get("user") ?? "" });
}

/** Whether a form comes from a page of another origin, listed or not, as far as the browser says. */
function isFromElsewhere(exchange: RequestContext): boolean {
  const site = exchange.req.header("sec-fetch-site");
  return exchange.get("foreignOrigin") !== undefined || (site !== undefined && site !== "same-origin");
}

function sendResponse(
  exchange: RequestContext,
  { issuer: iss }: AuthorizationServer,
  { redirectUri, state }: AuthorizationRequest,
  response: { readonly [name: string]: string },
): Response {
  // A redirect takes the window from its opener, too, unless it says otherwise.
  setPageHeaders(exchange, redirectUri);
  return exchange.redirect(toResponseUrl(redirectUri, { ...response, state, iss }), 303);
}

async function signInAndAllow(
  server: AuthorizationServer,
  { exchange, services }: OperationRequest,
  form: ConsentForm & { readonly user: string },
): Promise<Response> {
  const { request, parameters } = form;
  await services.keys.refresh();
  const identified = services.keys.identify(parameters.get("key")?.trim() ?? "");
  if (!identified) {
    const unknown = refuse({ status: 401, code: "forbidden", detail: "Unknown key." });
    const refusal = await services.failedKeys.refusal(exchange, unknown);
    if (refusal !== unknown) throw refusal;
    return sendConsent(exchange, server, { ...form, problem: "This key is not known, or has expired." }, 401);
  }
  const { bearer, secretHash: keyHash } = identified;
  const allowed = parameters.getAll("allow");
  const scopes = request.scopes.filter((scope) => allowed.includes(scope) && bearer.scopes.includes(scope));
  const user = chooseUser(bearer.user, form.user);
  const problem = findConsentProblem(user, scopes);
  if (user === undefined || problem !== undefined)
    return sendConsent(exchange, server, { ...form, problem }, 400);
  const { id: client, auth } = request.client;
  const { key, project } = bearer;
  const consent = { client, auth, key, keyHash, project, user, scopes };
  const code = await server.tokens.issueCode(consent, {
    redirectUri: request.redirectUri,
    challenge: request.challenge,
  });
  return sendResponse(exchange, server, request, { code });
}

/** Gives the user of a consent: that of the key, or the one that the form names. Undefined if they differ, or there is none. */
function chooseUser(bound: string | undefined, named: string): string | undefined {
  if (named === "") return bound;
  if (bound !== undefined) return named === bound ? bound : undefined;
  try {
    return checkNewName(named, "user");
  } catch (error) {
    if (isMemoryError(error)) return undefined;
    throw error;
  }
}

function findConsentProblem(user: string | undefined, scopes: readonly string[]): string | undefined {
  if (user === undefined)
    return "Name the user whose memory the client may reach. A key for one user reaches that one alone.";
  // Every request of a client needs it.
  if (!scopes.includes("read")) return "The client needs the permission to read, and the key must have it.";
  return undefined;
}
