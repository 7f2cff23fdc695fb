import { matchesFilter, type Where } from "../../domain/metadata-filter.ts";
import { MemoryError } from "../../errors.ts";

/** The part of `ChromaClient` (package chromadb, 3.5) that is used: any object with these methods will do. */
export interface ChromaClientLike {
  /** Without `embeddingFunction: null` the client would look for a model to load: vectors come from us alone. */
  getOrCreateCollection(of: {
    readonly name: string;
    readonly embeddingFunction: null;
    readonly configuration: { readonly hnsw: ChromaHnsw };
    readonly metadata: { readonly [field: string]: string | number };
  }): Promise<ChromaCollectionLike>;
  getCollection(of: { readonly name: string }): Promise<ChromaCollectionLike>;
  listCollections(page: { readonly limit: number; readonly offset: number }): Promise<ChromaCollectionLike[]>;
  deleteCollection(of: { readonly name: string }): Promise<void>;
  /** Most entries in one request. */
  getMaxBatchSize(): Promise<number>;
}

/** How a collection's index is made; Chroma's own names. */
export interface ChromaHnsw {
  readonly space: "cosine";
  readonly ef_construction: number;
  readonly ef_search: number;
  readonly max_neighbors: number;
  readonly sync_threshold: number;
  readonly batch_size: number;
}

/** A collection as the client gives it. */
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
  query(asked: {
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

export interface ChromaEntries {
  readonly ids: string[];
  readonly embeddings: number[][];
  readonly metadatas: { [field: string]: string | number }[];
  readonly documents?: string[];
}

/** A filter as Chroma takes it: one field or one operator at a place. */
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

/** What is to stand in the texts, as Chroma takes it. */
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
