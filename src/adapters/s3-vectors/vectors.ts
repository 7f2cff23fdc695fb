import type { FollowerEntry } from "../../ports/follower.ts";
import { wireVector } from "../shared/wire-vector.ts";
import type { S3Vector } from "./client.ts";

/** One request puts 500 vectors and weighs 20 MiB. */
export const MOST_PUT = 500;
const MOST_BYTES = 16_000_000;

/** Keys are unique within an index, which several users share. */
export const keyOf = (user: string, id: string): string => `${user}/${id}`;

/** The entry's id; nothing for a key of another user. */
export const idIn = (user: string, key: string | undefined): string | undefined =>
  key?.startsWith(`${user}/`) ? key.slice(user.length + 1) : undefined;

function vectorOf(user: string, { id, vector, metadata, text }: FollowerEntry): S3Vector {
  const { type, owner, at, kind, session } = metadata;
  return {
    key: keyOf(user, id),
    data: { float32: wireVector(vector) },
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
export function* batchesOf(
  user: string,
  entries: readonly FollowerEntry[],
): Generator<S3Vector[], void, void> {
  const last = new Map(entries.map((entry) => [entry.id, entry]));
  let batch: S3Vector[] = [];
  let bytes = 0;
  for (const entry of last.values()) {
    const vector = vectorOf(user, entry);
    const size = Buffer.byteLength(JSON.stringify(vector)) + 1;
    if (batch.length === MOST_PUT || (batch.length > 0 && bytes + size > MOST_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(vector);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
