import { createHash } from "node:crypto";
import { matchesFilter } from "../../domain/filters/metadata-filter.ts";
import { checkCount, checkText } from "../../domain/limits.ts";
import { toScopeKey } from "../../domain/scope.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type {
  VectorIndex,
  VectorIndexEntry,
  VectorIndexSpace,
  VectorIndexUser,
} from "../../ports/vector-index.ts";
import type { PythonFrame } from "./python-worker.ts";
import { createPythonWorker } from "./python-worker.ts";

/** Options of `createFaissVectorIndex`. */
export interface FaissVectorIndexOptions {
  /** The folder for the index files, created if it does not exist. Other files in it are left unchanged. */
  readonly path: string;
  /** The Python interpreter with the package faiss-cpu (default: "python3"): a name, or a path. */
  readonly python?: string;
  /** Whether to search on a GPU (default: false), which needs the package faiss-gpu-cu12. */
  readonly gpu?: boolean;
  /** Timeout of one call, in ms (default: 10,000). */
  readonly timeoutMs?: number;
  /** A worker without an answer for this long is restarted, in ms (default: 60,000). */
  readonly stuckMs?: number;
  /** The most bytes of indexes in memory (default: 1 GiB); others are read on demand. */
  readonly memoryBytes?: number;
}

/** The most entries of one frame. */
const MOST_IN_ONE = 1000;

/**
 * A vector index in FAISS, in a separate Python process: an exact index for each user, stored in a folder. Several programs on
 * one machine may share the folder. Throws `invalid_input` for invalid options.
 */
export function createFaissVectorIndex(options: FaissVectorIndexOptions): VectorIndex {
  const worker = createPythonWorker({
    folder: checkText(options.path, "path"),
    python: checkText(options.python ?? "python3", "python"),
    gpu: options.gpu ?? false,
    timeoutMs: checkCount(options.timeoutMs ?? 10_000, "timeoutMs", 1, 600_000),
    stuckMs: checkCount(options.stuckMs ?? 60_000, "stuckMs", 1, 3_600_000),
    memoryBytes: checkCount(options.memoryBytes ?? 2 ** 30, "memoryBytes", 1, 2 ** 50),
  });
  let space: VectorIndexSpace | undefined;

  const spaceNow = (): VectorIndexSpace => {
    if (!space) throw invalid("The index of FAISS is not prepared: call prepare() first.");
    return space;
  };
  const checkLength = ({ length }: Float32Array): void => {
    const { dimensions } = spaceNow();
    if (length === dimensions) return;
    throw invalid(`The index of FAISS takes vectors of ${dimensions} numbers, not ${length}.`);
  };
  const call = (
    name: string,
    header: { readonly [field: string]: unknown },
    { body, ...rest }: CallOptions & { readonly body?: Uint8Array } = {},
  ): Promise<PythonFrame> => worker.call({ call: name, space: spaceNow(), ...header }, body, rest);
  return {
    name: "faiss",

    async prepare({ fingerprint, dimensions }, options = {}) {
      await worker.call({ call: "prepare", space: { fingerprint, dimensions } }, undefined, options);
      space = { fingerprint, dimensions };
    },

    async put(user, entries, options = {}) {
      for (const { vector } of entries) checkLength(vector);
      // Copied before the first await, because the caller may change them meanwhile.
      const last = [...new Map(entries.map((entry) => [entry.id, entry])).values()].map(copyEntry);
      for (const chunk of splitIntoChunks(last, MOST_IN_ONE)) {
        const header = { user: hashUser(user), rows: chunk.map(toRow) };
        await call("put", header, { ...options, body: toBytes(chunk.map(({ vector }) => vector)) });
      }
    },

    async drop(user, ids, options = {}) {
      await call("drop", { user: hashUser(user), ids }, options).catch(rethrowUnlessEmptied);
    },

    async dropUser(user, options = {}) {
      await call("drop_user", { user: hashUser(user) }, options).catch(rethrowUnlessEmptied);
    },

    async nearest(user, vector, { limit, where = {}, signal }) {
      checkLength(vector);
      matchesFilter(where, {});
      const request = { user: hashUser(user), limit, where };
      const { header, body } = await call("nearest", request, {
        body: toBytes([vector]),
        ...(signal && { signal }),
      });
      const scores = toFloats(body);
      return toTexts(header.ids).map((id, i) => ({
        id,
        score: Math.max(-1, Math.min(1, scores[i] ?? -1)),
      }));
    },

    async held(user, ids, options = {}) {
      const found = await call("holds", { user: hashUser(user), ids: [...new Set(ids)] }, options).catch(
        rethrowUnlessEmptied,
      );
      return toTexts(found?.header.ids);
    },

    async *entries(user, options = {}) {
      for (let after = -1; ; ) {
        const found = await call("ids", { user: hashUser(user), after }, options).catch(rethrowUnlessEmptied);
        const ids = toTexts(found?.header.ids);
        if (ids.length > 0) yield ids;
        const last = found?.header.last;
        if (typeof last !== "number") return;
        after = last;
      }
    },

    async clear(options = {}) {
      await worker.call({ call: "clear" }, undefined, options);
      space = undefined;
    },

    close: () => worker.close(),
  };
}

/** File names contain a hash: names of users may be long or unusual, and are private. */
function hashUser(user: VectorIndexUser): string {
  return createHash("sha256").update(toScopeKey(user)).digest("hex");
}

function copyEntry(entry: VectorIndexEntry): VectorIndexEntry {
  return { ...entry, vector: entry.vector.slice() };
}

function toRow({ id, metadata }: VectorIndexEntry): readonly (string | number | null)[] {
  const { type, owner, at, kind, session } = metadata;
  return [id, type, owner, at, kind ?? null, session ?? null];
}

/** Little-endian, like all machines that Node runs on. */
function toBytes(vectors: readonly Float32Array[]): Uint8Array {
  return Buffer.concat(
    vectors.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  );
}

function toFloats(bytes: Buffer): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/**
 * Whether the folder was deleted. Then there is nothing to drop or find in it. A write is refused, because the caller must fill
 * the index again.
 */
function isEmptiedError(error: unknown): boolean {
  return error instanceof MemoryError && "wasEmptied" in error && error.wasEmptied === true;
}

function rethrowUnlessEmptied(error: unknown): undefined {
  if (!isEmptiedError(error)) throw error;
}

function splitIntoChunks<Value>(values: readonly Value[], size: number): Value[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_one, i) =>
    values.slice(i * size, (i + 1) * size),
  );
}

/** Earlier names, kept until version 1.0. */
export { createFaissVectorIndex as faissFollower, type FaissVectorIndexOptions as FaissFollowerOptions };
