import * as z from "zod";
import type { SettingInForce } from "../domain/operations/setting-in-force.ts";
import type { Keepsake } from "../engine/api/keepsake.ts";
import type { ScopedMemory } from "../engine/api/scoped-memory.ts";
import type { BodyQuota } from "./body-quota.ts";
import type { Lifecycle } from "./graceful-shutdown.ts";
import type { ApiKeys, Bearer, KeyScope } from "./keys/api-keys.ts";
import type { FailedKeyThrottle, KeyRateLimits } from "./middleware/rate-limits.ts";
import type { ProtectedResource } from "./oauth/protected-resource.ts";
import type { OpenAiProxy } from "./proxy/proxy.ts";
import type { RequestContext } from "./request-context.ts";
import { nameSchema } from "./schemas/fields.ts";

type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The services that handlers use. */
export interface ServerServices {
  readonly keepsake: Keepsake;
  readonly keys: ApiKeys;
  /** Slows down unknown keys. */
  readonly failedKeys: FailedKeyThrottle;
  /** Tracks work in progress, including work after a response. */
  readonly lifecycle: Lifecycle;
  /** Time limit of a request, in ms. */
  readonly requestMs: number;
  /** Absent parts are unlimited. */
  readonly rates: KeyRateLimits;
  /** Limits the bodies that are being read or forwarded. */
  readonly inFlight: BodyQuota;
  /** Gives all metrics as text; absent if metrics are off. */
  readonly metrics?: () => Promise<string>;
  /** The proxy for clients of OpenAI and Anthropic. */
  readonly proxy: OpenAiProxy;
  /** Accepts access tokens of OAuth; absent if OAuth is off. */
  readonly oauth?: ProtectedResource | undefined;
  /** Messages for the operator in addition to those of the memory, as they are now. */
  readonly notices: () => readonly string[];
  /** The settings of the server as they are in force; none if the program that serves has none. */
  readonly settings: readonly SettingInForce[];
}

/** An authorised and validated request, as a handler gets it. */
export interface OperationRequest<Path = unknown, Query = unknown, Body = unknown> {
  /** The path parameters, decoded. */
  readonly path: Path;
  /** The query parameters. */
  readonly query: Query;
  readonly body: Body;
  /** The sender; undefined if the operation needs no key. */
  readonly bearer: Bearer | undefined;
  readonly services: ServerServices;
  /** Fires when the client disconnects or the time limit is reached. */
  readonly signal: AbortSignal;
  /** For headers, streams and the response. */
  readonly exchange: RequestContext;
  /** Gives the memory of a user of the key's project. This is the only way: nothing else in a request chooses the project. */
  memoryOf(user: string): ScopedMemory;
  /** The agent of the user that the request names; undefined if it names none. */
  readonly agent?: string | undefined;
  /** Gives the key's project, for operations on all of its users. */
  project(): string;
}

/** A possible response with one status. */
export interface ResponseSpec {
  /** A short description. */
  readonly says: string;
  /** The schema of its JSON; absent if there is none. */
  readonly schema?: z.ZodType;
  /** Other media types, with a description of their content. */
  readonly others?: { readonly [mediaType: string]: string };
  /** Its own headers, by name, with a description. */
  readonly headers?: { readonly [name: string]: string };
}

/** One operation of the API: everything needed to serve and describe it. */
export interface Operation<Path = unknown, Query = unknown, Body = unknown> {
  /** Unique, in camelCase. Generated clients name their methods so. */
  readonly id: string;
  readonly method: HttpMethod;
  /** The path in OpenAPI's form: "/api/v1/memories/{user_id}/{id}". */
  readonly path: string;
  /** The heading in the documentation. */
  readonly tag: string;
  /** One line without a full stop. */
  readonly summary: string;
  readonly description?: string;
  /**
   * The scopes that the key needs, all of them. "any": any valid key. "none": no key. "optional": a valid key adds to the
   * response, and an unknown key is refused.
   */
  readonly scope: KeyScope | readonly KeyScope[] | "any" | "optional" | "none";
  /** Whether it accepts access tokens of OAuth beside keys, if OAuth is on. */
  readonly acceptsAccessTokens?: boolean;
  /** A string for each name in the path. */
  readonly parameters?: z.ZodType<Path>;
  /** The query: strings and numbers parsed from strings (`countTextSchema`), never null. */
  readonly query?: z.ZodType<Query>;
  /** The JSON body. */
  readonly body?: z.ZodType<Body>;
  /** Whether the body may be absent; then it is undefined. */
  readonly isBodyOptional?: boolean;
  /** Bodies that the handler reads from `exchange.req`, by media type, with a description. `body` is not read then. */
  readonly rawBody?: { readonly [mediaType: string]: { readonly says: string; readonly schema?: z.ZodType } };
  /** The most bytes of a body that is a file: it is read whole, and `body` is a `FileBody` in a type of `rawBody`. */
  readonly fileBytes?: number;
  /** Responses by status. */
  readonly answers: { readonly [status: number]: ResponseSpec };
  /** Problem statuses in addition to the derived ones, such as 404 or 409. */
  readonly problems?: readonly number[];
  /** The form of its problems: absent for RFC 9457, `anthropic` for that of Anthropic's API. */
  readonly problemForm?: "anthropic";
  /** Gives the user of a request whose path and body do not have `user_id`. Throws if it names none. */
  findUser?(call: OperationRequest): string;
  /** Whether it supports the header Idempotency-Key. */
  readonly acceptsIdempotencyKey?: boolean;
  /** Whether the time limit does not apply, because it streams or has its own limit. */
  readonly hasNoDeadline?: boolean;
  /** Whether it is left out of the document, such as files of the web page. */
  readonly isHidden?: boolean;
  handle(asked: OperationRequest<Path, Query, Body>): Promise<Response> | Response;
}

/** Gives the required scopes; none if any key or no key is needed. */
export function getRequiredScopes({ scope }: Pick<Operation, "scope">): readonly KeyScope[] {
  if (scope === "any" || scope === "optional" || scope === "none") return [];
  return typeof scope === "string" ? [scope] : scope;
}

/** Defines an operation. Types its handler by its schemas. */
export function defineOperation<Path = undefined, Query = undefined, Body = undefined>(
  one: Operation<Path, Query, Body>,
): Operation {
  return one as Operation;
}

/** Path parameters: the user. */
export const USER_PATH_PARAMETERS: z.ZodType<{ user_id: string }> = z.strictObject({ user_id: nameSchema });
export const ITEM_PATH_PARAMETERS: z.ZodType<{ user_id: string; id: string }> = z.strictObject({
  user_id: nameSchema,
  id: nameSchema,
});
