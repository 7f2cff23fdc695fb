import type { FollowerSpace, FollowerUser } from "../../ports/follower.ts";
import { asked, type Remote } from "../shared/remote.ts";
import { scopeName, shortHash } from "../shared/scope-name.ts";
import type { S3Index, S3VectorsClient } from "./client.ts";
import { isMissing, isThereAlready } from "./troubles.ts";

/** Where in S3 Vectors a follower keeps its entries, and how it asks. */
export interface Place {
  readonly client: S3VectorsClient;
  readonly remote: Remote;
  readonly bucket: string;
  /** Names of indexes begin with it. */
  readonly name: string;
  /** Users are spread over so many indexes; each is made when its first entry comes. */
  readonly indexes: number;
}

/** Where a user's entries are. */
export interface UserPlace extends S3Index {
  /** The user, as metadata and keys name it. */
  readonly user: string;
}

/** So many indexes a page. */
const PAGE = 500;
const SPACE_LETTERS = 12;
/** What a filter may not ask for, and so may be long: metadata that can be asked for is bounded to 2 KB. */
const NOT_FILTERABLE = ["text"];

/** The names of all indexes of a space begin with this. */
export function spacePrefix({ name, indexes }: Place, { fingerprint, dimensions }: FollowerSpace): string {
  // Another number of indexes is another place for nearly everybody: as good as another space.
  const space = shortHash(JSON.stringify([fingerprint, dimensions, indexes])).slice(0, SPACE_LETTERS);
  return `${name}-${space}-`;
}

export function placeOfUser(place: Place, space: FollowerSpace, of: FollowerUser): UserPlace {
  const user = scopeName(of);
  const number = Number.parseInt(user.slice(0, 12), 16) % place.indexes;
  return { vectorBucketName: place.bucket, indexName: `${spacePrefix(place, space)}${number}`, user };
}

/** Makes the bucket where it is missing. */
export async function makeBucket(place: Place, signal: AbortSignal | undefined): Promise<void> {
  const { client, remote } = place;
  const named = { vectorBucketName: place.bucket };
  const isThere = await asked(remote, signal, (abortSignal) =>
    client.getVectorBucket(named, { abortSignal }).then(() => true, onlyMissing),
  );
  if (isThere) return;
  await asked(remote, signal, (abortSignal) =>
    client.createVectorBucket(named, { abortSignal }).catch(onlyThereAlready),
  );
}

export async function makeIndex(
  { client, remote }: Place,
  { vectorBucketName, indexName }: S3Index,
  { dimensions }: FollowerSpace,
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
  await asked(remote, signal, (abortSignal) =>
    client.createIndex(index, { abortSignal }).catch(onlyThereAlready),
  );
}

/** The names of all indexes that this adapter ever made; none where the bucket is missing. */
export async function ourIndexes(place: Place, signal: AbortSignal | undefined): Promise<string[]> {
  const { client, remote, bucket, name } = place;
  const names: string[] = [];
  let nextToken: string | undefined;
  do {
    const asking = { vectorBucketName: bucket, prefix: `${name}-`, maxResults: PAGE };
    const token = nextToken === undefined ? {} : { nextToken };
    const page = await asked(remote, signal, (abortSignal) =>
      client.listIndexes({ ...asking, ...token }, { abortSignal }).catch(onlyMissing),
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
  { client, remote, bucket }: Place,
  names: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const indexName of names) {
    await asked(remote, signal, (abortSignal) =>
      client.deleteIndex({ vectorBucketName: bucket, indexName }, { abortSignal }).catch(onlyMissing),
    );
  }
}

/** For what is not there: false, where that is all. */
export function onlyMissing(error: unknown): false {
  if (isMissing(error)) return false;
  throw error;
}

function onlyThereAlready(error: unknown): void {
  if (!isThereAlready(error)) throw error;
}
