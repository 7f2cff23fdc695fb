import { isJsonObject } from "./json.ts";

type ShapeSchema = { readonly [key: string]: unknown };

/**
 * A JSON Schema in words, for servers that do not take it as such. It is written like a type, not as the schema itself:
 * small models answer a schema with the schema.
 */
export function describeShape(schema: ShapeSchema): string {
  return (
    "Answer with one JSON object of this form and nothing else: no words before or after it, no code fence.\n" +
    describeType(schema, 0)
  );
}

function describeType(schema: ShapeSchema, depth: number): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (Array.isArray(schema.anyOf)) {
    return schema.anyOf.map((one) => describeType(isJsonObject(one) ? one : {}, depth)).join(" | ");
  }
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => describeType({ ...schema, type }, depth)).join(" | ");
  }
  if (schema.type === "array") {
    return `[${describeType(isJsonObject(schema.items) ? schema.items : {}, depth)}, …]`;
  }
  if (schema.type === "object") return describeFields(schema, depth);
  return schema.type === "integer" ? "whole number" : String(schema.type ?? "anything");
}

function describeFields({ properties }: ShapeSchema, depth: number): string {
  const indent = "  ".repeat(depth + 1);
  const lines = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, field]) => {
    const said =
      isJsonObject(field) && typeof field.description === "string" ? ` // ${field.description}` : "";
    return `${indent}${JSON.stringify(name)}: ${describeType(isJsonObject(field) ? field : {}, depth + 1)},${said}`;
  });
  return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}
