import type { VectorIndexSpace, VectorIndexUser } from "../../ports/follower.ts";
import { callRemote, type RemoteService } from "../shared/remote.ts";
import { toScopeHash, toShortHash } from "../shared/scope-name.ts";
import type { S3Index, S3VectorsClient } from "./client.ts";
import { isConflictError, isNotFoundError } from "./troubles.ts";

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
