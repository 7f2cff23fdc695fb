import type { JsonSchema } from "./schemas.ts";

/** A JSON Schema for people, as HTML: an object as the list of its fields, anything else in a word or two. */
export function formatSchema(schema: JsonSchema): string {
  const { properties, required = [] } = schema as {
    properties?: { [name: string]: JsonSchema };
    required?: readonly string[];
  };
  if (!properties) return describeSchema(schema);
  const fields = Object.entries(properties).map(([name, held]) => {
    const mark = required.includes(name) ? "" : "?";
    const says = typeof held.description === "string" ? ` ${formatInlineCode(held.description)}` : "";
    return `<li><code>${escapeHtml(name)}${mark}</code> ${formatSchema(held)}${says}</li>`;
  });
  return `<ul class="fields">${fields.join("")}</ul>`;
}

function describeSchema(schema: JsonSchema): string {
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
    const name = escapeHtml($ref.slice($ref.lastIndexOf("/") + 1));
    return `<a href="#shape-${name}">${name}</a>`;
  }
  if (only !== undefined) return `<code>${escapeHtml(JSON.stringify(only))}</code>`;
  if (values) return values.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(" or ");
  // That null stands for "not given" is said once, at the top.
  const ways = anyOf?.filter((one) => one.type !== "null");
  if (ways) return ways.map(formatSchema).join(" or ");
  if (type === "array") return `list of ${items ? formatSchema(items) : "anything"}`;
  if (type === "object") {
    const held = typeof additionalProperties === "object" ? formatSchema(additionalProperties) : "anything";
    return `object of ${held}`;
  }
  const named = [type ?? "anything"].flat().filter((one) => one !== "null");
  return `<i>${escapeHtml(named.join(" or "))}</i>${formatBounds(schema)}`;
}

function formatBounds(schema: JsonSchema): string {
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` from ${minimum}`;
  return maximum === undefined ? "" : ` to ${maximum}`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Plain words with `code` in them. */
export function formatInlineCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}
