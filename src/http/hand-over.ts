import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { NodeBindings } from "./app-types.ts";

/**
 * An answer whose body comes from another server is written here, head and body; all others are left to the HTTP library,
 * which would read such a body through a stream of its own: a third of a millisecond later.
 */
export function passThroughResponse(response: Response, { outgoing, relay }: NodeBindings): Response {
  if (!relay || !outgoing || response.body !== null) return response;
  if (outgoing.destroyed) return RESPONSE_ALREADY_SENT;
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  relay(outgoing);
  return RESPONSE_ALREADY_SENT;
}
