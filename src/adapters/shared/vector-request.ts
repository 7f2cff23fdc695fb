import { createHash } from "node:crypto";
import type { Where } from "../../domain/metadata-filter.ts";
import { toScopeKey } from "../../domain/scope.ts";
import { invalid, MemoryError } from "../../errors.ts";

/** What vector databases know of our filters, by the kind of value that they compare. */
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

/** A filter of the kind that Pinecone and S3 Vectors share. */
type PlainFilter = { readonly [field: string]: unknown };

/**
 * A filter in the words that vector databases share: each condition with one operator, written out; several in `$and`. What
 * they read differently is said so that there is one reading: a field that is not there is unequal to everything. Nothing for
 * the empty filter. `unsupported` for what they cannot say (`$not`, `null`, an order of texts, an empty list), `invalid_input`
 * for what is no filter at all.
 */
export function toPlainFilter(where: Where): PlainFilter | undefined {
  const parts = Object.entries(where).flatMap(([field, wanted]) => toConditions(field, wanted));
  return parts.length < 2 ? parts[0] : { $and: parts };
}

function toConditions(field: string, wanted: unknown): PlainFilter[] {
  if (field === "$and" || field === "$or") return [{ [field]: toFilterList(field, wanted) }];
  if (field.startsWith("$"))
    throw field === "$not" ? createUnsupportedError("$not") : invalid(`where: ${field} is no operator.`);
  if (!isFilter(wanted)) return [toCondition(field, "$eq", wanted)];
  return Object.entries(wanted).map(([operator, value]) => toCondition(field, operator, value));
}

function toFilterList(operator: string, wanted: unknown): PlainFilter[] {
  if (!Array.isArray(wanted) || !wanted.every(isFilter)) {
    throw invalid(`where: ${operator} takes a list of filters.`);
  }
  const parts = wanted.map((one) => toPlainFilter(one));
  if (parts.length > 0 && parts.every((one) => one !== undefined)) return parts;
  throw createUnsupportedError(`${operator} with nothing in it`);
}

function toCondition(field: string, operator: string, value: unknown): PlainFilter {
  if (operator === "$exists") return { [field]: { $exists: value !== false } };
  if (operator === "$not") throw createUnsupportedError("$not");
  const kinds = OPERATOR_TYPES[operator];
  if (!kinds) throw invalid(`where: ${operator} is no operator.`);
  const isList = operator === "$in" || operator === "$nin";
  if (isList && !Array.isArray(value)) throw invalid(`where: ${operator} takes a list.`);
  const values: readonly unknown[] = isList && Array.isArray(value) ? value : [value];
  if (values.length === 0) throw createUnsupportedError(`${operator} with nothing in it`);
  if (!values.every((one) => kinds.includes(typeof one)))
    throw createUnsupportedError(`${operator} with such a value`);
  const said = { [field]: { [operator]: value } };
  const isUnequal = operator === "$ne" || operator === "$nin";
  return isUnequal ? { $or: [said, { [field]: { $exists: false } }] } : said;
}

const isFilter = (value: unknown): value is Where =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const createUnsupportedError = (what: string): MemoryError =>
  new MemoryError("unsupported", `where: this index cannot say ${what}. The record can.`);

/** Digits by which a number of 32 bits is told from every other (IEEE 754, binary32). */
const DIGITS = 9;

/** A vector as JSON takes it: the same numbers of 32 bits in half the letters, for servers bound what a request may weigh. */
export function toJsonVector(vector: Float32Array): number[] {
  return Array.from(vector, (part) => Number(part.toPrecision(DIGITS)));
}

/** A cosine as the port wants it, of a server that rounds. */
export const clampCosine = (score: number): number => Math.max(-1, Math.min(1, score));

/** Half of a SHA-256 and a little more: nobody meets another's by chance, and it fits into any name. */
const HASH_LETTERS = 40;

/**
 * A name for a user on a server that is not ours: letters and digits alone, the same in every process. It does not say who it is;
 * whoever knows a user's name can work it out.
 */
export const toScopeHash = (scope: { readonly project: string; readonly user: string }): string =>
  toShortHash(toScopeKey(scope));

/** SHA-256 in hex, cut to 40 letters. */
export const toShortHash = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, HASH_LETTERS);
