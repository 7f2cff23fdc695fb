import * as z from "zod";
import { ERROR_CODES, type ErrorCode } from "../../errors.ts";
import { getRequiredScopes, type Operation, type ResponseSpec } from "../operation.ts";
import { withSchemaId } from "../schemas/fields.ts";

/** An OpenAPI 3.1 document, as far as we look into it ourselves. */
export interface ApiDocument {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: { readonly [path: string]: { readonly [method: string]: JsonSchema } };
  readonly components: {
    readonly schemas: { readonly [name: string]: JsonSchema };
    readonly [kind: string]: JsonSchema;
  };
  readonly [field: string]: unknown;
}

const PROBLEM_SCHEMA = withSchemaId(
  "Problem",
  z
    .object({
      type: z.string(),
      title: z.string(),
      status: z.int(),
      detail: z.string().describe("What happened, and what to do; never what a user said"),
      code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
      errors: z.array(z.object({ field: z.string(), problem: z.string() })).optional(),
      request_id: z.string(),
      error: z
        .looseObject({ message: z.string() })
        .describe("Under `/v1`: the same as OpenAI's clients read it")
        .optional(),
    })
    .describe("A problem document (RFC 9457)."),
);

const REQUEST_ID_HEADER = { $ref: "#/components/headers/RequestId" };

/** Describes the operations of a table: nothing is served that is not in it, for both come from the same. */
export function createApiDocument(operations: readonly Operation[], version: string): ApiDocument {
  const known = createSchemaRegistry();
  const shown = operations.filter(({ isHidden }) => !isHidden);
  const paths: { [path: string]: { [method: string]: JsonSchema } } = {};
  for (const operation of shown) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(operation, known) };
  }
  const problem = known.toJsonSchema(PROBLEM_SCHEMA);
  return {
    openapi: "3.1.0",
    info: {
      title: "Keepsake",
      version,
      description:
        "Long-term memory for programs that talk to language models. Times are ISO 8601 with a zone.",
      license: { name: "MIT", identifier: "MIT" },
    } as ApiDocument["info"],
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    tags: [...new Set(shown.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: known.components(),
      securitySchemes: SECURITY,
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      headers: DOCUMENT_HEADERS,
      responses: toProblemResponses(shown, problem),
    },
  };
}

const SECURITY: JsonSchema = {
  key: {
    type: "http",
    scheme: "bearer",
    description: "A key belongs to a project; a user id never reaches outside of it.",
  },
};

const IDEMPOTENCY_KEY: JsonSchema = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "The same key and the same request again within 24 hours change nothing, and give the same answer. A name of one's own choice, such as a UUID.",
  schema: { type: "string", minLength: 1, maxLength: 512, pattern: "^[ -~]+$" },
};

const DOCUMENT_HEADERS: JsonSchema = {
  RequestId: {
    description: "The request's id: the one that came in `x-request-id`, or a new one.",
    schema: { type: "string" },
  },
  RetryAfter: { description: "When to come again, in seconds.", schema: { type: "integer", minimum: 0 } },
};

function describeOperation(operation: Operation, known: SchemaRegistry): JsonSchema {
  const { id, tag, summary, description } = operation;
  const parameters = toParameters(operation, known);
  const body = toRequestBody(operation, known);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...toSecurity(operation),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body ? { requestBody: body } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.answers).map(([status, form]) => [
          status,
          { ...toResponse(form, known), ...toLinks(operation, status) },
        ]),
      ),
      ...Object.fromEntries(
        getProblemStatuses(operation)
          .filter((status) => !(status in operation.answers))
          .map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
      ),
    },
  };
}

/** Where a key is optional, either of two ways in will do: with one, and with none. */
function toSecurity(operation: Operation): JsonSchema {
  if (operation.scope === "none") return { security: [] };
  const optional = operation.scope === "optional" ? { security: [{ key: [] }, {}] } : {};
  return { ...optional, "x-keepsake-scopes": getRequiredScopes(operation) };
}

function toParameters(
  { parameters, query, acceptsIdempotencyKey: takesKey }: Operation,
  known: SchemaRegistry,
): JsonSchema[] {
  return [
    ...(parameters ? toFieldParameters(known.toJsonSchema(parameters, "output"), "path") : []),
    ...(query ? toFieldParameters(known.toJsonSchema(query, "output"), "query") : []),
    ...(takesKey ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ];
}

/** The fields of an object as parameters. */
function toFieldParameters(schema: JsonSchema, place: "path" | "query"): JsonSchema[] {
  const { properties = {}, required = [] } = schema as {
    properties?: { [name: string]: JsonSchema };
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...held }]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: held,
  }));
}

function toRequestBody(
  { body, rawBody, isBodyOptional }: Operation,
  known: SchemaRegistry,
): JsonSchema | undefined {
  if (rawBody) {
    const content = Object.entries(rawBody).map(([type, { says, schema }]) => [
      type,
      { schema: schema ? known.toJsonSchema(schema) : { type: "string", description: says } },
    ]);
    return { required: !isBodyOptional, content: Object.fromEntries(content) };
  }
  if (!body) return undefined;
  return { required: !isBodyOptional, content: { "application/json": { schema: known.toJsonSchema(body) } } };
}

function toResponse(
  { says, schema, others = {}, headers = {} }: ResponseSpec,
  known: SchemaRegistry,
): JsonSchema {
  const content = {
    ...(schema ? { "application/json": { schema: known.toJsonSchema(schema) } } : {}),
    ...Object.fromEntries(
      Object.entries(others).map(([type, holds]) => [
        type,
        // A stream is a sequence of events: no one type of JSON Schema stands for it.
        { schema: { ...(type === "text/event-stream" ? {} : { type: "string" }), description: holds } },
      ]),
    ),
  };
  const own = Object.entries(headers).map(([name, holds]) => [
    name,
    { description: holds, schema: { type: "string" } },
  ]);
  return {
    description: says,
    headers: { "x-request-id": REQUEST_ID_HEADER, ...Object.fromEntries(own) },
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

/** The links of an answer. */
function toLinks({ id }: Operation, status: string): JsonSchema {
  const targets = Object.entries(OPERATION_LINKS[id]?.[status] ?? {});
  if (targets.length === 0) return {};
  return {
    links: Object.fromEntries(
      targets.map(([operationId, parameters]) => [operationId, { operationId, parameters }]),
    ),
  };
}

function toProblemResponses(operations: readonly Operation[], schema: JsonSchema): JsonSchema {
  const statuses = [...new Set(operations.flatMap(getProblemStatuses))].sort((one, other) => one - other);
  return Object.fromEntries(
    statuses.map((status) => [
      `Problem${status}`,
      {
        description: PROBLEM_DESCRIPTIONS[status] ?? "Something is wrong.",
        headers: {
          "x-request-id": REQUEST_ID_HEADER,
          ...(status === 429 || status === 503
            ? { "Retry-After": { $ref: "#/components/headers/RetryAfter" } }
            : {}),
        },
        content: { "application/problem+json": { schema } },
      },
    ]),
  );
}

/** A JSON Schema, draft 2020-12, as OpenAPI 3.1 takes it. */
export type JsonSchema = { readonly [key: string]: unknown };

/** Collects the schemas that have names, so that the document tells each once. */
interface SchemaRegistry {
  /** A schema as JSON Schema; what has a name in it is a reference. */
  toJsonSchema(schema: z.ZodType, side?: "input" | "output"): JsonSchema;
  /** All names that were referred to so far, in order. */
  readonly components: () => { readonly [name: string]: JsonSchema };
}

/** Where the document keeps a schema of this name. */
function toSchemaReference(name: string): string {
  return `#/components/schemas/${name}`;
}

function createSchemaRegistry(): SchemaRegistry {
  const kept = new Map<string, JsonSchema>();
  return {
    toJsonSchema(schema, side = "input") {
      const {
        $schema: _version,
        $defs,
        ...rest
      } = rewriteReferences(
        z.toJSONSchema(schema, {
          io: side,
          unrepresentable: "any",
          override: dropIntegerBounds,
        }) as JsonSchema,
      );
      for (const [name, held] of Object.entries(($defs ?? {}) as { [name: string]: JsonSchema })) {
        kept.set(name, dropId(held));
      }
      const { id, ...body } = rest;
      if (typeof id !== "string") return body;
      kept.set(id, body);
      return { $ref: toSchemaReference(id) };
    },
    components: () => Object.fromEntries([...kept].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
}

/** Zod writes the bounds of safe integers beside each integer: true, and noise. */
function dropIntegerBounds({
  jsonSchema,
}: {
  jsonSchema: { type?: unknown; maximum?: unknown; minimum?: unknown };
}): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}

function rewriteReferences(schema: JsonSchema): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema).replaceAll('"#/$defs/', `"${toSchemaReference("")}`),
  ) as JsonSchema;
}

function dropId({ id: _name, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** What each status of a problem means, for whoever reads the document. */
const PROBLEM_DESCRIPTIONS: { readonly [status: number]: string } = {
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
function getProblemStatuses(operation: Operation): number[] {
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

/** Parameters of an operation, each with the place that holds it: in the request, or in the answer. */
interface LinkParameters {
  readonly [parameter: string]: string;
}

const USER_OF_BODY = { user_id: "$request.body#/user_id" };
const USER_OF_PATH = { user_id: "$request.path.user_id" };
const ID_OF_RESPONSE = { id: "$response.body#/id" };
const FIRST_ITEM = { id: "$response.body#/items/0/id" };
const NEXT_PAGE = { cursor: "$response.body#/cursor" };

const CREATED_ITEM = { ...USER_OF_BODY, ...ID_OF_RESPONSE };
const LISTED_ITEM = { user_id: "$response.body#/items/0/user_id", ...FIRST_ITEM };

/**
 * Where an answer leads to, by operation and status: OpenAPI's links, for clients and tests that go from call to call.
 * Not to `removeMemory`, a bin, in which things can still be seen, and not to `eraseUser`, which takes more than its address
 * names: tests that follow links take it that exactly what is addressed goes.
 */
export const OPERATION_LINKS: {
  readonly [operation: string]: {
    readonly [status: string]: { readonly [target: string]: LinkParameters };
  };
} = {
  addMemory: {
    201: {
      getMemory: CREATED_ITEM,
      getMemoryHistory: CREATED_ITEM,
      changeMemory: CREATED_ITEM,
      listMemories: USER_OF_BODY,
      searchMemories: USER_OF_BODY,
      getProfile: USER_OF_BODY,
      getStats: USER_OF_BODY,
      exportUser: USER_OF_BODY,
    },
  },
  listMemories: {
    200: {
      getMemory: LISTED_ITEM,
      getMemoryHistory: LISTED_ITEM,
      changeMemory: LISTED_ITEM,
      listMemories: { ...USER_OF_PATH, ...NEXT_PAGE },
    },
  },
  addMessages: {
    201: { listSessions: USER_OF_BODY, getHistory: USER_OF_BODY, listMemories: USER_OF_BODY },
  },
  listSessions: {
    200: {
      getSession: { ...USER_OF_PATH, ...FIRST_ITEM },
      eraseSession: { ...USER_OF_PATH, ...FIRST_ITEM },
      listSessions: { ...USER_OF_PATH, ...NEXT_PAGE },
    },
  },
  searchMemories: { 200: { explainRecall: { ...USER_OF_PATH, ...ID_OF_RESPONSE } } },
  erase: { 201: { getErasure: CREATED_ITEM } },
  listErasures: { 200: { getErasure: { ...FIRST_ITEM, user_id: "$response.body#/items/0/user" } } },
  createKey: { 201: { rotateKey: ID_OF_RESPONSE, revokeKey: ID_OF_RESPONSE } },
};
