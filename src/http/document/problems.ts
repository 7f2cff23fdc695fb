import type { Operation } from "../operation.ts";

/** What each status of a problem means, for whoever reads the document. */
export const PROBLEM_DESCRIPTIONS: { readonly [status: number]: string } = {
  400: "The request is not right; `errors` names the fields.",
  401: "No key, or one that does not count here.",
  403: "The key may not do this, or the request comes from another origin or under another name.",
  404: "There is no such thing.",
  409: "This conflicts with what is there, or with what the Idempotency-Key was used for.",
  410: "It was done under this Idempotency-Key, and its answer has been erased since.",
  413: "Too much in one request.",
  415: "This is not JSON.",
  422: "This cannot be done.",
  429: "Too much at once. `Retry-After` says when to come again.",
  500: "A fault on this side. The server's own messages say more, under the request's id.",
  502: "The server behind this one failed.",
  503: "Not available now. `Retry-After` says when to come again.",
  504: "It took too long.",
};

/** The statuses with which an operation can be answered by a problem. */
export function getProblemStatuses(operation: Operation): number[] {
  const {
    scope,
    parameters,
    query,
    body,
    rawBody,
    isHidden,
    acceptsIdempotencyKey: takesKey,
    problems = [],
  } = operation;
  const statuses = new Set([403, 500, 503, ...problems]);
  if (parameters || query || body) statuses.add(400);
  if (body || rawBody) statuses.add(413).add(415);
  // For a key that is bound to a user, there are no others.
  if (scope !== "none" && (parameters || query || body)) statuses.add(404);
  if (scope !== "none") statuses.add(401).add(429);
  if (takesKey) statuses.add(409).add(410);
  if (isHidden) statuses.clear();
  return [...statuses].sort((one, other) => one - other);
}
