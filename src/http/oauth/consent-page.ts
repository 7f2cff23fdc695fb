import { createHmac } from "node:crypto";
import type { KeyScope } from "../keys/api-keys.ts";
import { isSameHash } from "../keys/key-ring.ts";
import { escapeHtml } from "../openapi/page.ts";
import {
  AUTHORIZATION_PARAMETERS,
  type AuthorizationRefusal,
  type AuthorizationRequest,
} from "./authorization-request.ts";
import { isOwnMachine } from "./client-documents.ts";

const SCOPE_LABELS: { readonly [scope in KeyScope]: string } = {
  read: "Search and read everything that is remembered",
  write: "Remember what you say",
  erase: "Erase memories, after a plan",
  admin: "",
};

/** What the consent page shows. */
export interface ConsentView {
  readonly request: AuthorizationRequest;
  /** The parameters of the request, to be sent back unchanged. */
  readonly parameters: URLSearchParams;
  /** Proves that the form comes from this page. */
  readonly formToken: string;
  /** What was wrong with the form before. */
  readonly problem?: string | undefined;
  /** The user that the form named before. */
  readonly user?: string | undefined;
}

/** Renders the page that asks for consent. It needs no script. All that comes from the client is escaped. */
export function renderConsentPage({
  request,
  parameters,
  formToken,
  problem,
  user = "",
}: ConsentView): string {
  const { client, redirectUri, scopes } = request;
  const host = new URL(client.id).host;
  const target = new URL(redirectUri);
  const hidden = [
    ...AUTHORIZATION_PARAMETERS.flatMap((name) => {
      const value = parameters.get(name);
      return value === null ? [] : [[name, value] as const];
    }),
    ["form_token", formToken] as const,
  ].map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`);
  return renderPage(
    "Allow access?",
    `<form class="card" method="post" action="/oauth/authorize" autocomplete="off">
        <h2>Allow access to your memory?</h2>
        <p><strong>${escapeHtml(host)}</strong> asks for access${client.name === undefined ? "" : ` and calls itself “${escapeHtml(toShownName(client.name))}”`}.</p>
        <p>Then you return to <strong>${escapeHtml(target.host)}</strong>${isOwnMachine(target.hostname) ? ", a program on this device. Any program here could be waiting there: go on only if you have just started this" : ""}.</p>
        ${problem === undefined ? "" : `<p class="problem" role="alert">${escapeHtml(problem)}</p>`}
        <fieldset class="choices"><legend>It may</legend>
          ${scopes.map((scope) => `<label><input type="checkbox" name="allow" value="${scope}" checked> ${SCOPE_LABELS[scope]}</label>`).join("\n          ")}
        </fieldset>
        <input type="text" name="username" autocomplete="username" value="keepsake" readonly hidden>
        <label for="key">Your key</label>
        <input id="key" name="key" type="password" autocomplete="current-password" placeholder="ks_…" maxlength="512" required>
        <label for="user">Whose memory (if the key is for all users)</label>
        <input id="user" name="user" value="${escapeHtml(user)}" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="512">
        ${hidden.join("\n        ")}
        <button type="submit" class="primary" name="decision" value="allow">Allow</button>
        <button type="submit" name="decision" value="refuse" formnovalidate>Refuse</button>
        <p class="small">The client does not see the key. To take the access back, disconnect the client there, or here with <code>keepsake keys disconnect</code>.</p>
      </form>`,
  );
}

/** Renders the page that says why a request is refused. The browser goes nowhere by itself. */
export function renderRefusalPage({ problem, returnTo }: AuthorizationRefusal): string {
  const back =
    returnTo === undefined
      ? ""
      : `<p><a href="${escapeHtml(returnTo)}" rel="noreferrer">Return to ${escapeHtml(new URL(returnTo).host)}</a></p>`;
  return renderPage(
    "Access is not possible",
    `<div class="card">
        <h2>Access is not possible</h2>
        <p class="problem" role="alert">${escapeHtml(problem)}</p>
        ${back}
        <p class="small">Nothing was allowed. Close this window, or connect the client again.</p>
      </div>`,
  );
}

function renderPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} – Keepsake</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/app.css">
  </head>
  <body>
    <header class="bar">
      <h1 class="brand"><img src="/icon.svg" alt="" width="22" height="22">Keepsake</h1>
    </header>
    <main class="door">
      ${content}
    </main>
  </body>
</html>
`;
}

/**
 * Gives the policy of the page: no scripts, no frames, and a form that goes to this server. A browser also checks where the
 * form's answer leads, so the client's address is listed.
 */
export function toPagePolicy(redirectUri?: string): string {
  const target = redirectUri === undefined ? "" : ` ${toPolicySource(new URL(redirectUri))}`;
  return (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; " +
    `form-action 'self'${target}`
  );
}

/** A policy cannot name an IPv6 address. */
function toPolicySource({ hostname, origin, protocol }: URL): string {
  return hostname.startsWith("[") ? protocol : origin;
}

/** Gives the token of a form: it belongs to the browser's cookie and to what the page shows. */
export function createFormToken(cookie: string, parameters: URLSearchParams): string {
  const shown = AUTHORIZATION_PARAMETERS.map((name) => parameters.get(name));
  return createHmac("sha256", cookie).update(JSON.stringify(shown)).digest("hex");
}

export function isFormToken(token: string, cookie: string, parameters: URLSearchParams): boolean {
  return /^[0-9a-f]{64}$/.test(token) && isSameHash(token, createFormToken(cookie, parameters));
}

const MAX_NAME_LENGTH = 60;

/** Gives a client's name without what could make it look like something else: controls, marks of direction, line breaks. */
function toShownName(name: string): string {
  const plain = name.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
  return plain.length > MAX_NAME_LENGTH ? `${plain.slice(0, MAX_NAME_LENGTH)}…` : plain;
}
