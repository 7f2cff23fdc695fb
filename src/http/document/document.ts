import * as z from "zod";
import { ERROR_CODES, type ErrorCode } from "../../errors.ts";
import { getRequiredScopes, type Operation, type ResponseSpec } from "../operation.ts";
import { withSchemaId } from "../shapes/named.ts";
import { OPERATION_LINKS } from "./links.ts";
import { getProblemStatuses, PROBLEM_DESCRIPTIONS } from "./problems.ts";
import { createSchemaRegistry, type JsonSchema, type SchemaRegistry } from "./schemas.ts";

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
