import { isObject } from "./json.ts";

type Schema = { readonly [key: string]: unknown };

/**
 * A JSON Schema in words, for servers that do not take it as such. It is written like a type, not as the schema itself:
 * small models answer a schema with the schema.
 */
export function shapeInWords(schema: Schema): string {
  return (
    "Answer with one JSON object of this form and nothing else: no words before or after it, no code fence.\n" +
    typeText(schema, 0)
  );
}

function typeText(schema: Schema, depth: number): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (Array.isArray(schema.anyOf)) {
    return schema.anyOf.map((one) => typeText(isObject(one) ? one : {}, depth)).join(" | ");
  }
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => typeText({ ...schema, type }, depth)).join(" | ");
  }
  if (schema.type === "array") {
    return `[${typeText(isObject(schema.items) ? schema.items : {}, depth)}, …]`;
  }
  if (schema.type === "object") return fieldsText(schema, depth);
  return schema.type === "integer" ? "whole number" : String(schema.type ?? "anything");
}

function fieldsText({ properties }: Schema, depth: number): string {
  const indent = "  ".repeat(depth + 1);
  const lines = Object.entries(isObject(properties) ? properties : {}).map(([name, field]) => {
    const said = isObject(field) && typeof field.description === "string" ? ` // ${field.description}` : "";
    return `${indent}${JSON.stringify(name)}: ${typeText(isObject(field) ? field : {}, depth + 1)},${said}`;
  });
  return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}
