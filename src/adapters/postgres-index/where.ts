import type { Where } from "../../domain/filters/metadata-filter.ts";
import { invalid, MemoryError } from "../../errors.ts";

/** The columns that filters can use; no other fields are stored. */
const FILTER_COLUMNS: ReadonlySet<string> = new Set(["type", "owner", "at", "kind", "session"]);
const COMPARISON_SIGNS: { readonly [operator: string]: string } = {
  $gt: ">",
  $gte: ">=",
  $lt: "<",
  $lte: "<=",
};

/**
 * Translates a filter to an SQL condition with the meaning of `matchesFilter`, and appends its parameters to `values`. Throws
 * `invalid_input` for an invalid filter.
 */
export function toWhereSql(where: Where, values: unknown[]): string {
  const parts = Object.entries(where).map(([field, wanted]) => toPartSql(field, wanted, values));
  return parts.length === 0 ? "true" : `(${parts.join(" AND ")})`;
}

function toPartSql(field: string, wanted: unknown, values: unknown[]): string {
  if (field === "$not") return `NOT ${toWhereSql(toFilter(field, wanted), values)}`;
  if (field === "$and" || field === "$or") {
    if (!Array.isArray(wanted)) throw invalid(`where: ${field} takes a list of filters.`);
    const parts = wanted.map((one) => toWhereSql(toFilter(field, one), values));
    if (parts.length === 0) return field === "$and" ? "true" : "false";
    return `(${parts.join(field === "$and" ? " AND " : " OR ")})`;
  }
  if (field.startsWith("$")) throw invalid(`where: ${field} is not an operator.`);
  if (!isFilter(wanted)) return toConditionSql(field, "$eq", wanted, values);
  const parts = Object.entries(wanted).map(([operator, value]) =>
    toConditionSql(field, operator, value, values),
  );
  return parts.length === 0 ? "true" : `(${parts.join(" AND ")})`;
}

function toConditionSql(field: string, operator: string, wanted: unknown, values: unknown[]): string {
  const column = FILTER_COLUMNS.has(field) ? field : "NULL::text";
  if (operator === "$exists") return `(${column} IS ${wanted === false ? "" : "NOT "}NULL)`;
  if (operator === "$not") {
    const inner = Object.entries(toFilter(operator, wanted));
    return `NOT (${inner.map(([one, value]) => toConditionSql(field, one, value, values)).join(" AND ") || "true"})`;
  }
  if (operator === "$in" || operator === "$nin") {
    const found = toAnySql(field, operator, wanted, values);
    return operator === "$in" ? found : `NOT ${found}`;
  }
  if (operator === "$eq") return toEqualSql(field, column, wanted, values);
  if (operator === "$ne") return `NOT ${toEqualSql(field, column, wanted, values)}`;
  return toOrderSql(field, operator, wanted, values);
}

function toAnySql(field: string, operator: string, wanted: unknown, values: unknown[]): string {
  if (!Array.isArray(wanted)) throw invalid(`where: ${operator} takes a list.`);
  const alternatives = wanted.map((one) => toConditionSql(field, "$eq", one, values));
  return alternatives.length === 0 ? "false" : `(${alternatives.join(" OR ")})`;
}

/** Refuses an order of texts, which differs from the memory store's. A value of another type is neither greater nor less. */
function toOrderSql(field: string, operator: string, wanted: unknown, values: unknown[]): string {
  const sign = COMPARISON_SIGNS[operator];
  if (!sign) throw invalid(`where: ${operator} is not an operator.`);
  if (typeof wanted === "string" && field !== "at") {
    throw new MemoryError(
      "unsupported",
      `where: this vector index does not support ${operator} for texts; the database does.`,
    );
  }
  if (typeof wanted !== "number" || field !== "at") return "false";
  return `(at ${sign} ${addValue(wanted, values)}::double precision)`;
}

function toEqualSql(field: string, column: string, wanted: unknown, values: unknown[]): string {
  if (wanted === null || !["string", "number", "boolean"].includes(typeof wanted)) {
    if (wanted === null) return "false";
    throw invalid("where: compare with a text, a number, true, false or null.");
  }
  if (typeof wanted !== (field === "at" ? "number" : "string")) return "false";
  const type = field === "at" ? "double precision" : "text";
  return `(${column} IS NOT DISTINCT FROM ${addValue(wanted, values)}::${type})`;
}

function addValue(value: unknown, values: unknown[]): string {
  values.push(value);
  return `$${values.length}`;
}

function isFilter(value: unknown): value is Where {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toFilter(operator: string, value: unknown): Where {
  if (!isFilter(value)) throw invalid(`where: ${operator} takes an object.`);
  return value;
}
