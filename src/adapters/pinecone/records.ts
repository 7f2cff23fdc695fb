import type { VectorIndexEntry } from "../../ports/follower.ts";
import { toJsonVector } from "../shared/wire-vector.ts";
import type { PineconeRecord } from "./client.ts";
import { parseRecordId, toRecordId } from "./keys.ts";

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
