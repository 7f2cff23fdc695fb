import { ASSOCIATION_TYPES } from "../domain/change-set.ts";
import type { ImportedLink } from "../engine/api/transfer-types.ts";

/**
 * Creates a reader of the lines of one export, in order. It names memories by their texts, because an import gives some of
 * them other ids. It gives an association for each line that has a valid one. */
export function createLinkReader(): (
  type: unknown,
  body: { readonly [field: string]: unknown },
) => ImportedLink | undefined {
  const texts = new Map<unknown, string>();
  return (lineType, body) => {
    if (lineType === "memory" && body.status === "current" && typeof body.text === "string")
      texts.set(body.id, body.text);
    if (lineType !== "link") return undefined;
    const [from, to] = [texts.get(body.from), texts.get(body.to)];
    const type = ASSOCIATION_TYPES.find((one) => one === body.type);
    const { strength } = body;
    const isValid = typeof strength === "number" && strength >= 0 && strength <= 1;
    return from !== undefined && to !== undefined && from !== to && type && isValid
      ? { from, to, type, strength }
      : undefined;
  };
}
