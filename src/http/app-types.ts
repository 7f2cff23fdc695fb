import type { Context, Hono } from "hono";

/** What a request carries from one handler to the next. */
export interface RequestFacts {
  Variables: {
    requestId: string;
  };
}

export type App = Hono<RequestFacts>;
export type Exchange = Context<RequestFacts>;
