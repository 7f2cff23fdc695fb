import type { VectorIndexEntry } from "../../ports/follower.ts";
import { toJsonVector } from "../shared/wire-vector.ts";
import type { S3Vector } from "./client.ts";

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
