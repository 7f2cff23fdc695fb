import { Socket } from "node:net";

/** A connection's stream that hands out the rows of COPYs before the client processes them. */
export interface RowStream {
  /** Passes the content of each CopyData message, valid until `take` returns. With undefined, the client gets the messages again. */
  takeRows(take: ((row: Buffer) => void) | undefined): void;
}

/** The most bytes of one read. */
const READ_BYTES = 262_144;

/**
 * For the option `stream` of a `pg` pool. The socket reuses one read buffer, and separates the rows of a COPY in it. Otherwise each
 * 64 KB of search columns would be new memory, and V8 would collect garbage before the last of them has arrived. With TLS, the
 * client reads the encrypted bytes itself, so this gives a plain socket.
 */
export function postgresStream(config?: { readonly ssl?: unknown }): Socket & Partial<RowStream> {
  if (config?.ssl) return new Socket();
  let take: ((row: Buffer) => void) | undefined;
  const split = createCopyRowSplitter({
    takesRows: () => take !== undefined,
    row: (bytes) => take?.(bytes),
    rest: (bytes) => void socket.push(bytes),
  });
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const callback = (length: number): boolean => {
    split(buffer.subarray(0, length));
    return true;
  };
  const socket = new Socket({ onread: { buffer, callback } });
  return Object.assign(socket, {
    takeRows(taker: typeof take) {
      take = taker;
    },
  });
}

/** Receives the parts of what a server sends. */
interface CopyStreamParts {
  /** Whether the COPY row that begins now goes to `row`. */
  takesRows(): boolean;
  /** A complete row, in reused memory: valid until this returns. */
  row(bytes: Buffer): void;
  /** Everything else unchanged, and rows that are not taken; in its own memory. */
  rest(bytes: Buffer): void;
}

/** A byte for the type of a message, and four for its length: "Message Formats" of the PostgreSQL documentation. */
const HEADER_BYTES = 5;
const LENGTH_BYTES = 4;
const COPY_DATA = "d".charCodeAt(0);
const NO_BYTES = Buffer.alloc(0);

/**
 * Takes the rows of COPYs out of the bytes that a server sends. The bytes come in pieces, and messages begin and end anywhere in
 * them. If a header is cut, its beginning is kept until the rest arrives.
 */
export function createCopyRowSplitter({ takesRows, row, rest }: CopyStreamParts): (bytes: Buffer) => void {
  const gather = createRowAssembler();
  const head = Buffer.alloc(HEADER_BYTES);
  /** Bytes of the header received so far. */
  let headerBytes = 0;
  /** Bytes of the current message that are still missing. */
  let left = 0;
  let isRow = false;

  /** Consumes a header or part of one. Gives how many of `bytes` it consumed. */
  const takeHeader = (bytes: Buffer, at: number, others: ByteRanges): number => {
    const before = headerBytes;
    const length = bytes.copy(head, headerBytes, at, at + HEADER_BYTES - headerBytes);
    headerBytes += length;
    if (headerBytes < HEADER_BYTES) return length;
    headerBytes = 0;
    left = Math.max(0, head.readUInt32BE(1) - LENGTH_BYTES);
    isRow = head[0] === COPY_DATA && takesRows();
    if (isRow && left === 0) row(NO_BYTES);
    if (isRow) return length;
    if (before > 0) rest(Buffer.from(head.subarray(0, before)));
    others.add(at, at + length);
    return length;
  };
  const takeContent = (bytes: Buffer, at: number, others: ByteRanges): number => {
    const length = Math.min(left, bytes.length - at);
    const completeRow = isRow ? gather(bytes.subarray(at, at + length), left) : undefined;
    left -= length;
    if (!isRow) others.add(at, at + length);
    if (completeRow) row(completeRow);
    return length;
  };
  return (bytes) => {
    const others = createByteRanges();
    for (let at = 0; at < bytes.length; ) {
      at += left > 0 ? takeContent(bytes, at, others) : takeHeader(bytes, at, others);
    }
    for (const [from, to] of others.all) rest(Buffer.from(bytes.subarray(from, to)));
  };
}

/** Byte ranges, with adjacent ones merged. */
interface ByteRanges {
  add(from: number, to: number): void;
  readonly all: readonly [number, number][];
}

function createByteRanges(): ByteRanges {
  const all: [number, number][] = [];
  return {
    all,
    add(from, to) {
      const last = all.at(-1);
      if (last && last[1] === from) last[1] = to;
      else all.push([from, to]);
    },
  };
}

/** Assembles the parts of a row. Gives the row once it is complete; `left` is what was missing before this part. */
function createRowAssembler(): (part: Buffer, left: number) => Buffer | undefined {
  let memory = NO_BYTES;
  let have = 0;
  return (part, left) => {
    if (have === 0 && part.length === left) return part;
    if (memory.length < have + left) memory = Buffer.concat([memory.subarray(0, have)], have + left);
    have += part.copy(memory, have);
    if (part.length < left) return undefined;
    const completeRow = memory.subarray(0, have);
    have = 0;
    return completeRow;
  };
}
