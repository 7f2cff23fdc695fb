import type { JsonSchema } from "./schemas.ts";

/** A JSON Schema for people, as HTML: an object as the list of its fields, anything else in a word or two. */
export function shapeText(schema: JsonSchema): string {
  const { properties, required = [] } = schema as {
    properties?: { [name: string]: JsonSchema };
    required?: readonly string[];
  };
  if (!properties) return wordsOf(schema);
  const fields = Object.entries(properties).map(([name, held]) => {
    const mark = required.includes(name) ? "" : "?";
    const says = typeof held.description === "string" ? ` ${marked(held.description)}` : "";
    return `<li><code>${escaped(name)}${mark}</code> ${shapeText(held)}${says}</li>`;
  });
  return `<ul class="fields">${fields.join("")}</ul>`;
}

function wordsOf(schema: JsonSchema): string {
  const {
    $ref,
    const: only,
    enum: values,
    type,
    items,
    anyOf,
    additionalProperties,
  } = schema as {
    $ref?: string;
    const?: unknown;
    enum?: readonly unknown[];
    type?: string | readonly string[];
    items?: JsonSchema;
    anyOf?: readonly JsonSchema[];
    additionalProperties?: JsonSchema | boolean;
  };
  if ($ref !== undefined) {
    const name = escaped($ref.slice($ref.lastIndexOf("/") + 1));
    return `<a href="#shape-${name}">${name}</a>`;
  }
  if (only !== undefined) return `<code>${escaped(JSON.stringify(only))}</code>`;
  if (values) return values.map((value) => `<code>${escaped(String(value))}</code>`).join(" or ");
  // That null stands for "not given" is said once, at the top.
  const ways = anyOf?.filter((one) => one.type !== "null");
  if (ways) return ways.map(shapeText).join(" or ");
  if (type === "array") return `list of ${items ? shapeText(items) : "anything"}`;
  if (type === "object") {
    const held = typeof additionalProperties === "object" ? shapeText(additionalProperties) : "anything";
    return `object of ${held}`;
  }
  const named = [type ?? "anything"].flat().filter((one) => one !== "null");
  return `<i>${escaped(named.join(" or "))}</i>${boundsOf(schema)}`;
}

function boundsOf(schema: JsonSchema): string {
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` from ${minimum}`;
  return maximum === undefined ? "" : ` to ${maximum}`;
}

export function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Plain words with `code` in them. */
export function marked(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}
