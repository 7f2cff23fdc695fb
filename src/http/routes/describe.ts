import * as z from "zod";
import { type ApiDocument, createApiDocument } from "../document/document.ts";
import { renderDocumentPage } from "../document/page.ts";
import { DOCUMENT_PAGE_STYLE } from "../document/style.ts";
import { defineOperation, type Operation } from "../operation.ts";
import { VERSION } from "../version.ts";

const DOCUMENT_SCHEMA = z.looseObject({ openapi: z.literal("3.1.0") });

/** The table told to programs, and to people. */
export function createDocumentOperations(table: () => readonly Operation[]): Operation[] {
  let made: { readonly json: string; readonly page: string } | undefined;
  const described = (): { readonly json: string; readonly page: string } => {
    if (!made) {
      const document: ApiDocument = createApiDocument(table(), VERSION);
      made = { json: JSON.stringify(document), page: renderDocumentPage(document) };
    }
    return made;
  };
  return [
    defineOperation({
      id: "getDocument",
      method: "GET",
      path: "/openapi.json",
      tag: "Server",
      summary: "This API as an OpenAPI 3.1 document",
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
      summary: "The same as a page to read",
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
      summary: "The style of that page",
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
