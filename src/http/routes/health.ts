import { Hono } from "hono";
import type { Keepsake } from "../../engine/surface.ts";
import type { App, RequestFacts } from "../app-types.ts";

/** Whether the process lives: says nothing else, and needs no key. */
export function healthRoutes(): App {
  const app = new Hono<RequestFacts>();
  app.get("/health", (context) => context.json({ status: "ok" }));
  return app;
}

/** Whether the memory can be read; 503 where not. */
export function readyRoutes(keepsake: Keepsake): App {
  const app = new Hono<RequestFacts>();
  app.get("/ready", async (context) => {
    // A user nobody has: the cheapest read that goes through everything.
    await keepsake.scope({ project: context.get("project"), user: "readiness" }).list({ limit: 1 });
    return context.json({ status: "ready", notices: keepsake.notices });
  });
  return app;
}
