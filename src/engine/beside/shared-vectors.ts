import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call.ts";
import type { Ports } from "../ports.ts";
import { embedQuery } from "../query-vector.ts";
import { tryStore } from "./troubles.ts";

type SharedVectorPorts = Pick<Ports, "embedder" | "record"> &
  Partial<Pick<Ports, "cache" | "secret" | "meter">>;

const VECTOR_CACHE_LABELS = { cache: "shared vectors" } as const;

/**
 * The vector of a query, as `queryVector` gives it; one that any server asked a remote embedder for lately comes from the shared
 * cache. It is kept under a keyed hash of the query, for the user who asked alone.
 */
export async function getSharedQueryVector(
  ports: SharedVectorPorts,
  { project, user }: Scope,
  text: string,
  call: CallOptions = {},
): Promise<Float32Array | undefined> {
  const { embedder, record, cache, secret, meter } = ports;
  if (!cache || !secret || embedder.local) return embedQuery(embedder, text, call);
  const of = { project, user };
  const name = `vector ${embedder.fingerprint} ${secret.sign(`query ${text}`)}`;
  // Before the vector is made: what is erased meanwhile keeps it out.
  const [held, revision] = await Promise.all([
    tryStore(ports, "cache", () => cache.get(of, name)),
    record.revision(of),
  ]);
  call.signal?.throwIfAborted();
  if (held?.length === embedder.dimensions * Float32Array.BYTES_PER_ELEMENT) {
    meter?.count("cache_hits_total", VECTOR_CACHE_LABELS);
    return new Float32Array(held.slice().buffer);
  }
  meter?.count("cache_misses_total", VECTOR_CACHE_LABELS);
  const vector = await embedQuery(embedder, text, call);
  if (vector) {
    const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength).slice();
    void tryStore(ports, "cache", () => cache.put(of, name, bytes, { revision }));
  }
  return vector;
}
