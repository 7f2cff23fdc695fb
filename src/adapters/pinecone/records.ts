import type { VectorIndexEntry } from "../../ports/vector-index.ts";
import { toJsonVector, toShortHash } from "../shared/vector-request.ts";

/** Pinecone's limits for one request: 1,000 records and 2 MB, minus a margin. */
const MOST_RECORDS = 1000;
const MOST_BYTES = 1_900_000;

/** An entry in Pinecone's format. `put` is the number of the call that wrote it, by which its arrival is detected. */
function toPineconeRecord({ id, vector, metadata, text }: VectorIndexEntry, put: number): PineconeRecord {
  const { type, owner, at, kind, session } = metadata;
  const key = toRecordId(id);
  return {
    id: key,
    values: toJsonVector(vector),
    metadata: {
      type,
      owner,
      at,
      put,
      ...(kind === undefined ? {} : { kind }),
      ...(session === undefined ? {} : { session }),
      ...(text === undefined ? {} : { text }),
      ...(parseRecordId(key) === undefined ? { id } : {}),
    },
  };
}

/** Splits entries into requests within Pinecone's limits, in order. Of two with one id, the last wins. */
export function* toUpsertBatches(
  entries: readonly VectorIndexEntry[],
  put: number,
): Generator<PineconeRecord[], void, void> {
  const last = new Map(entries.map((entry) => [entry.id, entry]));
  let batch: PineconeRecord[] = [];
  let bytes = 0;
  for (const entry of last.values()) {
    const record = toPineconeRecord(entry, put);
    const size = Buffer.byteLength(JSON.stringify(record)) + 1;
    if (batch.length === MOST_RECORDS || (batch.length > 0 && bytes + size > MOST_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(record);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Limits of a fetch: ids are in the URL, which some proxies and servers limit to 8 kB. */
const MOST_ASKED = 100;
const LONGEST_ADDRESS = 6000;

/** Splits keys into fetch requests. */
export function* toFetchBatches(keys: readonly string[]): Generator<string[], void, void> {
  let batch: string[] = [];
  let letters = 0;
  for (const key of keys) {
    const size = encodeURIComponent(key).length + "&ids=".length;
    if (batch.length === MOST_ASKED || (batch.length > 0 && letters + size > LONGEST_ADDRESS)) {
      yield batch;
      batch = [];
      letters = 0;
    }
    batch.push(key);
    letters += size;
  }
  if (batch.length > 0) yield batch;
}

/** Pinecone's limit on the length of a record's id, which is ASCII. */
const MAX_ID_LENGTH = 512;
/** The prefix of a hashed id; no escaped id begins with it. */
const HASH_MARK = "=";

/** The record id for an entry's id: an unambiguous escape in characters that Pinecone accepts, or the hash of a very long id. */
export function toRecordId(id: string): string {
  const escaped = encodeURIComponent(id);
  return escaped.length <= MAX_ID_LENGTH ? escaped : `${HASH_MARK}${toShortHash(id)}`;
}

/** The entry's id; undefined for a hash, whose id is in the metadata. */
export const parseRecordId = (key: string): string | undefined =>
  key.startsWith(HASH_MARK) ? undefined : decodeURIComponent(key);

/** The part of a `Pinecone` client of `@pinecone-database/pinecone` (tested with 9.0) that is used. */
export interface PineconeClient {
  listIndexes(): Promise<{ readonly indexes?: readonly PineconeIndexModel[] }>;
  createIndex(options: {
    name: string;
    dimension: number;
    metric: "cosine";
    spec: { serverless: { cloud: PineconeCloud; region: string } };
    tags: { [name: string]: string };
    suppressConflicts: true;
  }): Promise<unknown>;
  deleteIndex(name: string): Promise<unknown>;
  index(options: { host: string }): PineconeIndex;
}

export type PineconeCloud = "aws" | "gcp" | "azure";

export interface PineconeIndexModel {
  readonly name: string;
  readonly host: string;
  readonly dimension?: number | undefined;
  readonly metric?: string | undefined;
  readonly tags?: { readonly [name: string]: string } | null | undefined;
  readonly status: { readonly ready: boolean; readonly state: string };
}

/** The part of Pinecone's index client that is used. */
export interface PineconeIndex {
  namespace(name: string): PineconeIndex;
  upsert(options: { records: PineconeRecord[] }): Promise<unknown>;
  query(options: {
    vector: number[];
    topK: number;
    filter?: object;
    includeMetadata: boolean;
    includeValues: boolean;
  }): Promise<{ readonly matches: readonly { readonly id: string; readonly score?: number }[] }>;
  fetch(options: { ids: string[] }): Promise<{
    readonly records: { readonly [id: string]: { readonly metadata?: object | undefined } };
  }>;
  deleteMany(options: { ids: string[] }): Promise<unknown>;
  deleteAll(): Promise<unknown>;
  listPaginated(options: { limit: number; paginationToken?: string }): Promise<{
    readonly vectors?: readonly { readonly id?: string }[];
    readonly pagination?: { readonly next?: string };
  }>;
  listNamespaces(options: { prefix: string; limit: number; paginationToken?: string }): Promise<{
    readonly namespaces?: readonly { readonly name?: string; readonly recordCount?: string }[];
    readonly pagination?: { readonly next?: string };
  }>;
}

interface PineconeRecord {
  id: string;
  values: number[];
  metadata: { [field: string]: string | number };
}
