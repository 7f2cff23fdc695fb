import type { PageAsset } from "../../ui/index.ts";
import { defineOperation, type Operation } from "../operation.ts";

/** The page and what it is made of. It holds nobody's data: that comes by the same calls that programs make. */
export function createPageOperations(assets: readonly PageAsset[]): Operation[] {
  return assets.map(({ path, type, body, etag: mark }) =>
    defineOperation({
      id: `page ${path}`,
      method: "GET",
      path,
      tag: "Page",
      summary: "A file of the page",
      scope: "none",
      isHidden: true,
      answers: {
        200: { says: "The file.", others: { [type]: "its text" } },
        304: { says: "It is the same." },
      },
      handle({ exchange }) {
        const headers = { "content-type": type, "cache-control": "no-cache", etag: mark };
        if (exchange.req.header("if-none-match") === mark) return exchange.body(null, 304, headers);
        return exchange.body(body, 200, headers);
      },
    }),
  );
}
