import * as z from "zod";
import type { PageAsset } from "../../../ui/index.ts";
import { type ApiDocument, createApiDocument } from "../../openapi/document.ts";
import { DOCUMENT_PAGE_STYLE, renderDocumentPage } from "../../openapi/page.ts";
import { defineOperation, type Operation } from "../../operation.ts";
import { VERSION } from "../../version.ts";

const DOCUMENT_SCHEMA = z.looseObject({ openapi: z.literal("3.1.0") });

/** Documentation of the API, for programs and for people. */
export function createDocumentOperations(table: () => readonly Operation[]): Operation[] {
  let rendered: { readonly json: string; readonly page: string } | undefined;
  const described = (): { readonly json: string; readonly page: string } => {
    if (!rendered) {
      const document: ApiDocument = createApiDocument(table(), VERSION);
      rendered = { json: JSON.stringify(document), page: renderDocumentPage(document) };
    }
    return rendered;
  };
  return [
    defineOperation({
      id: "getDocument",
      method: "GET",
      path: "/openapi.json",
      tag: "Server",
      summary: "Gives the API as an OpenAPI 3.1 document",
      scope: "none",
      answers: { 200: { says: "The document.", schema: DOCUMENT_SCHEMA } },
      handle: ({ exchange }) =>
        exchange.body(described().json, 200, {
          "content-type": "application/json",
          "cache-control": "no-cache",
        }),
    }),
    defineOperation({
      id: "getDocumentPage",
      method: "GET",
      path: "/docs",
      tag: "Server",
      summary: "Gives the API as a web page",
      scope: "none",
      answers: { 200: { says: "The page.", others: { "text/html": "the page" } } },
      handle: ({ exchange }) =>
        exchange.body(described().page, 200, {
          "content-type": "text/html; charset=utf-8",
          "cache-control": "no-cache",
        }),
    }),
    defineOperation({
      id: "getDocumentStyle",
      method: "GET",
      path: "/docs.css",
      tag: "Server",
      summary: "Gives the style sheet of that page",
      scope: "none",
      isHidden: true,
      answers: { 200: { says: "The style.", others: { "text/css": "the style" } } },
      handle: ({ exchange }) =>
        exchange.body(DOCUMENT_PAGE_STYLE, 200, {
          "content-type": "text/css; charset=utf-8",
          "cache-control": "no-cache",
        }),
    }),
  ];
}

/** The files of the web page. They contain no user data: the page loads it by the API. */
export function createPageOperations(assets: readonly PageAsset[]): Operation[] {
  return assets.map(({ path, type, body, etag: mark }) =>
    defineOperation({
      id: `page ${path}`,
      method: "GET",
      path,
      tag: "Page",
      summary: "Gives a file of the web page",
      scope: "none",
      isHidden: true,
      answers: {
        200: { says: "The file.", others: { [type]: "its text" } },
        304: { says: "Not modified." },
      },
      handle({ exchange }) {
        const headers = { "content-type": type, "cache-control": "no-cache", etag: mark };
        if (exchange.req.header("if-none-match") === mark) return exchange.body(null, 304, headers);
        return exchange.body(body, 200, headers);
      },
    }),
  );
}
