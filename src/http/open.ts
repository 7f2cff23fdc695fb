import type { MiddlewareHandler } from "hono";
import type { HTTPException } from "hono/http-exception";
import type { AppEnvironment } from "./app-types.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { refuse } from "./problem.ts";

/** Refuses what comes while the server closes, and lets no connection stay open once it is about to. */
export function rejectWhileClosing(life: Lifecycle): MiddlewareHandler<AppEnvironment> {
  return async (exchange, next) => {
    if (life.phase() === "closing") throw createClosingError();
    await next();
    if (life.phase() !== "serving") exchange.header("connection", "close");
  };
}

export function createClosingError(): HTTPException {
  return refuse({
    status: 503,
    code: "unavailable",
    detail: "This server is about to stop. Ask again in a moment.",
    headers: { "retry-after": "1", connection: "close" },
  });
}

/** What requests are told that were not finished when the server had to end. */
export function createShutdownError(): HTTPException {
  return refuse({
    status: 503,
    code: "unavailable",
    detail: `${SHUTDOWN_MESSAGE} What was to be written may be written yet: send the same again under the same Idempotency-Key.`,
    headers: { "retry-after": "1", connection: "close" },
  });
}

/** The first words of it, for streams. */
export const SHUTDOWN_MESSAGE = "The server stops before this answer is whole.";
