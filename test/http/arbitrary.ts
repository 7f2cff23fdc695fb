import fc from "fast-check";
import type { ApiDocument } from "../../src/http/openapi/document.ts";

type Schema = { readonly [key: string]: unknown };

const DEEPEST = 12;

/** Values that a JSON Schema of the document lets through, as far as it is used there. */
export function valuesOf(document: ApiDocument, schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  const {
    $ref,
    anyOf,
    enum: choices,
    type,
    pattern,
  } = schema as Schema & {
    $ref?: string;
    anyOf?: Schema[];
    enum?: unknown[];
    pattern?: string;
  };
  // A schema that contains itself is followed so far.
  if (depth > DEEPEST) return fc.constant({});
  const of = (inner: Schema): fc.Arbitrary<unknown> => valuesOf(document, inner, depth + 1);
  if ($ref !== undefined) return of(resolved(document, $ref));
  if (choices) return fc.constantFrom(...choices);
  if ("const" in schema) return fc.constant(schema.const);
  if (type === "object") return objects(document, schema, depth);
  if (anyOf) return fc.oneof(...anyOf.map(of));
  if (type === "array") {
    return fc.array(of((schema.items ?? {}) as Schema), {
      minLength: Number(schema.minItems ?? 0),
      maxLength: 4,
    });
  }
  if (type === "string") return texts(pattern);
  if (type === "integer" || type === "number") return numbers(schema);
  if (type === "boolean") return fc.boolean();
  if (type === "null") return fc.constant(null);
  return fc.jsonValue({ maxDepth: 2 });
}

function texts(pattern: string | undefined): fc.Arbitrary<string> {
  if (pattern === undefined) return fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" });
  // fast-check makes nothing of what a pattern looks ahead for: that is held against each text that the rest makes.
  const whole = new RegExp(pattern);
  const rest = new RegExp(pattern.replace(/^\^\(\?![^)]*\)/, "^"));
  return fc.stringMatching(rest, { size: "-1" }).filter((text) => whole.test(text));
}

function numbers({ type, minimum, maximum }: Schema): fc.Arbitrary<number> {
  const [min, max] = [Number(minimum ?? 0), Number(maximum ?? 1_000_000)];
  return type === "integer" ? fc.integer({ min, max }) : fc.double({ min, max, noNaN: true });
}

function objects(document: ApiDocument, schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const properties = (schema.properties ?? {}) as { readonly [name: string]: Schema };
  const required = (schema.required ?? []) as string[];
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, valuesOf(document, inner, depth + 1)]),
  );
  if (Object.keys(fields).length > 0) return fc.record(fields, { requiredKeys: required as never[] });
  const more = schema.additionalProperties;
  if (typeof more !== "object" || more === null) return fc.constant({});
  return fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), valuesOf(document, more as Schema, depth + 1), {
    maxKeys: 3,
  });
}

/** The same value, damaged: a field less, a field more, another type somewhere, or something else altogether. */
export function damaged(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const anything = fc.jsonValue({ maxDepth: 3 });
  return fc.oneof(
    anything,
    fc.tuple(values, fc.nat(), anything).map(([value, at, other]) => {
      if (typeof value !== "object" || value === null) return other;
      const names = Object.keys(value);
      const name = names[at % Math.max(1, names.length)] ?? "unknown";
      return { ...value, [name]: other };
    }),
    fc.tuple(values, fc.nat()).map(([value, at]) => {
      const names = Object.keys(value ?? {});
      return Object.fromEntries(
        Object.entries(value ?? {}).filter(([name]) => name !== names[at % Math.max(1, names.length)]),
      );
    }),
    fc.tuple(values, fc.string({ minLength: 1 }), anything).map(([value, name, other]) => ({
      ...(value as object),
      [name]: other,
    })),
  );
}

export function resolved(document: ApiDocument, reference: string): Schema {
  return reference
    .split("/")
    .slice(1)
    .reduce<unknown>((at, step) => (at as Schema)[step], document) as Schema;
}
