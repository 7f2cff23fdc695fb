import { matchesFilter, type Where } from "../../domain/filters/metadata-filter.ts";
import { MemoryError } from "../../errors.ts";

/** The part of `ChromaClient` (package chromadb, 3.5) that is used. Any object with these methods works. */
export interface ChromaClientLike {
  /** With `embeddingFunction: null`, the client does not look for an embedding model: this program supplies all vectors. */
  getOrCreateCollection(of: {
    readonly name: string;
    readonly embeddingFunction: null;
    readonly configuration: { readonly hnsw: ChromaHnsw };
    readonly metadata: { readonly [field: string]: string | number };
  }): Promise<ChromaCollectionLike>;
  getCollection(of: { readonly name: string }): Promise<ChromaCollectionLike>;
  listCollections(page: { readonly limit: number; readonly offset: number }): Promise<ChromaCollectionLike[]>;
  deleteCollection(of: { readonly name: string }): Promise<void>;
  /** The most entries in one request. */
  getMaxBatchSize(): Promise<number>;
}

/** The index settings of a collection, in Chroma's names. */
export interface ChromaHnsw {
  readonly space: "cosine";
  readonly ef_construction: number;
  readonly ef_search: number;
  readonly max_neighbors: number;
  readonly sync_threshold: number;
  readonly batch_size: number;
}

/** A collection of the client. */
export interface ChromaCollectionLike {
  readonly name: string;
  readonly metadata?: { readonly [field: string]: unknown } | undefined;
  readonly configuration?:
    | { readonly hnsw?: { readonly space?: string | null | undefined } | null | undefined }
    | undefined;
  upsert(entries: ChromaEntries): Promise<void>;
  update(entries: ChromaEntries): Promise<void>;
  delete(of: { readonly ids: string[] }): Promise<unknown>;
  get(of: {
    readonly ids?: string[];
    readonly limit?: number;
    readonly offset?: number;
    readonly include: [];
  }): Promise<{ readonly ids: readonly string[] }>;
  query(request: {
    readonly queryEmbeddings: number[][];
    readonly nResults: number;
    readonly where?: ChromaWhere;
    readonly whereDocument?: ChromaWhereDocument;
    readonly include: ["distances"];
  }): Promise<{
    readonly ids: readonly (readonly string[])[];
    readonly distances: readonly (readonly (number | null)[])[];
  }>;
}

/** Entries in the columns that Chroma expects. */
export interface ChromaEntries {
  readonly ids: string[];
  readonly embeddings: number[][];
  readonly metadatas: { [field: string]: string | number }[];
  readonly documents?: string[];
}

/** A Chroma filter: one field or one operator per object. */
type ChromaWhere = { [field: string]: ChromaCondition } | { $and: ChromaWhere[] } | { $or: ChromaWhere[] };

type ChromaCondition =
  | { $eq: string | number }
  | { $ne: string | number }
  | { $in: (string | number)[] }
  | { $nin: (string | number)[] }
  | { $gt: number }
  | { $gte: number }
  | { $lt: number }
  | { $lte: number };

/** A Chroma filter on documents. */
export type ChromaWhereDocument =
  | { $contains: string }
  | { $not_contains: string }
  | { $regex: string }
  | { $not_regex: string }
  | { $and: ChromaWhereDocument[] }
  | { $or: ChromaWhereDocument[] };

const TEXT_FIELDS: readonly string[] = ["type", "owner", "kind", "session"];
const TEXT_OPERATORS: readonly string[] = ["$eq", "$ne", "$in", "$nin"];
const NUMBER_OPERATORS: readonly string[] = [...TEXT_OPERATORS, "$gt", "$gte", "$lt", "$lte"];

/**
 * Translates a filter to Chroma's format: one field or one operator per object, with an explicit "and". Undefined for a filter that
 * accepts everything. Throws `invalid_input` for an unknown operator. Throws `unsupported` for filters that Chroma lacks or evaluates
 * differently from `matchesFilter`: `$not`, `$exists`, lists of mixed types, fractional numbers (Chroma stores integers and other
 * numbers separately), and fields that no search unit has.
 */
export function toChromaFilter(where: Where = {}): ChromaWhere | undefined {
  matchesFilter(where, {});
  const clauses = toClauses(where);
  return clauses.length === 0 ? undefined : joinClauses("$and", clauses);
}

function toClauses(where: Where): ChromaWhere[] {
  return Object.entries(where).flatMap(([field, wanted]) => {
    if (field === "$and") return toFilters(wanted).flatMap(toClauses);
    if (field === "$or") {
      const filters = toFilters(wanted).map((filter) => toChromaFilter(filter));
      // An alternative that accepts everything makes the others irrelevant.
      return filters.includes(undefined) ? [] : [joinClauses("$or", filters as ChromaWhere[])];
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
    throw createUnsupportedError(`${field} ${operator} with a value of this type`);
  return { [field]: { [operator]: value } } as ChromaWhere;
}

/** Joins clauses, because Chroma requires at least two under "$and" and "$or". */
function joinClauses(operator: "$and" | "$or", clauses: readonly ChromaWhere[]): ChromaWhere {
  const [first] = clauses;
  if (!first) throw createUnsupportedError(`an empty ${operator}`);
  return clauses.length === 1 ? first : ({ [operator]: clauses } as ChromaWhere);
}

function toFilters(value: unknown): Where[] {
  return Array.isArray(value) ? value : [];
}

function createUnsupportedError(what: string): MemoryError {
  return new MemoryError(
    "unsupported",
    `where: Chroma cannot filter by ${what}. Remove this condition, and filter the hits.`,
  );
}
