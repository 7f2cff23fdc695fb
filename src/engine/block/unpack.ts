import type { SearchIndexSink } from "../../ports/record.ts";
import type { EmbeddingSpace, SearchIndex } from "./block.ts";
import type { NumberArray } from "./columns.ts";
import {
  alignOffset,
  CODES_ARRAY,
  INDEX_FORMAT,
  type IndexHeader,
  IS_LITTLE_ENDIAN,
  MAGIC,
  SCALES_ARRAY,
} from "./format.ts";
import { toSearchIndex } from "./from-arrays.ts";
import { type ByteRun, createByteRuns, locateArrays } from "./runs.ts";
import { createVectorCodes, strideOf, type VectorCodes } from "./vectors.ts";

/** A block that is being taken out of the bytes that `packBlock` gave, as they come. */
export interface IndexReader extends SearchIndexSink {
  /** The block, when all is there; nothing where the bytes are of another format or space, or damaged. */
  index(): SearchIndex | undefined;
  /** Lets go of what was begun. */
  release(): void;
}

export function createIndexReader(space: EmbeddingSpace): IndexReader {
  let now = createReaderState(0);
  const release = (): void => {
    now.vectors?.release();
    now = createReaderState(0);
  };
  return {
    begin(_revision, size) {
      release();
      now = createReaderState(size);
    },
    take(bytes) {
      if (now.isBroken) return;
      // Whatever is wrong with a cache, the record has the last word.
      try {
        readBytes(now, space, bytes);
      } catch {
        now.isBroken = true;
      }
    },
    index() {
      const { built, isBroken, seen, size } = now;
      if (built && !isBroken && now.runs.length === 0 && seen === size) return built;
      release();
      return undefined;
    },
    release,
  };
}

/** The block of all of the bytes that `packBlock` gave. */
export function deserializeIndex(bytes: Uint8Array, space: EmbeddingSpace): SearchIndex | undefined {
  const parts = createIndexReader(space);
  parts.begin(0, bytes.length);
  parts.take(bytes);
  return parts.index();
}

/** What is known so far. */
interface ReaderState {
  readonly size: number;
  /** Bytes that came. */
  seen: number;
  isBroken: boolean;
  /** The beginning, until the header is whole. */
  head: Buffer;
  header?: IndexHeader;
  /** What is still to come, in order. */
  runs: ByteRun[];
  readonly arrays: Map<string, NumberArray>;
  vectors?: VectorCodes;
  built?: SearchIndex;
}

function createReaderState(size: number): ReaderState {
  return { size, seen: 0, isBroken: false, head: Buffer.alloc(0), runs: [], arrays: new Map() };
}

function readBytes(now: ReaderState, space: EmbeddingSpace, bytes: Uint8Array): void {
  if (now.header) writeToRuns(now, bytes);
  else {
    const part = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const head = now.head.length === 0 ? part : Buffer.concat([now.head, part]);
    if (!readHeader(now, space, head)) {
      now.head = Buffer.from(head);
      return;
    }
    now.head = Buffer.alloc(0);
    writeToRuns(now, head);
  }
  const { header, vectors } = now;
  // While the last of the bytes are on their way, which are the most.
  if (!now.built && header && vectors && now.runs.every(({ isCodes }) => isCodes)) {
    now.built = toSearchIndex(header, now.arrays, vectors, space);
  }
}

/** Whether the header is whole. */
function readHeader(now: ReaderState, space: EmbeddingSpace, head: Buffer): boolean {
  if (head.length < 16) return false;
  if (head.toString("latin1", 0, MAGIC.length) !== MAGIC || !IS_LITTLE_ENDIAN)
    throw new Error("this is no block");
  const from = 16 + head.readUInt32LE(8);
  if (from > now.size) throw new Error("the block ends too early");
  if (head.length < from) return false;
  const header = JSON.parse(head.toString("utf8", 16, from)) as IndexHeader;
  const isSame = header.format === INDEX_FORMAT && header.space === space.fingerprint;
  if (!isSame || header.dimensions !== space.dimensions) throw new Error("the block is of another kind");
  const places = locateArrays(header, alignOffset(from));
  if (alignOffset(places.at(-1)?.to ?? from) !== now.size) throw new Error("the block has another size");
  const lengths = new Map(header.arrays.map(([name, , length]) => [name, length]));
  const isWhole =
    lengths.get(CODES_ARRAY) === header.units * strideOf(space.dimensions) &&
    lengths.get(SCALES_ARRAY) === header.units;
  if (!isWhole) throw new Error("the block has not a vector for each unit");
  const vectors = createVectorCodes(space.dimensions, header.units);
  now.vectors = vectors;
  now.runs = createByteRuns(places, now.arrays, vectors);
  now.header = header;
  return true;
}

function writeToRuns(now: ReaderState, bytes: Uint8Array): void {
  const from = now.seen;
  now.seen += bytes.length;
  for (let run = now.runs[0]; run && run.from <= now.seen; run = now.runs[0]) {
    const first = Math.max(run.from, from);
    const last = Math.min(run.to, now.seen);
    if (last > first) run.put(first - run.from, bytes.subarray(first - from, last - from));
    if (last < run.to) return;
    run.done();
    now.runs.shift();
  }
}
