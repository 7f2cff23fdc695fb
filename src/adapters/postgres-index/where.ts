import type { Where } from "../../domain/filter.ts";
import { invalid, MemoryError } from "../../errors.ts";

/** The columns that can be filtered by; of any other field nothing is held. */
const COLUMNS: ReadonlySet<string> = new Set(["type", "owner", "at", "kind", "session"]);
const COMPARED: { readonly [operator: string]: string } = {
  $gt: ">",
  $gte: ">=",
  $lt: "<",
  $lte: "<=",
};

/**
 * A filter as a condition of SQL, with the meaning that `matches` gives it. What it compares with is added to `values`.
 * `invalid_input` for what is no filter.
 */
export function whereSql(where: Where, values: unknown[]): string {
  const parts = Object.entries(where).map(([field, wanted]) => partSql(field, wanted, values));
  return parts.length === 0 ? "true" : `(${parts.join(" AND ")})`;
}

function partSql(field: string, wanted: unknown, values: unknown[]): string {
  if (field === "$not") return `NOT ${whereSql(objectOf(field, wanted), values)}`;
  if (field === "$and" || field === "$or") {
    if (!Array.isArray(wanted)) throw invalid(`where: ${field} takes a list of filters.`);
    const parts = wanted.map((one) => whereSql(objectOf(field, one), values));
    if (parts.length === 0) return field === "$and" ? "true" : "false";
    return `(${parts.join(field === "$and" ? " AND " : " OR ")})`;
  }
  if (field.startsWith("$")) throw invalid(`where: ${field} is no operator.`);
  if (!isObject(wanted)) return conditionSql(field, "$eq", wanted, values);
  const parts = Object.entries(wanted).map(([operator, value]) =>
    conditionSql(field, operator, value, values),
  );
  return parts.length === 0 ? "true" : `(${parts.join(" AND ")})`;
}

function conditionSql(field: string, operator: string, wanted: unknown, values: unknown[]): string {
  const column = COLUMNS.has(field) ? field : "NULL::text";
  if (operator === "$exists") return `(${column} IS ${wanted === false ? "" : "NOT "}NULL)`;
  if (operator === "$not") {
    const inner = Object.entries(objectOf(operator, wanted));
    return `NOT (${inner.map(([one, value]) => conditionSql(field, one, value, values)).join(" AND ") || "true"})`;
  }
  if (operator === "$in" || operator === "$nin") {
    const found = anySql(field, operator, wanted, values);
    return operator === "$in" ? found : `NOT ${found}`;
  }
  if (operator === "$eq") return equalSql(field, column, wanted, values);
  if (operator === "$ne") return `NOT ${equalSql(field, column, wanted, values)}`;
  return orderSql(field, operator, wanted, values);
}

function anySql(field: string, operator: string, wanted: unknown, values: unknown[]): string {
  if (!Array.isArray(wanted)) throw invalid(`where: ${operator} takes a list.`);
  const some = wanted.map((one) => conditionSql(field, "$eq", one, values));
  return some.length === 0 ? "false" : `(${some.join(" OR ")})`;
}

/** Texts have another order here than in the record, and nothing is greater or less than a value of another kind. */
function orderSql(field: string, operator: string, wanted: unknown, values: unknown[]): string {
  const sign = COMPARED[operator];
  if (!sign) throw invalid(`where: ${operator} is no operator.`);
  if (typeof wanted === "string" && field !== "at") {
    throw new MemoryError(
      "unsupported",
      `where: this index cannot say ${operator} of a text. The record can.`,
    );
  }
  if (typeof wanted !== "number" || field !== "at") return "false";
  return `(at ${sign} ${placed(wanted, values)}::double precision)`;
}

function equalSql(field: string, column: string, wanted: unknown, values: unknown[]): string {
  if (wanted === null || !["string", "number", "boolean"].includes(typeof wanted)) {
    if (wanted === null) return "false";
    throw invalid("where: a comparison takes a text, a number, true, false or null.");
  }
  if (typeof wanted !== (field === "at" ? "number" : "string")) return "false";
  const type = field === "at" ? "double precision" : "text";
  return `(${column} IS NOT DISTINCT FROM ${placed(wanted, values)}::${type})`;
}

function placed(value: unknown, values: unknown[]): string {
  values.push(value);
  return `$${values.length}`;
}

function isObject(value: unknown): value is Where {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(operator: string, value: unknown): Where {
  if (!isObject(value)) throw invalid(`where: ${operator} takes an object.`);
  return value;
}
