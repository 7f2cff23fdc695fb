import * as z from "zod";
import { ERROR_CODES, type ErrorCode } from "../../errors.ts";
import { AGENT_HEADER, AGENT_PATTERN } from "../middleware/authentication.ts";
import { getRequiredScopes, type Operation, type ResponseSpec } from "../operation.ts";
import { withSchemaId } from "../schemas/fields.ts";

/** An OpenAPI 3.1 document, as far as this code reads it. */
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
      detail: z.string().describe("What happened and what to do; never a user's text"),
      code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
      errors: z.array(z.object({ field: z.string(), problem: z.string() })).optional(),
      import_id: z
        .string()
        .describe("The import that was stored in part; another one with this `import_id` goes on with it")
        .optional(),
      revision: z.int().describe("What `undo` takes, to take back that part of the import").optional(),
      request_id: z.string(),
      error: z
        .looseObject({ message: z.string() })
        .describe("Under `/v1`: the same in the form of OpenAI's API")
        .optional(),
    })
    .describe("A problem document (RFC 9457)."),
);

/** The form of Anthropic's errors. It has no name: it occurs only in the responses of Anthropic's operations. */
const ANTHROPIC_PROBLEM_SCHEMA = z
  .object({
    type: z.literal("error"),
    error: z.object({
      type: z.string(),
      message: z.string().describe("What happened and what to do; never a user's text"),
    }),
    request_id: z.string(),
  })
  .describe("An error in the form of Anthropic's API.");

const REQUEST_ID_HEADER = { $ref: "#/components/headers/RequestId" };

/** Creates the OpenAPI document of a table of operations. The server uses the same table. */
export function createApiDocument(operations: readonly Operation[], version: string): ApiDocument {
  const known = createSchemaRegistry();
  const shown = operations.filter(({ isHidden }) => !isHidden);
  const paths: { [path: string]: { [method: string]: JsonSchema } } = {};
  for (const operation of shown) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(operation, known) };
  }
  const isAnthropics = ({ problemForm }: Operation): boolean => problemForm === "anthropic";
  const problems = {
    ...toProblemResponses(
      shown.filter((one) => !isAnthropics(one)),
      { prefix: "Problem", type: "application/problem+json", schema: known.toJsonSchema(PROBLEM_SCHEMA) },
    ),
    ...toProblemResponses(shown.filter(isAnthropics), {
      prefix: "AnthropicProblem",
      type: "application/json",
      schema: known.toJsonSchema(ANTHROPIC_PROBLEM_SCHEMA),
    }),
  };
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
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY, Agent: AGENT },
      headers: DOCUMENT_HEADERS,
      responses: problems,
    },
  };
}

const SECURITY: JsonSchema = {
  key: {
    type: "http",
    scheme: "bearer",
    description: "A key belongs to a project and gives access only to users of that project.",
  },
};

const IDEMPOTENCY_KEY: JsonSchema = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Any string, such as a UUID. The same key with the same request within 24 hours changes nothing and gives the same response.",
  schema: { type: "string", minLength: 1, maxLength: 512, pattern: "^[ -~]+$" },
};

const AGENT: JsonSchema = {
  name: AGENT_HEADER,
  in: "header",
  required: false,
  description:
    "The user's agent: what it stores gets its label, and it reads only what has that label, unless agents share (`KEEPSAKE_AGENTS`).",
  schema: { type: "string", minLength: 1, maxLength: 128, pattern: AGENT_PATTERN },
};

const DOCUMENT_HEADERS: JsonSchema = {
  RequestId: {
    description: "The request id: that of the request's `x-request-id`, or a new one.",
    schema: { type: "string" },
  },
  RetryAfter: { description: "When to try again, in seconds.", schema: { type: "integer", minimum: 0 } },
};

function describeOperation(operation: Operation, known: SchemaRegistry): JsonSchema {
  const { id, tag, summary, description } = operation;
  const parameters = toParameters(operation, known);
  const body = toRequestBody(operation, known);
  const prefix = operation.problemForm === "anthropic" ? "AnthropicProblem" : "Problem";
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
          .map((status) => [status, { $ref: `#/components/responses/${prefix}${status}` }]),
      ),
    },
  };
}

/** Gives the security of an operation. An optional key means either a key or none. */
function toSecurity(operation: Operation): JsonSchema {
  if (operation.scope === "none") return { security: [] };
  const optional = operation.scope === "optional" ? { security: [{ key: [] }, {}] } : {};
  return { ...optional, "x-keepsake-scopes": getRequiredScopes(operation) };
}

function toParameters(operation: Operation, known: SchemaRegistry): JsonSchema[] {
  const { parameters, query, acceptsIdempotencyKey: takesKey } = operation;
  return [
    ...(parameters ? toFieldParameters(known.toJsonSchema(parameters, "output"), "path") : []),
    ...(query ? toFieldParameters(known.toJsonSchema(query, "output"), "query") : []),
    ...(namesUser(operation, known) ? [{ $ref: "#/components/parameters/Agent" }] : []),
    ...(takesKey ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ];
}

/** Whether an operation is about one user, by its path or its body. */
function namesUser({ path, body }: Operation, known: SchemaRegistry): boolean {
  if (path.includes("{user_id}")) return true;
  const { properties = {} } = (body ? known.toJsonSchema(body) : {}) as { properties?: JsonSchema };
  return "user_id" in properties || "userId" in properties;
}

/** Turns the fields of an object into parameters. */
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
        // A stream is a sequence of events, for which JSON Schema has no type.
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

/** Gives the links of a response. */
function toLinks({ id }: Operation, status: string): JsonSchema {
  const targets = Object.entries(OPERATION_LINKS[id]?.[status] ?? {});
  if (targets.length === 0) return {};
  return {
    links: Object.fromEntries(
      targets.map(([operationId, parameters]) => [operationId, { operationId, parameters }]),
    ),
  };
}

function toProblemResponses(
  operations: readonly Operation[],
  { prefix, type, schema }: { readonly prefix: string; readonly type: string; readonly schema: JsonSchema },
): JsonSchema {
  const statuses = [...new Set(operations.flatMap(getProblemStatuses))].sort((one, other) => one - other);
  return Object.fromEntries(
    statuses.map((status) => [
      `${prefix}${status}`,
      {
        description: PROBLEM_DESCRIPTIONS[status] ?? "Error.",
        headers: {
          "x-request-id": REQUEST_ID_HEADER,
          ...(status === 429 || status === 503
            ? { "Retry-After": { $ref: "#/components/headers/RetryAfter" } }
            : {}),
        },
        content: { [type]: { schema } },
      },
    ]),
  );
}

/** A JSON Schema, draft 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = { readonly [key: string]: unknown };

/** Collects named schemas, so that the document contains each once. */
interface SchemaRegistry {
  /** Gives a schema as JSON Schema, with references to named schemas. */
  toJsonSchema(schema: z.ZodType, side?: "input" | "output"): JsonSchema;
  /** Gives all referenced schemas by name, in order. */
  readonly components: () => { readonly [name: string]: JsonSchema };
}

/** Gives the reference of a named schema. */
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

/** Removes the bounds of safe integers, which Zod adds to each integer. */
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

/** Descriptions of problem statuses. */
const PROBLEM_DESCRIPTIONS: { readonly [status: number]: string } = {
  400: "Invalid request; `errors` names the fields.",
  401: "No key, or an invalid one.",
  403: "The key lacks permission, or the origin or host name is not allowed.",
  404: "Not found.",
  409: "Conflict with the current state, or with an earlier use of the Idempotency-Key.",
  410: "The request with this Idempotency-Key was executed, and its response has been erased since.",
  413: "The request is too large.",
  415: "Unsupported content type.",
  422: "Not supported.",
  429: "Too many requests. `Retry-After` says when to try again.",
  500: "Internal error. The server's log has details under the request id.",
  502: "The upstream server failed.",
  503: "Temporarily unavailable. `Retry-After` says when to try again.",
  504: "Timeout.",
};

/** Gives the problem statuses of an operation. */
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
  // A key for one user gets 404 for all others.
  if (scope !== "none" && (parameters || query || body)) statuses.add(404);
  if (scope !== "none") statuses.add(401).add(429);
  if (takesKey) statuses.add(409).add(410);
  if (isHidden) statuses.clear();
  return [...statuses].sort((one, other) => one - other);
}

/** Parameters of a linked operation, each with its source in the request or the response. */
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
 * OpenAPI links, by operation and status, for clients and tests that follow them. Tests that follow links
 * expect that exactly the addressed resource disappears. So there are none to `removeMemory`, whose memories stay visible, and
 * none to `eraseUser`, which erases more than its path names.
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
  buildContext: {
    200: { explainRecall: { ...USER_OF_BODY, id: "$response.body#/recall_id" } },
  },
  searchMemories: { 200: { explainRecall: { ...USER_OF_PATH, ...ID_OF_RESPONSE } } },
  erase: { 201: { getErasure: CREATED_ITEM } },
  listErasures: { 200: { getErasure: { ...FIRST_ITEM, user_id: "$response.body#/items/0/user" } } },
  createKey: { 201: { rotateKey: ID_OF_RESPONSE, revokeKey: ID_OF_RESPONSE } },
};
