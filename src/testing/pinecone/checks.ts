import { findFilterProblem } from "./filter.ts";
import type { StoredIndex } from "./state.ts";

/** Limits of one request, from Pinecone's page on operation limits (2026). */
export const PINECONE_LIMITS = {
  upsertRecords: 1000,
  upsertBytes: 2_097_152,
  metadataBytes: 40_960,
  idLetters: 512,
  namespaceLetters: 512,
  hits: 10_000,
  fetched: 1000,
  deleted: 1000,
  listed: 100,
  /** ASSUMED: a common bound of proxies on the first line and the headers of a request. */
  addressBytes: 16_384,
} as const;

export type PineconeBody = { readonly [field: string]: unknown };

const isBody = (value: unknown): value is PineconeBody =>
  typeof value === "object" && value !== null && !Array.isArray(value);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern of Pinecone's document.
const ASCII = /^[\x01-\x7f]*$/;

export function findNamespaceProblem(name: unknown): string | undefined {
  if (typeof name === "string" && ASCII.test(name) && name.length <= PINECONE_LIMITS.namespaceLetters)
    return undefined;
  return "namespace must be ASCII, and at most 512 characters";
}

export function findIdProblem(id: unknown): string | undefined {
  if (typeof id !== "string" || id === "") return "vector id must not be empty";
  if (!ASCII.test(id)) return `Vector ID must be ASCII, but got '${id}'`;
  return id.length > PINECONE_LIMITS.idLetters ? "vector id must not be longer than 512" : undefined;
}

export function findVectorProblem(index: StoredIndex, values: unknown): string | undefined {
  if (!Array.isArray(values) || !values.every((one) => Number.isFinite(one))) return "values must be numbers";
  if (values.length !== index.dimension) {
    return `Vector dimension ${values.length} does not match the dimension of the index ${index.dimension}`;
  }
  return values.every((one) => one === 0)
    ? "Dense vectors must contain at least one non-zero value"
    : undefined;
}

function findMetadataProblem(metadata: unknown): string | undefined {
  if (metadata === undefined) return undefined;
  if (!isBody(metadata)) return "metadata must be an object";
  for (const [field, value] of Object.entries(metadata)) {
    const isList = Array.isArray(value) && value.every((one) => typeof one === "string");
    if (!isList && !["string", "number", "boolean"].includes(typeof value)) {
      return `Metadata value must be a string, number, boolean or list of strings, got '${value}' for field '${field}'`;
    }
    if (field.startsWith("$")) return "metadata keys must not start with $";
  }
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  return bytes > PINECONE_LIMITS.metadataBytes
    ? `metadata size is ${bytes} bytes, which exceeds the limit of 40960 bytes per vector`
    : undefined;
}

export function findUpsertProblem(
  index: StoredIndex,
  { vectors }: PineconeBody,
  bytes: number,
): string | undefined {
  const { upsertBytes, upsertRecords } = PINECONE_LIMITS;
  if (bytes > upsertBytes) return "Request size exceeds the maximum supported size of 2MB";
  if (!Array.isArray(vectors) || vectors.length === 0) return "vectors must not be empty";
  if (vectors.length > upsertRecords) return `Batch size of ${vectors.length} exceeds the limit of 1000`;
  const problems = vectors.map((one: PineconeBody) => {
    return findIdProblem(one.id) ?? findVectorProblem(index, one.values) ?? findMetadataProblem(one.metadata);
  });
  if (new Set(vectors.map((one: PineconeBody) => one.id)).size < vectors.length)
    return "ASSUMED: an id stands twice";
  return problems.find((problem) => problem !== undefined);
}

export function findQueryProblem(
  index: StoredIndex,
  { topK, vector, filter }: PineconeBody,
): string | undefined {
  if (typeof topK !== "number" || !Number.isInteger(topK) || topK < 1 || topK > PINECONE_LIMITS.hits) {
    return "topK must be between 1 and 10000";
  }
  return findVectorProblem(index, vector) ?? (filter === undefined ? undefined : findFilterProblem(filter));
}

export function findDeleteProblem({ ids, deleteAll, filter }: PineconeBody): string | undefined {
  const ways = [ids, deleteAll === true ? true : undefined, filter].filter((way) => way !== undefined);
  if (ways.length !== 1) return "Exactly one of ids, deleteAll and filter must be given";
  if (filter !== undefined) return findFilterProblem(filter);
  if (deleteAll === true) return undefined;
  if (!Array.isArray(ids) || ids.length === 0) return "ids must not be empty";
  if (ids.length > PINECONE_LIMITS.deleted) return "at most 1000 ids may be deleted at once";
  return ids.map(findIdProblem).find((problem) => problem !== undefined);
}
