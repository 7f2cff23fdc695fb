/** A value out of JSON with named fields. */
export type Fields = { readonly [field: string]: unknown };

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Nothing where it is no JSON: the parser's own words quote the text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
