import { matchesFilter, type Where } from "../../domain/filter.ts";
import { MemoryError } from "../../errors.ts";
import type { ChromaWhere } from "./client.ts";

const TEXT_FIELDS: readonly string[] = ["type", "owner", "kind", "session"];
const TEXT_OPERATORS: readonly string[] = ["$eq", "$ne", "$in", "$nin"];
const NUMBER_OPERATORS: readonly string[] = [...TEXT_OPERATORS, "$gt", "$gte", "$lt", "$lte"];

/**
 * A filter in Chroma's form: one field or one operator at a place, so that "and" is always said. Nothing for a filter that
 * lets everything through. `invalid_input` for an unknown operator; `unsupported` for what Chroma cannot say, or says
 * otherwise than `matches` does: `$not`, `$exists`, lists of one kind mixed with another, numbers with a fraction (Chroma
 * holds whole numbers and others apart), fields that no search unit has.
 */
export function toChromaFilter(where: Where = {}): ChromaWhere | undefined {
  matchesFilter(where, {});
  const all = toClauses(where);
  return all.length === 0 ? undefined : joinClauses("$and", all);
}

function toClauses(where: Where): ChromaWhere[] {
  return Object.entries(where).flatMap(([field, wanted]) => {
    if (field === "$and") return toFilters(wanted).flatMap(toClauses);
    if (field === "$or") {
      const ways = toFilters(wanted).map((way) => toChromaFilter(way));
      // A way that lets everything through makes the others needless.
      return ways.includes(undefined) ? [] : [joinClauses("$or", ways as ChromaWhere[])];
    }
    if (field.startsWith("$") || (field !== "at" && !TEXT_FIELDS.includes(field)))
      throw createUnsupportedError(field);
    if (typeof wanted !== "object" || wanted === null) return [toClause(field, "$eq", wanted)];
    return Object.entries(wanted).map(([operator, value]) => toClause(field, operator, value));
  });
}

function toClause(field: string, operator: string, value: unknown): ChromaWhere {
  const isNumber = field === "at";
  if (!(isNumber ? NUMBER_OPERATORS : TEXT_OPERATORS).includes(operator))
    throw createUnsupportedError(`${field} ${operator}`);
  const values = operator === "$in" || operator === "$nin" ? toFilters(value) : [value];
  const fits = (one: unknown): boolean =>
    isNumber ? Number.isSafeInteger(one) : typeof one === "string" && one !== "";
  if (values.length === 0 || !values.every(fits))
    throw createUnsupportedError(`${field} ${operator} with such a value`);
  return { [field]: { [operator]: value } } as ChromaWhere;
}

/** Chroma wants two at the least under "$and" and "$or". */
function joinClauses(operator: "$and" | "$or", all: readonly ChromaWhere[]): ChromaWhere {
  const [first] = all;
  if (!first) throw createUnsupportedError(`${operator} of nothing`);
  return all.length === 1 ? first : ({ [operator]: all } as ChromaWhere);
}

function toFilters(value: unknown): Where[] {
  return Array.isArray(value) ? value : [];
}

function createUnsupportedError(what: string): MemoryError {
  return new MemoryError(
    "unsupported",
    `where: Chroma cannot filter by ${what}. Leave it out, and filter the hits.`,
  );
}
