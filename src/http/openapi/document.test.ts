import { describe, expect, it } from "vitest";
import { API_OPERATIONS } from "../app.ts";
import { createApiDocument, OPERATION_LINKS } from "./document.ts";
import { renderDocumentPage } from "./page.ts";

const DOCUMENT = createApiDocument(API_OPERATIONS, "1.2.3");
const CALLS = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, call]) => ({ path, method, call })),
);

describe("the document", () => {
  it("has every operation once, with a unique id", () => {
    const shown = API_OPERATIONS.filter(({ isHidden }) => !isHidden);
    expect(CALLS).toHaveLength(shown.length);
    expect(new Set(API_OPERATIONS.map(({ id }) => id)).size).toBe(API_OPERATIONS.length);
  });

  it("names exactly the parameters of each path", () => {
    for (const { path, call } of CALLS) {
      const stated = ((call.parameters ?? []) as { name?: string; in?: string }[])
        .filter((one) => one.in === "path")
        .map(({ name }) => name);
      expect([path, stated]).toEqual([path, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)]);
    }
  });

  it("refuses . as a user when storing, and accepts it when forgetting", () => {
    const users = ["/message", "/forget"].map((path) => {
      const body = CALLS.find((one) => one.path === path && one.method === "post")?.call.requestBody;
      return [path, JSON.stringify(body).match(/"userId":\{[^}]*schemas\/(\w+)"/)?.[1]];
    });
    expect(users).toEqual([
      ["/message", "NewName"],
      ["/forget", "Name"],
    ]);
  });

  it("has no dangling references", () => {
    const references = [...JSON.stringify(DOCUMENT).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
      ([, at]) => at ?? "",
    );
    expect(references.length).toBeGreaterThan(50);
    const found = (place: string): unknown =>
      place
        .split("/")
        .reduce<unknown>((at, step) => (at as { [key: string]: unknown } | undefined)?.[step], DOCUMENT);
    expect(references.filter((place) => found(place) === undefined)).toEqual([]);
  });

  it("links existing responses to existing operations with valid parameters", () => {
    let links = 0;
    for (const [id, statuses] of Object.entries(OPERATION_LINKS)) {
      for (const [status, targets] of Object.entries(statuses)) {
        expect([id, CALLS.find(({ call }) => call.operationId === id)?.call.responses]).toEqual([
          id,
          expect.objectContaining({ [status]: expect.objectContaining({ links: expect.anything() }) }),
        ]);
        for (const [target, parameters] of Object.entries(targets)) {
          const taken = CALLS.find(({ call }) => call.operationId === target)?.call.parameters ?? [];
          const names = (taken as { name?: string }[]).map(({ name }) => name);
          expect([target, names]).toEqual([target, expect.arrayContaining(Object.keys(parameters))]);
          links += 1;
        }
      }
    }
    expect(links).toBeGreaterThan(20);
  });

  it("documents 401 and 403 for every call that needs a key", () => {
    for (const { call } of CALLS) {
      const isOpen = JSON.stringify(call.security) === "[]";
      expect([call.operationId, "401" in (call.responses as object)]).toEqual([
        call.operationId,
        !isOpen || call.operationId === "signIn",
      ]);
      expect(call.responses).toHaveProperty("403");
    }
  });
});

describe("the page", () => {
  const page = renderDocumentPage(DOCUMENT);

  it("contains every call and schema, and all its links work", () => {
    for (const { call } of CALLS) expect(page).toContain(`<article id="${call.operationId}">`);
    for (const name of Object.keys(DOCUMENT.components.schemas)) {
      expect(page).toContain(`<article id="shape-${name}">`);
    }
    expect(page).toContain('<dt id="problem-410">');
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id ?? "");
    expect(links.filter((id) => !page.includes(`id="${id}"`))).toEqual([]);
  });

  it("loads no external resources and runs no scripts", () => {
    expect(page).not.toMatch(/<script|\son\w+=|style=|(?:src|href)="https?:/i);
    const loaded = [...page.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, place]) => place);
    expect(new Set(loaded)).toEqual(new Set(["/icon.svg", "/docs.css", "/openapi.json", "/"]));
  });
});
