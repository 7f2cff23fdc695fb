import type { BlockParts } from "../../ports/record.ts";
import type { Block, Space } from "./block.ts";
import type { Numbers } from "./columns.ts";
import { aligned, CODES, FORMAT, type Header, IS_LITTLE, MAGIC, SCALES } from "./format.ts";
import { blockFrom } from "./from-arrays.ts";
import { placesOf, type Run, runsOf } from "./runs.ts";
import { strideOf, type Vectors, vectorsOf } from "./vectors.ts";

/** A block that is being taken out of the bytes that `packBlock` gave, as they come. */
export interface Unpacking extends BlockParts {
  /** The block, when all is there; nothing where the bytes are of another format or space, or damaged. */
  block(): Block | undefined;
  /** Lets go of what was begun. */
  release(): void;
}

export function unpacking(space: Space): Unpacking {
  let now = nothingYet(0);
  const release = (): void => {
    now.vectors?.release();
    now = nothingYet(0);
  };
  return {
    begin(_revision, size) {
      release();
      now = nothingYet(size);
    },
    take(bytes) {
      if (now.isBroken) return;
      // Whatever is wrong with a cache, the record has the last word.
      try {
        takeIn(now, space, bytes);
      } catch {
        now.isBroken = true;
      }
    },
    block() {
      const { built, isBroken, seen, size } = now;
      if (built && !isBroken && now.runs.length === 0 && seen === size) return built;
      release();
      return undefined;
    },
    release,
  };
}

/** The block of all of the bytes that `packBlock` gave. */
export function unpackBlock(bytes: Uint8Array, space: Space): Block | undefined {
  const parts = unpacking(space);
  parts.begin(0, bytes.length);
  parts.take(bytes);
  return parts.block();
}

/** What is known so far. */
interface Taking {
  readonly size: number;
  /** Bytes that came. */
  seen: number;
  isBroken: boolean;
  /** The beginning, until the header is whole. */
  head: Buffer;
  header?: Header;
  /** What is still to come, in order. */
  runs: Run[];
  readonly arrays: Map<string, Numbers>;
  vectors?: Vectors;
  built?: Block;
}

function nothingYet(size: number): Taking {
  return { size, seen: 0, isBroken: false, head: Buffer.alloc(0), runs: [], arrays: new Map() };
}

function takeIn(now: Taking, space: Space, bytes: Uint8Array): void {
  if (now.header) putInto(now, bytes);
  else {
    const part = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const head = now.head.length === 0 ? part : Buffer.concat([now.head, part]);
    if (!readHeader(now, space, head)) {
      now.head = Buffer.from(head);
      return;
    }
    now.head = Buffer.alloc(0);
    putInto(now, head);
  }
  const { header, vectors } = now;
  // While the last of the bytes are on their way, which are the most.
  if (!now.built && header && vectors && now.runs.every(({ isCodes }) => isCodes)) {
    now.built = blockFrom(header, now.arrays, vectors, space);
  }
}

/** Whether the header is whole. */
function readHeader(now: Taking, space: Space, head: Buffer): boolean {
  if (head.length < 16) return false;
  if (head.toString("latin1", 0, MAGIC.length) !== MAGIC || !IS_LITTLE) throw new Error("this is no block");
  const from = 16 + head.readUInt32LE(8);
  if (from > now.size) throw new Error("the block ends too early");
  if (head.length < from) return false;
  const header = JSON.parse(head.toString("utf8", 16, from)) as Header;
  const isSame = header.format === FORMAT && header.space === space.fingerprint;
  if (!isSame || header.dimensions !== space.dimensions) throw new Error("the block is of another kind");
  const places = placesOf(header, aligned(from));
  if (aligned(places.at(-1)?.to ?? from) !== now.size) throw new Error("the block has another size");
  const lengths = new Map(header.arrays.map(([name, , length]) => [name, length]));
  const isWhole =
    lengths.get(CODES) === header.units * strideOf(space.dimensions) && lengths.get(SCALES) === header.units;
  if (!isWhole) throw new Error("the block has not a vector for each unit");
  const vectors = vectorsOf(space.dimensions, header.units);
  now.vectors = vectors;
  now.runs = runsOf(places, now.arrays, vectors);
  now.header = header;
  return true;
}

function putInto(now: Taking, bytes: Uint8Array): void {
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
