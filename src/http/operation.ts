import * as z from "zod";
import type { Keepsake, ScopedMemory } from "../engine/api.ts";
import type { BodyQuota } from "./body-quota.ts";
import type { Lifecycle } from "./graceful-shutdown.ts";
import type { ApiKeys, Bearer, KeyScope } from "./keys/api-keys.ts";
import type { FailedKeyThrottle, KeyRateLimits } from "./middleware/rate-limits.ts";
import type { OpenAiProxy } from "./proxy/proxy.ts";
import type { RequestContext } from "./request-context.ts";
import { nameSchema } from "./schemas/fields.ts";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What is served: the parts that handlers work with. */
export interface ServerServices {
  readonly keepsake: Keepsake;
  readonly keys: ApiKeys;
  /** Slows down keys that are not known. */
  readonly failedKeys: FailedKeyThrottle;
  /** What is at work; `after` is for work that goes on after its answer. */
  readonly lifecycle: Lifecycle;
  /** How long a request may take, in ms. */
  readonly requestMs: number;
  /** Parts are absent where everybody may take as much as they like. */
  readonly rates: KeyRateLimits;
  /** Bodies that are being read or passed on. */
  readonly inFlight: BodyQuota;
  /** All metrics as text; absent where nobody may read them. */
  readonly metrics?: () => Promise<string>;
  /** OpenAI's protocol, with a memory. */
  readonly proxy: OpenAiProxy;
}

/** A request that was let in and is well-formed, as a handler gets it. */
export interface OperationRequest<Path = unknown, Query = unknown, Body = unknown> {
  /** The parameters in the path, decoded. */
  readonly path: Path;
  /** The parameters behind the "?". */
  readonly query: Query;
  readonly body: Body;
  /** Whose key it is; undefined where none is needed. */
  readonly bearer: Bearer | undefined;
  readonly services: ServerServices;
  /** Fires when the client has gone or the time is up. */
  readonly signal: AbortSignal;
  /** For headers, streams, and the answer. */
  readonly exchange: RequestContext;
  /** The memory of a user of the key's project. The only way to it: nothing else in a request chooses the project. */
  memoryOf(user: string): ScopedMemory;
  /** The key's project, for what is about all of its users. */
  project(): string;
}

/** What may come back under one status. */
export interface ResponseSpec {
  /** In a few words. */
  readonly says: string;
  /** Of the JSON in it; absent where there is none. */
  readonly schema?: z.ZodType;
  /** Other media types that it may have, beside JSON, and what they hold. */
  readonly others?: { readonly [mediaType: string]: string };
  /** Headers of its own, by name, and what they say. */
  readonly headers?: { readonly [name: string]: string };
}

/** One call of the API: all that is needed to serve it and to describe it. */
export interface Operation<Path = unknown, Query = unknown, Body = unknown> {
  /** Unique, in camelCase: clients that are generated call their methods so. */
  readonly id: string;
  readonly method: HttpMethod;
  /** As OpenAPI writes it: "/api/v1/memories/{user_id}/{id}". */
  readonly path: string;
  /** The heading it is listed under. */
  readonly tag: string;
  /** One line without a full stop. */
  readonly summary: string;
  readonly description?: string;
  /**
   * What the key must be allowed to do, all of it where there are several: "any" takes every valid key, "none" needs no key, and
   * "optional" neither: with a valid key the answer says more, and an unknown one is refused.
   */
  readonly scope: KeyScope | readonly KeyScope[] | "any" | "optional" | "none";
  /** One text for each name in the path. */
  readonly parameters?: z.ZodType<Path>;
  /** Only what a query can say: texts, numbers from texts (`countText`), none of them null. */
  readonly query?: z.ZodType<Query>;
  /** The JSON body. */
  readonly body?: z.ZodType<Body>;
  /** Whether the body may be left out; then it is undefined. */
  readonly isBodyOptional?: boolean;
  /** Bodies that the handler reads itself from `exchange.req`, by media type, and what they hold. `body` is not read then. */
  readonly rawBody?: { readonly [mediaType: string]: { readonly says: string; readonly schema?: z.ZodType } };
  /** By status. */
  readonly answers: { readonly [status: number]: ResponseSpec };
  /** Statuses of problems beside those that follow from the rest: 404, 409. */
  readonly problems?: readonly number[];
  /** Whether it honours the header Idempotency-Key. */
  readonly acceptsIdempotencyKey?: boolean;
  /** Whether the time for a request does not count: it streams in or out, or has a deadline of its own. */
  readonly hasNoDeadline?: boolean;
  /** Left out of the document: the page's own files. */
  readonly isHidden?: boolean;
  handle(asked: OperationRequest<Path, Query, Body>): Promise<Response> | Response;
}

/** The scopes that a key must have; none, where any key will do, or no key. */
export function getRequiredScopes({ scope }: Pick<Operation, "scope">): readonly KeyScope[] {
  if (scope === "any" || scope === "optional" || scope === "none") return [];
  return typeof scope === "string" ? [scope] : scope;
}

/** Checks a handler against its schemas, and gives an operation for the table. */
export function defineOperation<Path = undefined, Query = undefined, Body = undefined>(
  one: Operation<Path, Query, Body>,
): Operation {
  return one as Operation;
}

/** The parameters of paths. */
export const USER_PATH_PARAMETERS: z.ZodType<{ user_id: string }> = z.strictObject({ user_id: nameSchema });
export const ITEM_PATH_PARAMETERS: z.ZodType<{ user_id: string; id: string }> = z.strictObject({
  user_id: nameSchema,
  id: nameSchema,
});
