import type { VectorIndexEntry } from "../../ports/vector-index.ts";
import { toJsonVector, toShortHash } from "../shared/vector-request.ts";

/** One request takes 1,000 records and 2 MB; a little is left for what stands around them. */
const MOST_RECORDS = 1000;
const MOST_BYTES = 1_900_000;

/** An entry as Pinecone holds it; `put` is the number of the call that put it, by which it is seen to have arrived. */
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

/** Entries as requests within Pinecone's limits, in order; of two with one id, the last. */
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

/** Ids are asked for in an address, which proxies and servers cut off at 8 kB and more. */
const MOST_ASKED = 100;
const LONGEST_ADDRESS = 6000;

/** Keys as requests that read records. */
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
/** No escaped id begins with it. */
const HASH_MARK = "=";

/** The id of a record for an entry's id: letters that Pinecone takes, each in one way alone; of a very long one its hash. */
export function toRecordId(id: string): string {
  const escaped = encodeURIComponent(id);
  return escaped.length <= MAX_ID_LENGTH ? escaped : `${HASH_MARK}${toShortHash(id)}`;
}

/** The entry's id; nothing where only its hash is there, and the metadata must be asked. */
export const parseRecordId = (key: string): string | undefined =>
  key.startsWith(HASH_MARK) ? undefined : decodeURIComponent(key);

/** The part of a client of `@pinecone-database/pinecone` (tested with 9.0) that is used: an instance of its `Pinecone`. */
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
