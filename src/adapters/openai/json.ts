/** A value out of JSON with named fields. */
export type JsonFields = { readonly [field: string]: unknown };

export function isJsonObject(value: unknown): value is JsonFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Nothing where it is no JSON: the parser's own words quote the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
