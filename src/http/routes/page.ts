import { Hono } from "hono";
import type { Asset } from "../../ui/index.ts";
import type { App, RequestFacts } from "../app-types.ts";

/** The page and what it is made of. It holds nobody's data: that comes by the same calls that programs make. */
export function pageRoutes(assets: readonly Asset[]): App {
  const app = new Hono<RequestFacts>();
  for (const { path, type, body, mark } of assets) {
    app.get(path, (context) => {
      const headers = { "content-type": type, "cache-control": "no-cache", etag: mark };
      if (context.req.header("if-none-match") === mark) return context.body(null, 304, headers);
      return context.body(body, 200, headers);
    });
  }
  return app;
}
