import { invalid, MemoryError } from "../../errors.ts";
import type { VectorIndexEntry, VectorIndexSpace, VectorIndexUser } from "../../ports/vector-index.ts";
import { callRemote, type RemoteFault, type RemoteService } from "../shared/model-calls/remote-call.ts";
import { toJsonVector, toScopeHash, toShortHash } from "../shared/vector-request.ts";

/** The settings of the index, and how to call S3 Vectors. */
export interface S3VectorsConfig {
  readonly client: S3VectorsClient;
  readonly remote: RemoteService;
  readonly bucket: string;
  /** The prefix of index names. */
  readonly name: string;
  /** The number of indexes over which users are spread; each is created with its first entry. */
  readonly indexes: number;
}

/** The index of a user. */
export interface S3UserIndex extends S3Index {
  /** The hash of the user, for metadata and keys. */
  readonly user: string;
}

/** Indexes per page. */
const PAGE_INDEXES = 500;
const SPACE_LETTERS = 12;
/** Metadata that filters cannot use and that may be long; filterable metadata is limited to 2 KB. */
const NOT_FILTERABLE = ["text"];

/** The prefix of all index names of a space. */
export function toIndexPrefix(
  { name, indexes }: S3VectorsConfig,
  { fingerprint, dimensions }: VectorIndexSpace,
): string {
  // With another number of indexes, nearly every user is in another one, so it counts as another space.
  const space = toShortHash(JSON.stringify([fingerprint, dimensions, indexes])).slice(0, SPACE_LETTERS);
  return `${name}-${space}-`;
}

export function toUserIndex(
  config: S3VectorsConfig,
  space: VectorIndexSpace,
  of: VectorIndexUser,
): S3UserIndex {
  const user = toScopeHash(of);
  const number = Number.parseInt(user.slice(0, 12), 16) % config.indexes;
  return { vectorBucketName: config.bucket, indexName: `${toIndexPrefix(config, space)}${number}`, user };
}

/** Creates the bucket if it does not exist. */
export async function ensureBucket(config: S3VectorsConfig, signal: AbortSignal | undefined): Promise<void> {
  const { client, remote } = config;
  const bucketName = { vectorBucketName: config.bucket };
  const exists = await callRemote(remote, signal, (abortSignal) =>
    client.getVectorBucket(bucketName, { abortSignal }).then(() => true, ignoreMissing),
  );
  if (exists) return;
  await callRemote(remote, signal, (abortSignal) =>
    client.createVectorBucket(bucketName, { abortSignal }).catch(ignoreExisting),
  );
}

export async function ensureIndex(
  { client, remote }: S3VectorsConfig,
  { vectorBucketName, indexName }: S3Index,
  { dimensions }: VectorIndexSpace,
  signal: AbortSignal | undefined,
): Promise<void> {
  const index = {
    vectorBucketName,
    indexName,
    dataType: "float32" as const,
    dimension: dimensions,
    distanceMetric: "cosine" as const,
    metadataConfiguration: { nonFilterableMetadataKeys: NOT_FILTERABLE },
  };
  await callRemote(remote, signal, (abortSignal) =>
    client.createIndex(index, { abortSignal }).catch(ignoreExisting),
  );
}

/** The names of all indexes of this adapter; empty if the bucket does not exist. */
export async function listIndexNames(
  config: S3VectorsConfig,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const { client, remote, bucket, name } = config;
  const names: string[] = [];
  let nextToken: string | undefined;
  do {
    const query = { vectorBucketName: bucket, prefix: `${name}-`, maxResults: PAGE_INDEXES };
    const token = nextToken === undefined ? {} : { nextToken };
    const page = await callRemote(remote, signal, (abortSignal) =>
      client.listIndexes({ ...query, ...token }, { abortSignal }).catch(ignoreMissing),
    );
    if (page === false) return [];
    for (const { indexName = "" } of page.indexes ?? []) {
      if (indexName.startsWith(`${name}-`) && /^[0-9a-f]{12}-\d+$/.test(indexName.slice(name.length + 1))) {
        names.push(indexName);
      }
    }
    nextToken = page.nextToken;
  } while (nextToken);
  return names;
}

export async function dropIndexes(
  { client, remote, bucket }: S3VectorsConfig,
  names: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const indexName of names) {
    await callRemote(remote, signal, (abortSignal) =>
      client.deleteIndex({ vectorBucketName: bucket, indexName }, { abortSignal }).catch(ignoreMissing),
    );
  }
}

/** Gives false for an object that does not exist; rethrows any other error. */
export function ignoreMissing(error: unknown): false {
  if (isNotFoundError(error)) return false;
  throw error;
}

function ignoreExisting(error: unknown): void {
  if (!isConflictError(error)) throw error;
}

/** The limits of one request: 500 vectors and 20 MiB. */
export const MAX_VECTORS_PER_PUT = 500;
const MOST_BYTES = 16_000_000;

/** Keys must be unique within an index, which several users share. */
export const toVectorKey = (user: string, id: string): string => `${user}/${id}`;

/** The entry's id; undefined for a key of another user. */
export const parseVectorKey = (user: string, key: string | undefined): string | undefined =>
  key?.startsWith(`${user}/`) ? key.slice(user.length + 1) : undefined;

function toS3Vector(user: string, { id, vector, metadata, text }: VectorIndexEntry): S3Vector {
  const { type, owner, at, kind, session } = metadata;
  return {
    key: toVectorKey(user, id),
    data: { float32: toJsonVector(vector) },
    metadata: {
      user,
      type,
      owner,
      at,
      ...(kind === undefined ? {} : { kind }),
      ...(session === undefined ? {} : { session }),
      ...(text === undefined ? {} : { text }),
    },
  };
}

/** Splits entries into requests within the service's limits, in order. Of two with one id, the last wins. */
export function* toPutBatches(
  user: string,
  entries: readonly VectorIndexEntry[],
): Generator<S3Vector[], void, void> {
  const last = new Map(entries.map((entry) => [entry.id, entry]));
  let batch: S3Vector[] = [];
  let bytes = 0;
  for (const entry of last.values()) {
    const vector = toS3Vector(user, entry);
    const size = Buffer.byteLength(JSON.stringify(vector)) + 1;
    if (batch.length === MAX_VECTORS_PER_PUT || (batch.length > 0 && bytes + size > MOST_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(vector);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

const TRANSIENT_ERRORS: { readonly [name: string]: string } = {
  TooManyRequestsException: "answered 429",
  ThrottlingException: "answered 429",
  ServiceUnavailableException: "answered 503",
  InternalServerException: "answered 500",
  RequestTimeoutException: "answered 408",
  ConflictException: "answered 409",
  TimeoutError: "gave no answer",
  SyntaxError: "gave an invalid answer",
};

/** Names of AWS errors for missing, invalid or insufficient credentials. */
const CREDENTIAL_ERRORS =
  /^(AccessDenied|Kms|UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch|Expired|InvalidAccessKeyId|InvalidClientToken|Credentials|IncompleteSignature)/;

/** Translates an error of the AWS client by its name. Its message is not repeated, because it quotes the request. */
export function toS3Fault(error: unknown): RemoteFault {
  const name = getErrorName(error);
  const passes = TRANSIENT_ERRORS[name];
  if (passes !== undefined) return { passes };
  const status = getStatus(error);
  if (CREDENTIAL_ERRORS.test(name) || status === 401 || status === 403) {
    const why = `AWS rejects the request (${name}). Check the credentials, the region, and their permissions for S3 Vectors.`;
    return { stays: new MemoryError("forbidden", why) };
  }
  if (name === "ValidationException") return { stays: invalid("S3 Vectors rejects the request.") };
  if (name === "ServiceQuotaExceededException") {
    const why = "S3 Vectors has no room: a quota of the account or the bucket is used up. Raise it.";
    return { stays: new MemoryError("unavailable", why) };
  }
  if (name === "NotFoundException") {
    const why = "S3 Vectors no longer has the bucket. It is recreated and filled again within a minute.";
    return { stays: new MemoryError("unavailable", why) };
  }
  return status !== undefined && status >= 500
    ? { passes: `answered ${status}` }
    : { passes: "cannot be reached" };
}

const isNotFoundError = (error: unknown): boolean => getErrorName(error) === "NotFoundException";

const isConflictError = (error: unknown): boolean => getErrorName(error) === "ConflictException";

const getErrorName = (error: unknown): string => (error instanceof Error ? error.name : "");

function getStatus(error: unknown): number | undefined {
  const { $metadata } = (error ?? {}) as { $metadata?: { httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}

/** The part of an `S3Vectors` client of `@aws-sdk/client-s3vectors` (tested with 3.1137) that is used. */
export interface S3VectorsClient {
  createVectorBucket(input: { vectorBucketName: string }, options?: S3Call): Promise<unknown>;
  getVectorBucket(input: { vectorBucketName: string }, options?: S3Call): Promise<unknown>;
  createIndex(
    input: S3Index & {
      dataType: "float32";
      dimension: number;
      distanceMetric: "cosine";
      metadataConfiguration: { nonFilterableMetadataKeys: string[] };
    },
    options?: S3Call,
  ): Promise<unknown>;
  deleteIndex(input: S3Index, options?: S3Call): Promise<unknown>;
  listIndexes(
    input: { vectorBucketName: string; prefix: string; maxResults: number; nextToken?: string | undefined },
    options?: S3Call,
  ): Promise<{
    readonly indexes?: readonly { readonly indexName?: string | undefined }[] | undefined;
    readonly nextToken?: string | undefined;
  }>;
  putVectors(input: S3Index & { vectors: S3Vector[] }, options?: S3Call): Promise<unknown>;
  deleteVectors(input: S3Index & { keys: string[] }, options?: S3Call): Promise<unknown>;
  getVectors(input: S3Index & { keys: string[] }, options?: S3Call): Promise<S3Page>;
  listVectors(
    input: S3Index & { maxResults: number; nextToken?: string | undefined },
    options?: S3Call,
  ): Promise<S3Page>;
  queryVectors(
    input: S3Index & {
      topK: number;
      queryVector: { float32: number[] };
      filter: S3Document;
      returnDistance: boolean;
      nextToken?: string | undefined;
    },
    options?: S3Call,
  ): Promise<S3Page>;
}

interface S3Call {
  abortSignal?: AbortSignal;
}

export interface S3Index {
  vectorBucketName: string;
  indexName: string;
}

/** JSON, as the SDK types it. */
export type S3Document = null | boolean | number | string | S3Document[] | { [field: string]: S3Document };

interface S3Vector {
  key: string;
  data: { float32: number[] };
  metadata: { [field: string]: string | number };
}

interface S3Page {
  readonly vectors:
    | readonly { readonly key: string | undefined; readonly distance?: number | undefined }[]
    | undefined;
  readonly nextToken?: string | undefined;
}
