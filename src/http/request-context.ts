import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, Hono } from "hono";
import type { Allowance } from "../ports/rate-limits.ts";
import type { BodyObserver } from "./body-quota.ts";

/** What a request carries from one step to the next. */
export interface AppEnvironment {
  Variables: {
    requestId: string;
    /** What it turned out to ask for; undefined for an address that is none of ours. */
    operation?: { readonly id: string; readonly path: string };
    /** Ids of the receipts of erasures that it made: its own answer may be kept after them. */
    erasures?: readonly string[];
    /** The listed origin of the page that asks, where it is not the server's own. */
    foreignOrigin?: string;
    /** The public half of the key it came with, once that is known to be good. */
    key?: string;
    /** Is told of its body while that comes in. */
    intake?: BodyObserver;
    /** What is left of the allowances of its key. */
    allowances?: { readonly requests?: Allowance; readonly bytes?: Allowance };
  };
}

/** What the server of Node gives along with a request; a test may ask without any. */
export interface NodeBindings {
  readonly incoming?: IncomingMessage;
  readonly outgoing?: ServerResponse;
  /** Writes the answer's body, once its head is known: set by what passes on the bytes of another server. */
  relay?: (outgoing: ServerResponse) => void;
}

export function getNodeBindings(exchange: RequestContext): NodeBindings {
  return (exchange.env ?? {}) as NodeBindings;
}

export type HonoApp = Hono<AppEnvironment>;
export type RequestContext = Context<AppEnvironment>;
