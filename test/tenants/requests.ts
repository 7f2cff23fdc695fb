import { randomUUID } from "node:crypto";
import { API_OPERATIONS } from "../../src/http/app.ts";
import type { Operation } from "../../src/http/operation.ts";
import { type OperationRow, ROWS } from "./rows.ts";
import type { TenantRequest, TenantResponse, TenantUser } from "./world.ts";

/** What the matrix knows of an operation. Throws if it has no row. */
export function rowOf(operation: Operation): OperationRow {
  const row = ROWS[operation.id];
  if (!row) throw new Error(`the matrix has no row for ${operation.id}`);
  return row;
}

/** The operations that have a row: a missing row fails one test, which says so, and no other. */
export const COVERED: readonly Operation[] = API_OPERATIONS.filter(({ id }) => id in ROWS);
/** Those among them that a key opens. */
export const CLOSED: readonly Operation[] = COVERED.filter(({ id }) => ROWS[id]?.needs !== "none");

export const bearer = (key: string): { readonly authorization: string } => ({
  authorization: `Bearer ${key}`,
});

/** A word that one person alone says. */
export const createCanary = (): string => `zqx${randomUUID().replaceAll("-", "").slice(0, 16)}`;

/** A request that the row describes, for one person, with an id that may be somebody else's. */
export function requestFor(
  operation: Operation,
  of: TenantUser,
  id: string = idOf(operation, of),
): TenantRequest {
  const row = rowOf(operation);
  const query = new URLSearchParams(row.query?.(of) ?? {}).toString();
  const names: { readonly [name: string]: string } = {
    user_id: of.user,
    model: "echo",
    ...(row.id === "item" ? { conversation_id: of.conversation } : {}),
  };
  const path = operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(names[name] ?? id),
  );
  const body = row.body?.(of);
  return {
    method: operation.method,
    path: query === "" ? path : `${path}?${query}`,
    ...(body === undefined ? {} : { body }),
    ...(row.headers ? { headers: row.headers(of) } : {}),
  };
}

/** What `{id}` in the path of an operation names, of one person; empty if the path has none. */
export function idOf(operation: Operation, of: TenantUser): string {
  const kind = rowOf(operation).id;
  return kind === undefined ? "" : of[kind];
}

/**
 * What nobody else may be shown of somebody. Names that people chose for their sessions are left out: two may choose the
 * same, and here they do.
 */
export const marksOf = (one: TenantUser): string[] => [
  one.canary,
  ...[
    one.memory,
    one.other,
    one.erased,
    one.message,
    one.attachment,
    one.recall,
    one.erasure,
    one.grant,
    one.received,
    one.group,
    one.key,
    one.conversation,
    one.item,
    one.response,
  ].filter((id) => id !== ""),
];

/** An answer without what every answer has of its own. */
export const alike = ({ status, text, headers }: TenantResponse): string =>
  `${status} ${text.replace(/"request_id":"[^"]*"/, "")} ${headers}`;
