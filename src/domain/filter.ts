import { invalid } from "../errors.ts";

export type Scalar = string | number | boolean | null;
export type Metadata = { readonly [field: string]: Scalar | readonly Scalar[] };

/** A filter over metadata, in the form known from Chroma and Pinecone. */
export type Where = { readonly [field: string]: unknown };

const COMPARE: Readonly<Record<string, (held: Scalar | undefined, wanted: Scalar) => boolean>> = {
  $eq: (held, wanted) => held === wanted,
  $ne: (held, wanted) => held !== wanted,
  $gt: (held, wanted) => order(held, wanted) > 0,
  $gte: (held, wanted) => order(held, wanted) >= 0,
  $lt: (held, wanted) => order(held, wanted) < 0,
  $lte: (held, wanted) => order(held, wanted) <= 0,
};

/**
 * Whether metadata passes a filter. This is the meaning of `where` everywhere; an adapter that filters by itself
 * must agree with it. A list in the metadata passes where one of its elements does (`$ne` and `$nin`: where all do).
 * Throws `invalid_input` for an unknown operator, so that a misspelt filter never lets everything through.
 */
export function matches(where: Where, metadata: Metadata = {}): boolean {
  return Object.entries(where).every(([field, wanted]) => {
    if (field === "$and") return list(field, wanted).every((one) => matches(one, metadata));
    if (field === "$or") return list(field, wanted).some((one) => matches(one, metadata));
    if (field === "$not") return !matches(object(field, wanted), metadata);
    if (field.startsWith("$"))
      throw invalid(`where: ${field} is no operator. Known: $and, $or, $not at this place.`);
    const held = Object.hasOwn(metadata, field) ? metadata[field] : undefined;
    if (!isObject(wanted)) return passes("$eq", held, wanted);
    return Object.entries(wanted).every(([operator, value]) => passes(operator, held, value));
  });
}

/** Values and names in one filter, and how deep it may be nested: each is held against every memory. */
const MOST_TERMS = 1000;
const DEEPEST = 16;

/** Refuses a filter that holds too much or is misspelt (`invalid_input`); to be called once, before it is used. */
export function checkWhere(where: Where): void {
  let terms = 0;
  const count = (value: unknown, depth: number): void => {
    terms += 1;
    if (depth > DEEPEST) throw invalid(`where is nested too deep: at most ${DEEPEST} levels.`);
    if (terms > MOST_TERMS)
      throw invalid(`where holds too much: at most ${MOST_TERMS.toLocaleString("en")} names and values.`);
    if (typeof value !== "object" || value === null) return;
    for (const inner of Object.values(value)) count(inner, depth + 1);
  };
  count(where, 0);
  matches(where, {});
}

function passes(operator: string, held: Scalar | readonly Scalar[] | undefined, wanted: unknown): boolean {
  if (operator === "$exists") return (held !== undefined) === (wanted !== false);
  if (operator === "$in") return scalars(operator, wanted).some((one) => passes("$eq", held, one));
  if (operator === "$nin") return !scalars(operator, wanted).some((one) => passes("$eq", held, one));
  if (operator === "$not") {
    return !Object.entries(object(operator, wanted)).every(([inner, value]) => passes(inner, held, value));
  }
  const compare = Object.hasOwn(COMPARE, operator) ? COMPARE[operator] : undefined;
  if (!compare) {
    throw invalid(
      `where: ${operator} is no operator. Known: $eq $ne $gt $gte $lt $lte $in $nin $exists $and $or $not.`,
    );
  }
  const value = scalar(operator, wanted);
  if (!Array.isArray(held)) return compare(held as Scalar | undefined, value);
  return operator === "$ne"
    ? held.every((one) => compare(one, value))
    : held.some((one) => compare(one, value));
}

/** Negative, zero or positive; NaN, with which every comparison fails, where the two have no order. */
function order(held: Scalar | undefined, wanted: Scalar): number {
  if (typeof held === "number" && typeof wanted === "number") return held - wanted;
  if (typeof held !== "string" || typeof wanted !== "string") return Number.NaN;
  return held < wanted ? -1 : Number(held > wanted);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function object(operator: string, value: unknown): Where {
  if (!isObject(value)) throw invalid(`where: ${operator} takes an object.`);
  return value;
}

function list(operator: string, value: unknown): Where[] {
  if (!Array.isArray(value)) throw invalid(`where: ${operator} takes a list of filters.`);
  return value.map((one) => object(operator, one));
}

function scalars(operator: string, value: unknown): Scalar[] {
  if (!Array.isArray(value)) throw invalid(`where: ${operator} takes a list.`);
  return value.map((one) => scalar(operator, one));
}

function scalar(operator: string, value: unknown): Scalar {
  if (value === null || ["string", "number", "boolean"].includes(typeof value)) return value as Scalar;
  throw invalid(`where: ${operator} takes a text, a number, true, false or null.`);
}
