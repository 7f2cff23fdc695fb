import { invalid, MemoryError } from "../../errors.ts";
import type { VectorIndexEntry, VectorIndexSpace, VectorIndexUser } from "../../ports/vector-index.ts";
import { callRemote, type RemoteFault, type RemoteService } from "../shared/remote-call.ts";
import { toJsonVector, toScopeHash, toShortHash } from "../shared/vector-request.ts";

/** Where in S3 Vectors a follower keeps its entries, and how it asks. */
export interface S3VectorsConfig {
  readonly client: S3VectorsClient;
  readonly remote: RemoteService;
  readonly bucket: string;
  /** Names of indexes begin with it. */
  readonly name: string;
  /** Users are spread over so many indexes; each is made when its first entry comes. */
  readonly indexes: number;
}

/** Where a user's entries are. */
export interface S3UserIndex extends S3Index {
  /** The user, as metadata and keys name it. */
  readonly user: string;
}

/** So many indexes a page. */
const PAGE_INDEXES = 500;
const SPACE_LETTERS = 12;
/** What a filter may not ask for, and so may be long: metadata that can be asked for is bounded to 2 KB. */
const NOT_FILTERABLE = ["text"];

/** The names of all indexes of a space begin with this. */
export function toIndexPrefix(
  { name, indexes }: S3VectorsConfig,
  { fingerprint, dimensions }: VectorIndexSpace,
): string {
  // Another number of indexes is another place for nearly everybody: as good as another space.
  const space = toShortHash(JSON.stringify([fingerprint, dimensions, indexes])).slice(0, SPACE_LETTERS);
  return `${name}-${space}-`;
}

export function toUserIndex(
  place: S3VectorsConfig,
  space: VectorIndexSpace,
  of: VectorIndexUser,
): S3UserIndex {
  const user = toScopeHash(of);
  const number = Number.parseInt(user.slice(0, 12), 16) % place.indexes;
  return { vectorBucketName: place.bucket, indexName: `${toIndexPrefix(place, space)}${number}`, user };
}

/** Makes the bucket where it is missing. */
export async function ensureBucket(place: S3VectorsConfig, signal: AbortSignal | undefined): Promise<void> {
  const { client, remote } = place;
  const named = { vectorBucketName: place.bucket };
  const isThere = await callRemote(remote, signal, (abortSignal) =>
    client.getVectorBucket(named, { abortSignal }).then(() => true, ignoreMissing),
  );
  if (isThere) return;
  await callRemote(remote, signal, (abortSignal) =>
    client.createVectorBucket(named, { abortSignal }).catch(ignoreExisting),
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

/** The names of all indexes that this adapter ever made; none where the bucket is missing. */
export async function listIndexNames(
  place: S3VectorsConfig,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const { client, remote, bucket, name } = place;
  const names: string[] = [];
  let nextToken: string | undefined;
  do {
    const asking = { vectorBucketName: bucket, prefix: `${name}-`, maxResults: PAGE_INDEXES };
    const token = nextToken === undefined ? {} : { nextToken };
    const page = await callRemote(remote, signal, (abortSignal) =>
      client.listIndexes({ ...asking, ...token }, { abortSignal }).catch(ignoreMissing),
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

/** For what is not there: false, where that is all. */
export function ignoreMissing(error: unknown): false {
  if (isNotFoundError(error)) return false;
  throw error;
}

function ignoreExisting(error: unknown): void {
  if (!isConflictError(error)) throw error;
}

/** One request puts 500 vectors and weighs 20 MiB. */
export const MAX_VECTORS_PER_PUT = 500;
const MOST_BYTES = 16_000_000;

/** Keys are unique within an index, which several users share. */
export const toVectorKey = (user: string, id: string): string => `${user}/${id}`;

/** The entry's id; nothing for a key of another user. */
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

/** Entries as requests within the service's limits, in order; of two with one id, the last. */
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
  SyntaxError: "gave an answer that is none",
};

/** Names of AWS's errors that say: these credentials may not, or are none. */
const CREDENTIAL_ERRORS =
  /^(AccessDenied|Kms|UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch|Expired|InvalidAccessKeyId|InvalidClientToken|Credentials|IncompleteSignature)/;

/** What an error of AWS's client means, by its name. Its words are not repeated, for they quote what was sent. */
export function toS3Fault(error: unknown): RemoteFault {
  const name = getErrorName(error);
  const passes = TRANSIENT_ERRORS[name];
  if (passes !== undefined) return { passes };
  const status = getStatus(error);
  if (CREDENTIAL_ERRORS.test(name) || status === 401 || status === 403) {
    const why = `AWS refuses it (${name}). Check the credentials, the region, and what they may do with S3 Vectors.`;
    return { stays: new MemoryError("forbidden", why) };
  }
  if (name === "ValidationException") return { stays: invalid("S3 Vectors refuses what it was sent.") };
  if (name === "ServiceQuotaExceededException") {
    const why = "S3 Vectors has no room for it: a quota of the account or the bucket is used up.";
    return { stays: new MemoryError("unavailable", why) };
  }
  if (name === "NotFoundException") {
    const why = "S3 Vectors no longer has the bucket. It is made again, and filled, in a minute.";
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

/** The part of a client of `@aws-sdk/client-s3vectors` (tested with 3.1137) that is used: an instance of its `S3Vectors`. */
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

/** JSON, as the SDK wants it. */
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
