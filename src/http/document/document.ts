import * as z from "zod";
import { ERROR_CODES, type ErrorCode } from "../../errors.ts";
import { type AnswerForm, type Operation, scopesOf } from "../operation.ts";
import { named } from "../shapes/named.ts";
import { LINKS } from "./links.ts";
import { PROBLEMS, problemsOf } from "./problems.ts";
import { type JsonSchema, type Shapes, shapes } from "./schemas.ts";

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

const PROBLEM = named(
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

const REQUEST_ID = { $ref: "#/components/headers/RequestId" };

/** Describes the operations of a table: nothing is served that is not in it, for both come from the same. */
export function apiDocument(operations: readonly Operation[], version: string): ApiDocument {
  const known = shapes();
  const shown = operations.filter(({ isHidden }) => !isHidden);
  const paths: { [path: string]: { [method: string]: JsonSchema } } = {};
  for (const operation of shown) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: described(operation, known) };
  }
  const problem = known.of(PROBLEM);
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
      headers: HEADERS,
      responses: problemResponses(shown, problem),
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

const HEADERS: JsonSchema = {
  RequestId: {
    description: "The request's id: the one that came in `x-request-id`, or a new one.",
    schema: { type: "string" },
  },
  RetryAfter: { description: "When to come again, in seconds.", schema: { type: "integer", minimum: 0 } },
};

function described(operation: Operation, known: Shapes): JsonSchema {
  const { id, tag, summary, description } = operation;
  const parameters = parametersOf(operation, known);
  const body = bodyOf(operation, known);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...securityOf(operation),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body ? { requestBody: body } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.answers).map(([status, form]) => [
          status,
          { ...answerOf(form, known), ...linksOf(operation, status) },
        ]),
      ),
      ...Object.fromEntries(
        problemsOf(operation)
          .filter((status) => !(status in operation.answers))
          .map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
      ),
    },
  };
}

/** Where a key is optional, either of two ways in will do: with one, and with none. */
function securityOf(operation: Operation): JsonSchema {
  if (operation.scope === "none") return { security: [] };
  const optional = operation.scope === "optional" ? { security: [{ key: [] }, {}] } : {};
  return { ...optional, "x-keepsake-scopes": scopesOf(operation) };
}

function parametersOf({ parameters, query, takesKey }: Operation, known: Shapes): JsonSchema[] {
  return [
    ...(parameters ? fieldsOf(known.of(parameters, "output"), "path") : []),
    ...(query ? fieldsOf(known.of(query, "output"), "query") : []),
    ...(takesKey ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ];
}

/** The fields of an object as parameters. */
function fieldsOf(schema: JsonSchema, place: "path" | "query"): JsonSchema[] {
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

function bodyOf({ body, rawBody, isBodyOptional }: Operation, known: Shapes): JsonSchema | undefined {
  if (rawBody) {
    const content = Object.entries(rawBody).map(([type, { says, schema }]) => [
      type,
      { schema: schema ? known.of(schema) : { type: "string", description: says } },
    ]);
    return { required: !isBodyOptional, content: Object.fromEntries(content) };
  }
  if (!body) return undefined;
  return { required: !isBodyOptional, content: { "application/json": { schema: known.of(body) } } };
}

function answerOf({ says, schema, others = {}, headers = {} }: AnswerForm, known: Shapes): JsonSchema {
  const content = {
    ...(schema ? { "application/json": { schema: known.of(schema) } } : {}),
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
    headers: { "x-request-id": REQUEST_ID, ...Object.fromEntries(own) },
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

/** The links of an answer. */
function linksOf({ id }: Operation, status: string): JsonSchema {
  const targets = Object.entries(LINKS[id]?.[status] ?? {});
  if (targets.length === 0) return {};
  return {
    links: Object.fromEntries(
      targets.map(([operationId, parameters]) => [operationId, { operationId, parameters }]),
    ),
  };
}

function problemResponses(operations: readonly Operation[], schema: JsonSchema): JsonSchema {
  const statuses = [...new Set(operations.flatMap(problemsOf))].sort((one, other) => one - other);
  return Object.fromEntries(
    statuses.map((status) => [
      `Problem${status}`,
      {
        description: PROBLEMS[status] ?? "Something is wrong.",
        headers: {
          "x-request-id": REQUEST_ID,
          ...(status === 429 || status === 503
            ? { "Retry-After": { $ref: "#/components/headers/RetryAfter" } }
            : {}),
        },
        content: { "application/problem+json": { schema } },
      },
    ]),
  );
}
