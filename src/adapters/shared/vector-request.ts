import { createHash } from "node:crypto";
import type { Where } from "../../domain/filters/metadata-filter.ts";
import { toScopeKey } from "../../domain/scope.ts";
import { invalid, MemoryError } from "../../errors.ts";

/** The value types that vector databases can compare, by filter operator. */
const OPERATOR_TYPES: { readonly [operator: string]: readonly string[] } = {
  $eq: ["string", "number", "boolean"],
  $ne: ["string", "number", "boolean"],
  $gt: ["number"],
  $gte: ["number"],
  $lt: ["number"],
  $lte: ["number"],
  $in: ["string", "number", "boolean"],
  $nin: ["string", "number", "boolean"],
};

/** The filter format that Pinecone and S3 Vectors share. */
type PlainFilter = { readonly [field: string]: unknown };

/**
 * Translates a filter to the format that vector databases share: one operator per condition, several conditions in `$and`.
 * Where databases differ, the result is explicit: a missing field is unequal to every value. Undefined for the empty filter.
 * Throws `unsupported` for what they cannot express (`$not`, `null`, an order of texts, an empty list).
 * Throws `invalid_input` for an invalid filter.
 */
export function toPlainFilter(where: Where): PlainFilter | undefined {
  const parts = Object.entries(where).flatMap(([field, wanted]) => toConditions(field, wanted));
  return parts.length < 2 ? parts[0] : { $and: parts };
}

function toConditions(field: string, wanted: unknown): PlainFilter[] {
  if (field === "$and" || field === "$or") return [{ [field]: toFilterList(field, wanted) }];
  if (field.startsWith("$"))
    throw field === "$not" ? createUnsupportedError("$not") : invalid(`where: ${field} is not an operator.`);
  if (!isFilter(wanted)) return [toCondition(field, "$eq", wanted)];
  return Object.entries(wanted).map(([operator, value]) => toCondition(field, operator, value));
}

function toFilterList(operator: string, wanted: unknown): PlainFilter[] {
  if (!Array.isArray(wanted) || !wanted.every(isFilter)) {
    throw invalid(`where: ${operator} takes a list of filters.`);
  }
  const parts = wanted.map((one) => toPlainFilter(one));
  if (parts.length > 0 && parts.every((one) => one !== undefined)) return parts;
  throw createUnsupportedError(`an empty ${operator}`);
}

function toCondition(field: string, operator: string, value: unknown): PlainFilter {
  if (operator === "$exists") return { [field]: { $exists: value !== false } };
  if (operator === "$not") throw createUnsupportedError("$not");
  const kinds = OPERATOR_TYPES[operator];
  if (!kinds) throw invalid(`where: ${operator} is not an operator.`);
  const isList = operator === "$in" || operator === "$nin";
  if (isList && !Array.isArray(value)) throw invalid(`where: ${operator} takes a list.`);
  const values: readonly unknown[] = isList && Array.isArray(value) ? value : [value];
  if (values.length === 0) throw createUnsupportedError(`an empty ${operator}`);
  if (!values.every((one) => kinds.includes(typeof one)))
    throw createUnsupportedError(`${operator} with a value of this type`);
  const condition = { [field]: { [operator]: value } };
  const isUnequal = operator === "$ne" || operator === "$nin";
  return isUnequal ? { $or: [condition, { [field]: { $exists: false } }] } : condition;
}

const isFilter = (value: unknown): value is Where =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const createUnsupportedError = (what: string): MemoryError =>
  new MemoryError("unsupported", `where: this vector index does not support ${what}; the database does.`);

/** Significant digits that identify every 32-bit float (IEEE 754, binary32). */
const DIGITS = 9;

/** A vector for JSON: the same 32-bit numbers in half the characters, because servers limit the size of a request. */
export function toJsonVector(vector: Float32Array): number[] {
  return Array.from(vector, (part) => Number(part.toPrecision(DIGITS)));
}

/** Clamps a cosine that the server rounded to the range of the port. */
export const clampCosine = (score: number): number => Math.max(-1, Math.min(1, score));

/** 160 bits of a SHA-256: collisions are practically impossible, and it fits into any name. */
const HASH_LETTERS = 40;

/**
 * A name for a user on a third-party server: letters and digits only, the same in every process. It hides the user's name,
 * but a reader who knows that name can recompute the hash.
 */
export const toScopeHash = (scope: { readonly project: string; readonly user: string }): string =>
  toShortHash(toScopeKey(scope));

/** SHA-256 in hex, cut to 40 letters. */
export const toShortHash = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, HASH_LETTERS);
