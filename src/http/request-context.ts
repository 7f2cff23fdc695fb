import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, Hono } from "hono";
import type { Allowance } from "../ports/rate-limits.ts";
import type { BodyObserver } from "./body-quota.ts";

/** The state of a request, passed between its steps. */
export interface AppEnvironment {
  Variables: {
    requestId: string;
    /** The matched operation; undefined for an unknown path. */
    operation?: { readonly id: string; readonly path: string };
    /** Ids of the receipts of its erasures. Its response may still be stored after them. */
    erasures?: readonly string[];
    /** The listed origin of the calling page, if it is not the server's own. */
    foreignOrigin?: string;
    /** The public part of its key, after authentication. */
    key?: string;
    /** The policy of a response that is a file of a user: stricter than that of the page. */
    contentPolicy?: string;
    /** Security headers of this response in place of the usual ones. */
    securityHeaders?: Readonly<Record<string, string>>;
    /** Observes its body while it is received. */
    intake?: BodyObserver;
    /** The remaining rate limits of its key. */
    allowances?: { readonly requests?: Allowance; readonly bytes?: Allowance };
  };
}

/** Node's objects of a request; absent in some tests. */
export interface NodeBindings {
  readonly incoming?: IncomingMessage;
  readonly outgoing?: ServerResponse;
  /** Writes the response body after its head. Set when a body is forwarded from the upstream. */
  relay?: (outgoing: ServerResponse) => void;
}

export function getNodeBindings(exchange: RequestContext): NodeBindings {
  return (exchange.env ?? {}) as NodeBindings;
}

export type HonoApp = Hono<AppEnvironment>;
export type RequestContext = Context<AppEnvironment>;
