import { invalid } from "../errors.ts";

export type MetadataScalar = string | number | boolean | null;
export type Metadata = { readonly [field: string]: MetadataScalar | readonly MetadataScalar[] };

/** A filter over metadata, in the form known from Chroma and Pinecone. */
export type Where = { readonly [field: string]: unknown };

const COMPARE: Readonly<
  Record<string, (held: MetadataScalar | undefined, wanted: MetadataScalar) => boolean>
> = {
  $eq: (held, wanted) => held === wanted,
  $ne: (held, wanted) => held !== wanted,
  $gt: (held, wanted) => compareScalars(held, wanted) > 0,
  $gte: (held, wanted) => compareScalars(held, wanted) >= 0,
  $lt: (held, wanted) => compareScalars(held, wanted) < 0,
  $lte: (held, wanted) => compareScalars(held, wanted) <= 0,
};

/**
 * Whether metadata passes a filter. This is the meaning of `where` everywhere; an adapter that filters by itself
 * must agree with it. A list in the metadata passes where one of its elements does (`$ne` and `$nin`: where all do).
 * Throws `invalid_input` for an unknown operator, so that a misspelt filter never lets everything through.
 */
export function matchesFilter(where: Where, metadata: Metadata = {}): boolean {
  return Object.entries(where).every(([field, wanted]) => {
    if (field === "$and") return expectList(field, wanted).every((one) => matchesFilter(one, metadata));
    if (field === "$or") return expectList(field, wanted).some((one) => matchesFilter(one, metadata));
    if (field === "$not") return !matchesFilter(expectObject(field, wanted), metadata);
    if (field.startsWith("$"))
      throw invalid(`where: ${field} is no operator. Known: $and, $or, $not at this place.`);
    const held = Object.hasOwn(metadata, field) ? metadata[field] : undefined;
    if (!isObject(wanted)) return passesOperator("$eq", held, wanted);
    return Object.entries(wanted).every(([operator, value]) => passesOperator(operator, held, value));
  });
}

/** Values and names in one filter, and how deep it may be nested: each is held against every memory. */
const MAX_TERMS = 1000;
const MAX_DEPTH = 16;

/** Refuses a filter that holds too much or is misspelt (`invalid_input`); to be called once, before it is used. */
export function checkWhere(where: Where): void {
  let terms = 0;
  const count = (value: unknown, depth: number): void => {
    terms += 1;
    if (depth > MAX_DEPTH) throw invalid(`where is nested too deep: at most ${MAX_DEPTH} levels.`);
    if (terms > MAX_TERMS)
      throw invalid(`where holds too much: at most ${MAX_TERMS.toLocaleString("en")} names and values.`);
    if (typeof value !== "object" || value === null) return;
    for (const inner of Object.values(value)) count(inner, depth + 1);
  };
  count(where, 0);
  matchesFilter(where, {});
}

function passesOperator(
  operator: string,
  held: MetadataScalar | readonly MetadataScalar[] | undefined,
  wanted: unknown,
): boolean {
  if (operator === "$exists") return (held !== undefined) === (wanted !== false);
  if (operator === "$in")
    return expectScalars(operator, wanted).some((one) => passesOperator("$eq", held, one));
  if (operator === "$nin")
    return !expectScalars(operator, wanted).some((one) => passesOperator("$eq", held, one));
  if (operator === "$not") {
    return !Object.entries(expectObject(operator, wanted)).every(([inner, value]) =>
      passesOperator(inner, held, value),
    );
  }
  const compare = Object.hasOwn(COMPARE, operator) ? COMPARE[operator] : undefined;
  if (!compare) {
    throw invalid(
      `where: ${operator} is no operator. Known: $eq $ne $gt $gte $lt $lte $in $nin $exists $and $or $not.`,
    );
  }
  const value = expectScalar(operator, wanted);
  if (!Array.isArray(held)) return compare(held as MetadataScalar | undefined, value);
  return operator === "$ne"
    ? held.every((one) => compare(one, value))
    : held.some((one) => compare(one, value));
}

/** Negative, zero or positive; NaN, with which every comparison fails, where the two have no order. */
function compareScalars(held: MetadataScalar | undefined, wanted: MetadataScalar): number {
  if (typeof held === "number" && typeof wanted === "number") return held - wanted;
  if (typeof held !== "string" || typeof wanted !== "string") return Number.NaN;
  return held < wanted ? -1 : Number(held > wanted);
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
