import { invalid } from "../../errors.ts";

export type MetadataScalar = string | number | boolean | null;
/** Fields of the caller's own: texts, numbers, booleans, null, and lists of them. */
export type Metadata = { readonly [field: string]: MetadataScalar | readonly MetadataScalar[] };

/** A filter over metadata, in the syntax of Chroma and Pinecone. */
export type Where = { readonly [field: string]: unknown };

const COMPARE: Readonly<
  Record<string, (actual: MetadataScalar | undefined, wanted: MetadataScalar) => boolean>
> = {
  $eq: (actual, wanted) => actual === wanted,
  $ne: (actual, wanted) => actual !== wanted,
  $gt: (actual, wanted) => compareScalars(actual, wanted) > 0,
  $gte: (actual, wanted) => compareScalars(actual, wanted) >= 0,
  $lt: (actual, wanted) => compareScalars(actual, wanted) < 0,
  $lte: (actual, wanted) => compareScalars(actual, wanted) <= 0,
};

/**
 * Whether metadata matches a filter. This defines `where` everywhere; an adapter with native filters must
 * agree with it.
 *
 * A list in the metadata matches if one of its elements does (for `$ne` and `$nin`: if all do). Throws
 * `invalid_input` for an unknown operator, so that a misspelt filter never matches everything.
 */
export function matchesFilter(where: Where, metadata: Metadata = {}): boolean {
  return Object.entries(where).every(([field, wanted]) => {
    if (field === "$and") return expectList(field, wanted).every((one) => matchesFilter(one, metadata));
    if (field === "$or") return expectList(field, wanted).some((one) => matchesFilter(one, metadata));
    if (field === "$not") return !matchesFilter(expectObject(field, wanted), metadata);
    if (field.startsWith("$"))
      throw invalid(`where: ${field} is not an operator. Allowed here: $and, $or, $not.`);
    const actual = Object.hasOwn(metadata, field) ? metadata[field] : undefined;
    if (!isObject(wanted)) return passesOperator("$eq", actual, wanted);
    return Object.entries(wanted).every(([operator, value]) => passesOperator(operator, actual, value));
  });
}

/**
 * The metadata by which a memory is filtered; one of them must match. Its own, if it has any. Without any, or with the mark
 * `private` alone, that of each of its messages, with the mark.
 */
export function listFilteredMetadata(
  own: Metadata | undefined,
  ofMessages: readonly (Metadata | undefined)[],
): Metadata[] {
  const hasFields = Object.keys(own ?? {}).some((field) => field !== "private");
  if (hasFields || ofMessages.length === 0) return [own ?? {}];
  return ofMessages.map((metadata) => ({ ...metadata, ...own }));
}

/**
 * The limits on values and names in one filter, and on its nesting depth. Every memory is tested against each
 * of them.
 */
const MAX_TERMS = 1000;
const MAX_DEPTH = 16;

/**
 * Throws `invalid_input` for a filter that is too large or misspelt. Call it once, before the filter is used.
 */
export function checkWhere(where: Where): void {
  let terms = 0;
  const count = (value: unknown, depth: number): void => {
    terms += 1;
    if (depth > MAX_DEPTH) throw invalid(`where is nested too deeply. Limit: ${MAX_DEPTH} levels.`);
    if (terms > MAX_TERMS)
      throw invalid(`where is too large. Limit: ${MAX_TERMS.toLocaleString("en")} names and values.`);
    if (typeof value !== "object" || value === null) return;
    for (const inner of Object.values(value)) count(inner, depth + 1);
  };
  count(where, 0);
  matchesFilter(where, {});
}

function passesOperator(
  operator: string,
  actual: MetadataScalar | readonly MetadataScalar[] | undefined,
  wanted: unknown,
): boolean {
  if (operator === "$exists") return (actual !== undefined) === (wanted !== false);
  if (operator === "$in")
    return expectScalars(operator, wanted).some((one) => passesOperator("$eq", actual, one));
  if (operator === "$nin")
    return !expectScalars(operator, wanted).some((one) => passesOperator("$eq", actual, one));
  if (operator === "$not") {
    return !Object.entries(expectObject(operator, wanted)).every(([inner, value]) =>
      passesOperator(inner, actual, value),
    );
  }
  const compare = Object.hasOwn(COMPARE, operator) ? COMPARE[operator] : undefined;
  if (!compare) {
    throw invalid(
      `where: ${operator} is not an operator. Allowed: $eq $ne $gt $gte $lt $lte $in $nin $exists $and $or $not.`,
    );
  }
  const value = expectScalar(operator, wanted);
  if (!Array.isArray(actual)) return compare(actual as MetadataScalar | undefined, value);
  return operator === "$ne"
    ? actual.every((one) => compare(one, value))
    : actual.some((one) => compare(one, value));
}

/** Negative, zero or positive. NaN if the two have no order; every comparison with it fails. */
function compareScalars(actual: MetadataScalar | undefined, wanted: MetadataScalar): number {
  if (typeof actual === "number" && typeof wanted === "number") return actual - wanted;
  if (typeof actual !== "string" || typeof wanted !== "string") return Number.NaN;
  return actual < wanted ? -1 : Number(actual > wanted);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function expectObject(operator: string, value: unknown): Where {
  if (!isObject(value)) throw invalid(`where: ${operator} takes an object.`);
  return value;
}

function expectList(operator: string, value: unknown): Where[] {
  if (!Array.isArray(value)) throw invalid(`where: ${operator} takes a list of filters.`);
  return value.map((one) => expectObject(operator, one));
}

function expectScalars(operator: string, value: unknown): MetadataScalar[] {
  if (!Array.isArray(value)) throw invalid(`where: ${operator} takes a list.`);
  return value.map((one) => expectScalar(operator, one));
}

function expectScalar(operator: string, value: unknown): MetadataScalar {
  if (value === null || ["string", "number", "boolean"].includes(typeof value))
    return value as MetadataScalar;
  throw invalid(`where: ${operator} takes a text, a number, true, false or null.`);
}
