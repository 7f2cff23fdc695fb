/** A JSON object. */
export type JsonFields = { readonly [field: string]: unknown };

export function isJsonObject(value: unknown): value is JsonFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined for invalid JSON; the parser's own error would quote the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
