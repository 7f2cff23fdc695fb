import type { StoredIndex } from "./namespaces.ts";

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
  /** ASSUMED: a common proxy limit on the request line and headers. */
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

function findVectorProblem(index: StoredIndex, values: unknown): string | undefined {
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

type FilterFields = { readonly [field: string]: unknown };

const isFilterObject = (value: unknown): value is FilterFields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const ORDERS: { readonly [operator: string]: (held: number, wanted: number) => boolean } = {
  $gt: (held, wanted) => held > wanted,
  $gte: (held, wanted) => held >= wanted,
  $lt: (held, wanted) => held < wanted,
  $lte: (held, wanted) => held <= wanted,
};

/** The problem of a filter; undefined if there is none. */
function findFilterProblem(filter: unknown): string | undefined {
  if (!isFilterObject(filter) || Object.keys(filter).length === 0)
    return "filter must be an object with a key";
  for (const [field, wanted] of Object.entries(filter)) {
    const problem = field.startsWith("$") ? findListProblem(field, wanted) : findFieldProblem(wanted);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function findListProblem(operator: string, wanted: unknown): string | undefined {
  if (operator !== "$and" && operator !== "$or") return `${operator} is not a valid operator`;
  if (!Array.isArray(wanted) || wanted.length === 0) return `the value of ${operator} must be a list`;
  return wanted.map(findFilterProblem).find((problem) => problem !== undefined);
}

function findFieldProblem(wanted: unknown): string | undefined {
  if (!isFilterObject(wanted)) return findScalarProblem("$eq", wanted);
  const problems = Object.entries(wanted).map(([operator, value]) => findOperatorProblem(operator, value));
  return problems.find((problem) => problem !== undefined);
}

function findOperatorProblem(operator: string, value: unknown): string | undefined {
  if (operator === "$exists") return typeof value === "boolean" ? undefined : "$exists takes true or false";
  if (operator in ORDERS) return typeof value === "number" ? undefined : `${operator} takes a number`;
  if (operator === "$eq" || operator === "$ne") return findScalarProblem(operator, value);
  if (operator !== "$in" && operator !== "$nin") return `${operator} is not a valid operator`;
  if (!Array.isArray(value) || value.length === 0) return `${operator} takes a list`;
  return value.map((one) => findScalarProblem(operator, one)).find((problem) => problem !== undefined);
}

const findScalarProblem = (operator: string, value: unknown): string | undefined =>
  ["string", "number", "boolean"].includes(typeof value)
    ? undefined
    : `${operator} takes a string, a number or a boolean`;

/**
 * Whether metadata matches a valid filter. ASSUMED: for a missing field, only `$exists: false` matches; of a
 * list, one matching element is enough.
 */
export function passesFilter(filter: FilterFields, metadata: FilterFields): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    if (field === "$and") return (wanted as FilterFields[]).every((one) => passesFilter(one, metadata));
    if (field === "$or") return (wanted as FilterFields[]).some((one) => passesFilter(one, metadata));
    const conditions = isFilterObject(wanted) ? wanted : { $eq: wanted };
    return Object.entries(conditions).every(([operator, value]) =>
      holdsOperator(operator, metadata[field], value),
    );
  });
}

function holdsOperator(operator: string, held: unknown, wanted: unknown): boolean {
  if (operator === "$exists") return (held !== undefined) === wanted;
  if (held === undefined) return false;
  const values: readonly unknown[] = Array.isArray(held) ? held : [held];
  if (operator === "$eq") return values.includes(wanted);
  if (operator === "$ne") return !values.includes(wanted);
  if (operator === "$in") return values.some((one) => (wanted as unknown[]).includes(one));
  if (operator === "$nin") return !values.some((one) => (wanted as unknown[]).includes(one));
  return values.some((one) => typeof one === "number" && ORDERS[operator]?.(one, wanted as number));
}

/** An answer: a status, and JSON or plain text. */
export interface PineconeAnswer {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: { readonly [name: string]: string };
}

/** gRPC error codes (google.rpc.Code), as the data plane returns them. */
const CODES: { readonly [status: number]: number } = {
  400: 3,
  404: 5,
  409: 6,
  412: 9,
  429: 8,
  500: 13,
  503: 14,
};

export const createSuccess = (
  body: object,
  headers?: { readonly [name: string]: string },
): PineconeAnswer => ({
  status: 200,
  body,
  ...(headers ? { headers } : {}),
});

/** An error of the data plane: `rpcStatus` in its document. The error for a wrong key is plain text. */
export const createDataRefusal = (status: number, message: string): PineconeAnswer =>
  status === 401
    ? { status, body: message }
    : { status, body: { code: CODES[status] ?? 2, message, details: [] } };

const NAMES: { readonly [status: number]: string } = {
  400: "INVALID_ARGUMENT",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "ALREADY_EXISTS",
};

/** An error of the control plane: `ErrorResponse` in its document. */
export const createControlRefusal = (status: number, message: string): PineconeAnswer => ({
  status,
  body: { status, error: { code: NAMES[status] ?? "UNKNOWN", message } },
});
