import * as z from "zod";

/** A JSON Schema, draft 2020-12, as OpenAPI 3.1 takes it. */
export type JsonSchema = { readonly [key: string]: unknown };

/** Collects the schemas that have names, so that the document tells each once. */
export interface SchemaRegistry {
  /** A schema as JSON Schema; what has a name in it is a reference. */
  toJsonSchema(schema: z.ZodType, side?: "input" | "output"): JsonSchema;
  /** All names that were referred to so far, in order. */
  readonly components: () => { readonly [name: string]: JsonSchema };
}

/** Where the document keeps a schema of this name. */
export function toSchemaReference(name: string): string {
  return `#/components/schemas/${name}`;
}

export function createSchemaRegistry(): SchemaRegistry {
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
